#ifndef LEASEHOLD_SRC_SQL_CONNECTION_CONNECTION_HPP
#define LEASEHOLD_SRC_SQL_CONNECTION_CONNECTION_HPP

#include "base/server_round.hpp"
#include "core/turn/time_source.hpp"
#include "fsm/contention/backoff.hpp"
#include "sql/connection/session.hpp"

#include <leasehold/detail/export.hpp>
#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace leasehold::sql_store {

namespace asio = boost::asio;

/// Notified about a connection, on its strand, never inside a call of the connection.
class LEASEHOLD_EXPORT connection_user
{
public:
    /// The server accepts requests.
    virtual void on_ready(const session_facts& known) = 0;
    // As in `session_user`.
    virtual void on_reply(const rows& reply) { static_cast<void>(reply); }
    virtual void on_failure(const trouble& why) { static_cast<void>(why); }
    virtual void on_batch_end() {}
    virtual void on_grant(std::string_view name, std::string_view owner)
    {
        static_cast<void>(name);
        static_cast<void>(owner);
    }
    /// The session ended. Only after `on_ready`. `sent_all`: as in `session`.
    virtual void on_lost(const trouble& why, bool sent_all) = 0;
    /// No server can be used, for this reason; again after each round of attempts.
    virtual void on_unreachable(error_code why, const diagnostics& details) = 0;

protected:
    ~connection_user() = default;
};

/// A session that is made again whenever it is lost, at the first server that accepts writes. All
/// on one strand.
class LEASEHOLD_EXPORT connection final : public session_user,
                                          public std::enable_shared_from_this<connection>
{
public:
    explicit connection(std::shared_ptr<const driver> how);
    ~connection() { close(); }
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    /// @param server The first one to try.
    /// @param listens As in `driver`.
    void open(const asio::any_io_executor& strand, connection_user& user, std::size_t server = 0,
              std::optional<std::string> listens = {});
    /// The user gets no more calls.
    void close() noexcept;
    /// As `close`, at the end of the context. `forked`: in a forked process.
    void drop(bool forked) noexcept;

    /// Ends the session, and connects again, first to this server. `on_lost` is not called.
    void begin_again(std::size_t server);
    void begin_again_elsewhere() { begin_again((at_ + 1) % how_->common().servers.size()); }

    /// The session if the server accepts requests, otherwise null.
    [[nodiscard]] session* ready() const noexcept { return ready_ ? session_.get() : nullptr; }
    [[nodiscard]] std::size_t server_index() const noexcept { return at_; }
    /// The address of the server, for logs.
    [[nodiscard]] const std::string& server() const { return how_->common().servers[at_]; }

private:
    void attempt();
    void attempt_soon();
    void next_server(const trouble& why);
    void on_open(const session_facts& known) override;
    void on_reply(const rows& reply) override { user_->on_reply(reply); }
    void on_failure(const trouble& why) override { user_->on_failure(why); }
    void on_batch_end() override { user_->on_batch_end(); }
    void on_grant(std::string_view name, std::string_view owner) override
    {
        user_->on_grant(name, owner);
    }
    void on_closed(const trouble& why) override;

    const std::shared_ptr<const driver> how_;
    asio::any_io_executor strand_;
    connection_user* user_ = nullptr;
    std::optional<std::string> listens_;
    std::shared_ptr<session> session_;
    bool ready_ = false;
    std::size_t at_ = 0; ///< The index of the server.
    detail::server_round round_;

    const std::unique_ptr<detail::time_source> time_;
    fsm::random_source random_;
};

} // namespace leasehold::sql_store

#endif
