#ifndef LEASEHOLD_SRC_REDIS_REDLOCK_PUBLISHED_RELEASES_HPP
#define LEASEHOLD_SRC_REDIS_REDLOCK_PUBLISHED_RELEASES_HPP

#include "redis/redlock/member.hpp"
#include "redis/redlock/member_names.hpp"
#include "redis/wakeups/channel_connection.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace leasehold::quorum {

/// The names whose releases one member publishes, over a connection that is made for the first of
/// them. All on the strand.
class published_releases final : public redis_store::channel_connection
{
public:
    published_releases(const redis_config& settings, std::shared_ptr<redis_store::environment> from)
        : channel_connection(settings, std::move(from)), keys_(settings.prefix)
    {}

    void notify(member_listener& to, unsigned member) noexcept
    {
        receiver_ = &to;
        member_ = member;
    }

    void watch(std::string_view name);
    void unwatch(std::string_view name);

private:
    void on_attempt() override;
    void on_lost(error_code why, std::string_view text) override;
    void on_push(const std::vector<std::string>& words) override;
    void on_silence() noexcept override;

    const member_keys keys_;
    const std::size_t prefix_ = keys_.releases({}).size(); ///< Of the name in a channel.
    member_listener* receiver_ = nullptr;
    unsigned member_ = 0;
    std::set<std::string, std::less<>> names_;
};

} // namespace leasehold::quorum

#endif
