#ifndef LEASEHOLD_SRC_POSTGRES_CONNECTION_CONNECTION_HPP
#define LEASEHOLD_SRC_POSTGRES_CONNECTION_CONNECTION_HPP

#include "core/turn/time_source.hpp"
#include "fsm/contention/backoff.hpp"
#include "postgres/connection/session.hpp"
#include "postgres/protocol/errors.hpp"

#include <leasehold/detail/export.hpp>
#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>
#include <leasehold/postgres_config.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::postgres_store {

/// Notified about a connection, on its strand, never inside a call of the connection.
class connection_user
{
public:
    /// The session is being set up. Adds the statements of this user to the first batch.
    virtual void on_setup(session& to) = 0;
    /// A result of `on_setup`, in the order of the statements.
    virtual void on_setup_result(const PGresult& result) { static_cast<void>(result); }
    /// The server accepts writes. `server_us`: its clock.
    virtual void on_ready(std::int64_t server_us) = 0;
    /// A result of a later batch, as in `session_user`.
    virtual void on_result(const PGresult& result) = 0;
    virtual void on_notification(std::string_view payload) { static_cast<void>(payload); }
    /// The session ended. Only after `on_ready`. `sent_all`: as in `session`.
    virtual void on_lost(const trouble& why, bool sent_all) = 0;
    /// No server can be used, for this reason; again after each round of attempts.
    virtual void on_unreachable(error_code why, const diagnostics& details) = 0;

protected:
    ~connection_user() = default;
};

/// A session that is made again whenever it is lost, at the first server that accepts writes. All
/// on one strand.
class LEASEHOLD_POSTGRES_EXPORT connection final : public session_user,
                                                   public std::enable_shared_from_this<connection>
{
public:
    explicit connection(const postgres_config& settings);
    ~connection() { close(); }
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    /// @param server The first one to try.
    void open(const asio::any_io_executor& strand, connection_user& user, std::size_t server = 0);
    /// The user gets no more calls.
    void close() noexcept;
    /// As `close`, at the end of the context. `forked`: in a forked process.
    void drop(bool forked) noexcept;

    /// Ends the session, and connects again, first to this server. `on_lost` is not called.
    void begin_again(std::size_t server);
    void begin_again_elsewhere() { begin_again((at_ + 1) % settings_.addresses.size()); }

    /// The session if the server accepts writes, otherwise null.
    [[nodiscard]] session* ready() const noexcept { return ready_ ? session_.get() : nullptr; }
    [[nodiscard]] std::size_t server_index() const noexcept { return at_; }
    /// The address of the server, for logs.
    [[nodiscard]] std::string server() const;

private:
    void attempt();
    void attempt_soon();
    void next_server(const trouble& why);
    void on_open() override;
    void on_result(const PGresult& result) override;
    void on_notification(std::string_view payload) override;
    void on_closed(const trouble& why) override;
    void end_setup();

    const postgres_config settings_;
    asio::any_io_executor strand_;
    connection_user* user_ = nullptr;
    std::shared_ptr<session> session_;
    std::size_t at_ = 0;    ///< The index of the server.
    std::size_t tried_ = 0; ///< Servers that failed in this round.
    trouble worst_;         ///< The most important failure of the round.
    std::string texts_;     ///< All of them, with their servers.
    std::size_t worst_at_ = 0;

    // The setup of the session.
    bool ready_ = false;
    std::size_t answered_ = 0; ///< Statements of the setup with a result.
    trouble failed_;           ///< The first that failed.
    bool read_only_ = false;
    std::int64_t server_us_ = 0;
    std::int64_t version_ = 0; ///< Of the schema.

    const std::unique_ptr<detail::time_source> time_;
    fsm::random_source random_;
};

} // namespace leasehold::postgres_store

#endif
