#ifndef LEASEHOLD_SRC_STORE_REDIS_TURN_CHANNEL_HPP
#define LEASEHOLD_SRC_STORE_REDIS_TURN_CHANNEL_HPP

#include "core/async/context_lifetime.hpp"
#include "store/redis/context_poster.hpp"
#include "store/redis/layout/hearing.hpp"
#include "store/redis/transport/reconnecting_connection.hpp"

#include <leasehold/config.hpp>
#include <leasehold/store.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::redis_store {

/// Where a client hears that it is its turn: one channel for all names, over a connection of its
/// own that is made when the client first waits in a line. All on the strand.
class turn_channel final : public hearing,
                           public connection_observer,
                           public detail::context_observer,
                           public std::enable_shared_from_this<turn_channel>
{
public:
    turn_channel(const config& settings, std::shared_ptr<environment> from)
        : where_(settings), from_(std::move(from))
    {}

    void open(const asio::any_io_executor& strand, const std::shared_ptr<context_poster>& home,
              store_listener& listener);
    void close() noexcept;

    /// All owners are of this one's client. Once.
    void belongs_to(std::string_view owner);

    /// The server has confirmed that it tells this client; what was sent before that is not heard.
    [[nodiscard]] bool hears() const noexcept override { return hears_; }

    /// Once.
    void listen() override;

private:
    void on_attempt() override;
    void on_lost(error_code why, std::string_view said) override;
    void on_push(const std::vector<std::string>& words) override;
    void on_stray_error(const std::string& text) override;
    void on_context_end() noexcept override;
    void on_fork() noexcept override;

    const config where_;
    const std::shared_ptr<environment> from_;
    asio::any_io_executor strand_;
    std::shared_ptr<context_poster> home_;
    store_listener* listener_ = nullptr;
    std::shared_ptr<reconnecting_connection> connection_;
    std::string channel_; ///< Empty: nobody has asked for anything yet.
    bool hears_ = false;
};

} // namespace leasehold::redis_store

#endif
