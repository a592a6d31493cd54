#ifndef LEASEHOLD_SRC_REDIS_CONNECTION_RECONNECTING_CONNECTION_HPP
#define LEASEHOLD_SRC_REDIS_CONNECTION_RECONNECTING_CONNECTION_HPP

#include "core/turn/time_source.hpp"
#include "fsm/contention/backoff.hpp"
#include "redis/connection/connection.hpp"
#include "redis/connection/environment.hpp"
#include "redis/connection/push_inbox.hpp"
#include "redis/connection/sentinel_patience.hpp"

#include <leasehold/error.hpp>
#include <leasehold/redis_config.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::redis_store {

namespace asio = boost::asio;

class reconnecting_connection;

/// Notified about a connection, on its strand.
class connection_observer
{
public:
    /// An attempt to connect begins. Requests made from now on are sent first on the new
    /// connection.
    virtual void on_attempt() = 0;
    /// The attempt, or the connection, ended. Outstanding requests end soon. `text`: the server's
    /// text about it, or why there is no connection, if that is known.
    virtual void on_lost(error_code why, std::string_view text) = 0;
    /// A push message, or an error that answers no command.
    virtual void on_push(const std::vector<std::string>&) {}
    virtual void on_stray_error(const std::string&) {}

protected:
    ~connection_observer() = default;
};

/// A connection of the library's own that is made again whenever it is lost. All on one strand.
///
/// Boost.Redis would reconnect without a notification. Here each of its runs is one connection, so
/// that its beginning and end are visible. Operations keep this object alive, because those of
/// Boost.Redis hold plain pointers into the connection.
class reconnecting_connection final : public std::enable_shared_from_this<reconnecting_connection>
{
public:
    reconnecting_connection(environment& from, const asio::any_io_executor& strand,
                            const redis_config& settings);

    void open(connection_observer& user);
    /// The user gets no more notifications; all operations end soon.
    void close() noexcept;
    /// Closes the connection for this reason, and reconnects after the usual pause, or this one.
    void reset(error_code why, std::string_view text,
               std::optional<std::chrono::milliseconds> pause = std::nullopt);
    /// The context ends: nothing can be cancelled or awaited any more.
    void drop() noexcept;

    /// Executes requests, and keeps this object alive.
    [[nodiscard]] std::shared_ptr<request_channel> channel()
    {
        return {shared_from_this(), connection_.get()};
    }

    /// Executes a request; `done(error_code)`.
    template <class Done>
    void send(const boost::redis::request& request, boost::redis::any_adapter adapter, Done done)
    {
        connection_->execute(request, std::move(adapter), {},
                             [self = shared_from_this(), done = std::move(done)](
                                 error_code error, std::size_t) mutable { done(error); });
    }

private:
    void attempt();
    void receive();
    void on_end(error_code error);
    [[nodiscard]] bool prepare();
    error_code reason(error_code error, std::string_view text) const;

    const redis_config where_;
    boost::redis::config settings_;
    sentinel_patience patience_;
    const std::chrono::milliseconds pause_;
    connection_observer* observer_ = nullptr;
    bool running_ = false;
    std::string complaints_; ///< The errors that Boost.Redis logged during this attempt.
    error_code reset_reason_;
    std::string reset_words_;
    std::optional<std::chrono::milliseconds> next_pause_;
    push_inbox pushes_;
    const asio::any_io_executor strand_;
    const std::unique_ptr<connection> connection_;
    const std::unique_ptr<detail::time_source> time_;
    fsm::random_source random_;
};

} // namespace leasehold::redis_store

#endif
