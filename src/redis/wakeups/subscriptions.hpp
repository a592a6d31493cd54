#ifndef LEASEHOLD_SRC_REDIS_WAKEUPS_SUBSCRIPTIONS_HPP
#define LEASEHOLD_SRC_REDIS_WAKEUPS_SUBSCRIPTIONS_HPP

#include "redis/wakeups/channel_connection.hpp"

#include <leasehold/clock.hpp>

#include <boost/unordered/unordered_flat_map.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::redis_store {

/// The watched names, over a connection that is made for the first of them. All on the strand.
class subscriptions final : public channel_connection
{
public:
    subscriptions(const redis_config& settings, std::shared_ptr<environment> from)
        : channel_connection(settings, std::move(from))
    {}

    void watch(std::string_view name);
    void unwatch(std::string_view name);

    /// The connection of the commands has changed, and may lead to another server than this one,
    /// where the releases are published. This one is made again, at once but at a limited rate:
    /// each new connection causes a poll for every watched name.
    void follow(clock::time_point now);

    /// False if the server denied it: then it is unknown which other clients would watch.
    bool allowed() const noexcept { return allowed_; }

private:
    void on_attempt() override;
    void on_lost(error_code why, std::string_view text) override;
    void on_push(const std::vector<std::string>& words) override;
    void on_silence() noexcept override;

    bool allowed_ = true;
    clock::time_point followed_ = clock::time_point::min();
    boost::unordered_flat_map<std::string, std::vector<std::string>>
        names_; ///< By channel, which "a" and "{a}" share.
    std::string channel_;
};

} // namespace leasehold::redis_store

#endif
