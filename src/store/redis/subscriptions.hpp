#ifndef LEASEHOLD_SRC_STORE_REDIS_SUBSCRIPTIONS_HPP
#define LEASEHOLD_SRC_STORE_REDIS_SUBSCRIPTIONS_HPP

#include "store/redis/context_poster.hpp"
#include "store/redis/transport/reconnecting_connection.hpp"

#include <leasehold/store.hpp>

#include <boost/unordered/unordered_flat_map.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::redis_store {

/// The names that are watched, over a connection that is made for the first of them. All on the
/// strand.
///
/// It is not the one of the commands: a server answers a refused SUBSCRIBE with an error that
/// nothing tells from the answer to the next command, and answers must not get mixed up where locks
/// are granted.
class subscriptions final : public connection_observer,
                            public detail::context_observer,
                            public std::enable_shared_from_this<subscriptions>
{
public:
    subscriptions(const config& settings, std::shared_ptr<environment> from)
        : where_(settings), from_(std::move(from))
    {}

    void open(const asio::any_io_executor& strand, const std::shared_ptr<context_poster>& home,
              store_listener& listener);
    void close() noexcept;
    void watch(std::string_view name);
    void unwatch(std::string_view name);

    /// False when the server forbade it: then it is not known who else would watch.
    bool allowed() const noexcept { return allowed_; }

private:
    void on_attempt() override;
    void on_lost(error_code why, std::string_view said) override;
    void on_push(const std::vector<std::string>& words) override;
    void on_stray_error(const std::string& text) override;
    void on_context_end() noexcept override;
    void on_fork() noexcept override;

    void say(std::string_view verb, std::string_view channel);
    void flush();

    const config where_;
    const std::shared_ptr<environment> from_;
    asio::any_io_executor strand_;
    std::shared_ptr<context_poster> home_;
    store_listener* listener_ = nullptr;
    std::shared_ptr<reconnecting_connection> connection_;
    bool allowed_ = true;
    bool attempting_ = false; ///< What is sent now reaches the server, if the connection is made.
    boost::unordered_flat_map<std::string, std::vector<std::string>>
        names_; ///< By channel, which "a" and "{a}" share.
    std::shared_ptr<boost::redis::request> pending_;
    std::string channel_;
};

} // namespace leasehold::redis_store

#endif
