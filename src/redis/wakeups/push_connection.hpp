#ifndef LEASEHOLD_SRC_REDIS_WAKEUPS_PUSH_CONNECTION_HPP
#define LEASEHOLD_SRC_REDIS_WAKEUPS_PUSH_CONNECTION_HPP

#include "core/async/context_lifetime.hpp"
#include "core/async/context_poster.hpp"
#include "redis/connection/reconnecting_connection.hpp"

#include <leasehold/redis_config.hpp>
#include <leasehold/store.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace leasehold::redis_store {

/// A connection beside that of the commands, made when it is first needed. Derived classes use it
/// for requests that would delay the commands or mix up their replies: a server answers a rejected
/// SUBSCRIBE with an error that looks like the reply to the next command. All on the strand.
class push_connection : public connection_observer,
                        public detail::context_observer,
                        public std::enable_shared_from_this<push_connection>
{
public:
    void open(const asio::any_io_executor& strand,
              const std::shared_ptr<detail::context_poster>& poster, store_listener& listener);
    void close() noexcept;
    /// Opens it with the strand and the listener of `other`, unless that is closed.
    void open_like(const push_connection& other);

protected:
    push_connection(const redis_config& settings, std::shared_ptr<environment> from)
        : where_(settings), from_(std::move(from))
    {}
    ~push_connection() = default;

    /// Makes the connection. Once.
    void connect();
    [[nodiscard]] bool is_made() const noexcept { return connection_ != nullptr; }

    /// A request whose replies are ignored: those of SUBSCRIBE are push messages.
    [[nodiscard]] static std::shared_ptr<boost::redis::request> make_request();
    void send(const std::shared_ptr<boost::redis::request>& request);

    /// The same with replies; `done(error_code)`.
    template <class Done>
    void send(const boost::redis::request& request, boost::redis::any_adapter adapter, Done done)
    {
        connection_->send(request, std::move(adapter), std::move(done));
    }

    /// Ends the connection, and reconnects after `pause`, by default the usual one.
    void begin_again(error_code why, std::string_view text,
                     std::optional<std::chrono::milliseconds> pause = std::nullopt);

    [[nodiscard]] store_listener* listener() const noexcept { return listener_; } ///< Null: none.
    [[nodiscard]] const asio::any_io_executor& strand() const noexcept { return strand_; }
    [[nodiscard]] detail::context_poster& poster() const noexcept { return *poster_; }

    /// Called for an error that is not a reply to a command. Returns whether to keep the
    /// connection.
    [[nodiscard]] virtual bool on_refusal(const std::string& text)
    {
        static_cast<void>(text);
        return false;
    }

    /// There are no notifications any more, for good.
    virtual void on_silence() noexcept = 0;
    /// The context ends: releases all that belongs to it.
    virtual void on_forget() noexcept {}

private:
    void on_stray_error(const std::string& text) final;
    void on_context_end() noexcept final;
    void on_fork() noexcept final;

    const redis_config where_;
    const std::shared_ptr<environment> from_;
    asio::any_io_executor strand_;
    std::shared_ptr<detail::context_poster> poster_;
    store_listener* listener_ = nullptr;
    std::shared_ptr<reconnecting_connection> connection_;
};

} // namespace leasehold::redis_store

#endif
