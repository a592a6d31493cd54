#ifndef LEASEHOLD_SRC_SQL_CONNECTION_SESSION_HPP
#define LEASEHOLD_SRC_SQL_CONNECTION_SESSION_HPP

#include "sql/protocol/call.hpp"
#include "sql/protocol/rows.hpp"
#include "sql/protocol/trouble.hpp"

#include <leasehold/detail/export.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::sql_store {

/// The replies of the server when a session was set up.
struct session_facts
{
    std::int64_t server_us = 0; ///< The server's clock.
    grant_listener listener{};  ///< Of a session for grants.
};

/// Notified about a session, on its strand, never inside a call of the session.
class LEASEHOLD_EXPORT session_user
{
public:
    /// The session is set up: the schema fits, and the server accepts writes.
    virtual void on_open(const session_facts& known) = 0;
    /// The result of the next call of the batch.
    virtual void on_reply(const rows& reply) = 0;
    /// The next call of the batch failed, so the batch is rolled back. The other calls may have no
    /// result.
    virtual void on_failure(const trouble& why) = 0;
    /// The batch was committed, or rolled back after a failure.
    virtual void on_batch_end() = 0;
    /// On a session for grants.
    virtual void on_grant(std::string_view name, std::string_view owner) = 0;
    /// The attempt to connect failed, or the session ended. The last call.
    virtual void on_closed(const trouble& why) = 0;

protected:
    ~session_user() = default;
};

/// One session at one server, from the attempt to connect until its end. All on one strand.
class LEASEHOLD_EXPORT session
{
public:
    session() = default;
    session(const session&) = delete;
    session& operator=(const session&) = delete;
    virtual ~session() = default;

    /// Begins to connect. `user` is valid until `close` or `on_closed`.
    virtual void open(session_user& user) = 0;
    /// Ends the session. The user gets no more calls.
    virtual void close() noexcept = 0;
    /// As `close`, in a forked process: the session belongs to the parent, and nothing is sent.
    virtual void abandon() noexcept = 0;
    /// As `close`, and lets the server know. Not at the end of the context.
    virtual void leave() noexcept { close(); }

    /// Adds to the current batch. If it fails, the session ends soon.
    virtual void add(const call& made) = 0;
    /// The batch is complete, and becomes one transaction. Sends it.
    virtual void finish_batch() = 0;
    /// Checks a session for grants: it fails if the server does not answer in time.
    virtual void check() {}

    /// Whether the last batch may have reached the server. Until then it cannot be committed.
    [[nodiscard]] virtual bool sent_all() const noexcept = 0;
};

/// The settings that the stores in SQL have in common.
struct settings
{
    std::vector<std::string> servers; ///< The addresses, for logs.
    std::string password{};
    std::string password_file{};
    std::chrono::milliseconds timeout{};
    std::chrono::milliseconds health_check{};
    std::chrono::milliseconds reconnect{};
    std::chrono::milliseconds fence_retention{}; ///< 0: forever.
    bool client_info = true;
};

/// Reads them from a configuration of the database.
/// @param name_of The address of a server as text.
template <class Config>
settings settings_of(const Config& from, std::string (*name_of)(const typename Config::address&))
{
    settings made{.servers = {},
                  .password = from.password,
                  .password_file = from.password_file,
                  .timeout = from.timeout,
                  .health_check = from.health_check,
                  .reconnect = from.reconnect,
                  .fence_retention = from.fence_retention,
                  .client_info = from.client_info};
    for (const auto& each : from.addresses)
        made.servers.push_back(name_of(each));
    return made;
}

/// A kind of database: how sessions are made. Constant.
class LEASEHOLD_EXPORT driver
{
public:
    explicit driver(settings of) : settings_(std::move(of)) {}
    driver(const driver&) = delete;
    driver& operator=(const driver&) = delete;
    virtual ~driver() = default;

    /// @param listens The client whose grants the session announces; none: it is for calls.
    [[nodiscard]] virtual std::shared_ptr<session> make_session(
        const boost::asio::any_io_executor& strand, std::size_t server, std::string password,
        const std::optional<std::string>& listens) const = 0;

    /// The command that installs the schema, for texts of errors.
    [[nodiscard]] virtual std::string how_to_install() const = 0;

    [[nodiscard]] const sql_store::settings& common() const noexcept { return settings_; }

private:
    const sql_store::settings settings_;
};

} // namespace leasehold::sql_store

#endif
