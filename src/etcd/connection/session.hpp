#ifndef LEASEHOLD_SRC_ETCD_CONNECTION_SESSION_HPP
#define LEASEHOLD_SRC_ETCD_CONNECTION_SESSION_HPP

#include "base/server_round.hpp"
#include "etcd/connection/http_link.hpp"
#include "etcd/protocol/errors.hpp"
#include "etcd/protocol/replies.hpp"
#include "etcd/protocol/requests.hpp"
#include "fsm/contention/backoff.hpp"
#include "fsm/lease/leader_lease.hpp"

#include <leasehold/clock.hpp>
#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>
#include <leasehold/etcd_config.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace leasehold::etcd_store {

/// The reply to a transaction.
struct reply
{
    error_code failed{};   ///< There is none.
    server_error error{};  ///< With `failed`: the server's reason, if there is one.
    reply_header header{}; ///< Without a failure.
    transaction_reply result{};

    [[nodiscard]] bool good() const noexcept { return !failed; }
};

/// Notified about a session, on its strand, never inside a call of the session.
class session_user
{
public:
    /// There is a connection. All requests of the connection before were executed, or never will
    /// be.
    virtual void on_connected() = 0;
    /// The session has ended with everything that belonged to it.
    virtual void on_session_end() = 0;
    /// The connection ended. Each request without a reply gets one first. The session may live on.
    virtual void on_lost(const trouble& why) = 0;
    /// No server can be used, for this reason; again after each round of attempts.
    virtual void on_unreachable(error_code why, const diagnostics& details) = 0;
    /// Attaches a key of the session to another lease, if it exists.
    struct move
    {
        std::string key;
        std::string operation; ///< A nested transaction.
    };
    [[nodiscard]] virtual std::vector<move> moves_to(std::int64_t lease) const = 0;
    /// The key did not exist any more.
    virtual void on_not_moved(const std::string& key) = 0;

protected:
    ~session_user() = default;
};

/// A session of a client: a lease of etcd, and a key that belongs to it. After an election, all its
/// keys move to a new lease (`fsm::leader_lease`). The revision of the last change of the client's
/// key is the epoch of the connection. Each transaction compares it, so what another connection of
/// the session has sent cannot be executed any more. The connection is made again whenever it is
/// lost, at the next server. All on one strand.
class session final : public http_link_user, public std::enable_shared_from_this<session>
{
public:
    using reply_handler = std::function<void(const reply&)>;
    using range_handler = std::function<void(const std::optional<range_reply>&)>;

    explicit session(const etcd_config& settings);
    ~session() { drop(); }

    void open(const asio::any_io_executor& strand, session_user& user);
    /// Ends the session at the server. Each request without a reply gets one, soon.
    void close();
    /// Ends it without a message to the server: at the end of the context, or in a forked process.
    /// Requests get no reply.
    void drop() noexcept;

    /// @name Requests. There must be a connection. The handler is called once, not inside the call.
    /// @{

    /// Begins the session, if it has not begun.
    /// @param key Of the client.
    /// @param value Of this key.
    void begin(std::string key, std::string value, reply_handler handler);
    /// Sends a transaction of the session, which has begun. All transactions of one turn of the
    /// strand are executed together, so they must not write the same keys.
    void send(transaction what, reply_handler handler);
    /// Renews the session: `until()` grows, if a majority confirms it.
    void renew(reply_handler handler);
    /// Reads keys. Nothing: it has failed.
    void read(const range_request& what, range_handler handler);
    /// @}

    [[nodiscard]] bool ready() const noexcept { return ready_; }
    [[nodiscard]] bool has_begun() const noexcept { return epoch_ != 0; }
    [[nodiscard]] std::int64_t lease() const noexcept { return lease_id_; }
    /// Whether a key with this lease belongs to the session.
    [[nodiscard]] bool owns(std::int64_t lease) const noexcept { return leases_.contains(lease); }
    /// The leases that its keys may have: the current one, and those of moves that failed.
    [[nodiscard]] const std::set<std::int64_t>& leases() const noexcept { return leases_; }
    /// The session lives at least until then.
    [[nodiscard]] clock::time_point until() const noexcept { return lease_.until(); }
    [[nodiscard]] std::chrono::milliseconds lifetime() const noexcept { return ttl_; }
    /// The server, for logs.
    [[nodiscard]] std::string server() const;
    [[nodiscard]] const etcd_config::address& address() const noexcept
    {
        return settings_.addresses[at_];
    }
    [[nodiscard]] std::chrono::milliseconds reply_limit() const noexcept;

private:
    using session_lease = fsm::leader_lease<clock::time_point, clock::duration, leader_mark>;

    struct waiting
    {
        transaction what;
        reply_handler handler;
    };
    using batch = std::vector<waiting>;
    struct new_lease
    {
        std::int64_t id;
        std::chrono::milliseconds ttl;
        session_lease belief;
    };
    struct reading
    {
        std::string body;
        range_handler handler;
    };
    using http_handler = std::function<void(const http_reply&)>;

    // The connection.
    void attempt();
    void attempt_soon();
    void on_open() override;
    void on_closed(const trouble& why) override;
    void next_server(const trouble& why);
    void authenticate(std::function<void()> then);
    void greet();
    void connected();
    void fail_all(error_code sent);

    // One request after the other.
    void post(const std::string& target, std::string body, http_handler then, bool again = false);
    void flush_soon();
    void next();
    void grant(std::function<void(const http_reply&, const std::optional<new_lease>&)> then);
    void adopt(const new_lease& given);
    void begin_now();
    void write_key();
    [[nodiscard]] transaction bound(const transaction& what) const;
    void send_batch();
    void on_batch(const http_reply& got, bool alone, const session_lease::keep_alive& proof);
    void keep_alive();
    void confirm();
    void move();
    void move_keys(const new_lease& to, std::vector<session_user::move> moves);
    void moved(const new_lease& to, std::vector<session_user::move> moves, std::size_t count,
               const http_reply& got);
    void renewed(const reply_header& at);
    void not_renewed(const http_reply& got);
    void read_next();
    /// Ends the requests of these handlers with an error of the server. An unknown outcome ends the
    /// connection.
    void refuse(std::vector<reply_handler> handlers, const http_reply& got);

    // The lease.
    void beat();
    void end_session();

    const etcd_config settings_;
    asio::any_io_executor strand_;
    session_user* user_ = nullptr;
    std::shared_ptr<http_link> link_;
    std::unique_ptr<asio::steady_timer> beat_timer_; ///< Of renewals, and pauses between attempts.
    fsm::random_source random_;
    std::string token_;
    std::size_t at_ = 0; ///< The index of the server.
    detail::server_round round_;
    bool ready_ = false;
    bool busy_ = false; ///< A request is outstanding.
    bool flush_posted_ = false;

    std::string key_; ///< Of the client. Empty: unknown.
    std::string value_;
    std::int64_t lease_id_ = 0; ///< 0: there is no session.
    std::set<std::int64_t> leases_;
    std::uint64_t epoch_ = 0; ///< 0: the key does not exist yet.
    std::chrono::milliseconds ttl_;
    session_lease lease_;
    leader_mark greeted_; ///< The last reply before the session began.

    std::vector<reply_handler> beginning_;
    std::deque<waiting> waiting_; ///< Not sent.
    batch in_flight_;             ///< Sent.
    std::deque<reading> reading_;
    std::vector<reply_handler> renewing_; ///< Of the renewal that is outstanding.
    std::vector<reply_handler> to_renew_; ///< Of the next one.
    bool renewal_due_ = false;
};

} // namespace leasehold::etcd_store

#endif
