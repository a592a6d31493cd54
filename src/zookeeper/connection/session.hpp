#ifndef LEASEHOLD_SRC_ZOOKEEPER_CONNECTION_SESSION_HPP
#define LEASEHOLD_SRC_ZOOKEEPER_CONNECTION_SESSION_HPP

#include "base/server_round.hpp"
#include "fsm/contention/backoff.hpp"
#include "fsm/lease/session_lease.hpp"
#include "zookeeper/connection/link.hpp"
#include "zookeeper/protocol/errors.hpp"
#include "zookeeper/protocol/messages.hpp"

#include <leasehold/clock.hpp>
#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>
#include <leasehold/zookeeper_config.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace leasehold::zookeeper_store {

/// The reply to a request. The views are valid during the call.
struct reply
{
    error_code failed{};     ///< There is no reply: `store_unavailable` or `outcome_unknown`.
    std::int32_t error = 0;  ///< The server's.
    std::string_view body{}; ///< Without an error.

    [[nodiscard]] bool good() const noexcept { return !failed && error == 0; }
};

/// Notified about a session, on its strand, never inside a call of the session.
class session_user
{
public:
    /// There is a connection. `is_new`: a new session has begun, and the one before has ended with
    /// everything that belonged to it. All requests of the connection before were executed, or
    /// never will be.
    virtual void on_connected(bool is_new) = 0;
    /// The connection ended. Each request without a reply gets one first. The session may live on.
    virtual void on_lost(const trouble& why) = 0;
    /// No server can be used, for this reason; again after each round of attempts.
    virtual void on_unreachable(error_code why, const diagnostics& details) = 0;
    /// A watch of this connection has ended with this event.
    virtual void on_event(const watch_event& event) = 0;

protected:
    ~session_user() = default;
};

/// A session of ZooKeeper, with a connection that is made again whenever it is lost, at the next
/// server. All on one strand.
class session final : public link_user, public std::enable_shared_from_this<session>
{
public:
    using reply_handler = std::function<void(const reply&)>;

    explicit session(const zookeeper_config& settings);
    ~session() { drop(); }

    void open(const asio::any_io_executor& strand, session_user& user);
    /// Ends the session at the server. Each request without a reply gets one, soon.
    void close();
    /// Ends it without a message to the server: at the end of the context, or in a forked process.
    /// Requests get no reply.
    void drop() noexcept;

    /// Sends a request. There must be a connection. Requests are executed in the order of their
    /// sending. The handler is called once, not inside this call.
    void send(const request& what, reply_handler handler);

    [[nodiscard]] bool ready() const noexcept { return ready_; }
    [[nodiscard]] std::int64_t id() const noexcept { return id_; }
    /// The session lives at least until then.
    [[nodiscard]] clock::time_point until() const noexcept { return lease_.until(); }
    [[nodiscard]] std::chrono::milliseconds lifetime() const noexcept { return timeout_; }
    /// The address of the server, for logs.
    [[nodiscard]] std::string server() const;

private:
    using session_lease = fsm::session_lease<clock::time_point, clock::duration>;

    struct waiting
    {
        std::int32_t xid;
        std::uint64_t frame; ///< Its number, among those of the link.
        bool write;
        bool leader; ///< Only the leader answers it.
        session_lease::proof proof;
        reply_handler handler;
    };

    void attempt();
    void attempt_soon();
    void on_open() override;
    void on_frame(std::string_view content) override;
    void on_closed(const trouble& why) override;
    void next_server(const trouble& why);
    void connected(std::string_view content);
    void accepted();
    void ping();
    void on_reply(const reply_header& header, std::string_view body);
    void fail_all(const link* last);
    void beat();
    void expect_reply();
    [[nodiscard]] std::chrono::milliseconds reply_limit() const noexcept;
    void broken(const char* text);

    const zookeeper_config settings_;
    asio::any_io_executor strand_;
    session_user* user_ = nullptr;
    std::shared_ptr<link> link_;
    std::unique_ptr<asio::steady_timer> beat_timer_;  ///< Of pings, and pauses between attempts.
    std::unique_ptr<asio::steady_timer> reply_timer_; ///< Of the oldest request.
    fsm::random_source random_;

    std::size_t at_ = 0; ///< The index of the server.
    detail::server_round round_;
    bool greeted_ = false; ///< The server has confirmed the session.
    bool ready_ = false;   ///< It has executed a request.

    // The session.
    std::int64_t id_ = 0;        ///< 0: there is none.
    std::int64_t announced_ = 0; ///< The one that the user of this object knows.
    std::string password_;
    std::chrono::milliseconds timeout_{};
    std::int64_t last_zxid_ = 0;
    clock::time_point lost_at_{};
    session_lease lease_;
    clock::time_point connect_sent_{};

    std::deque<waiting> waiting_;
    std::deque<clock::time_point> pings_; ///< The times of the sending of those without an answer.
    std::int32_t xid_ = 0;
    std::uint64_t frames_ = 0;
};

} // namespace leasehold::zookeeper_store

#endif
