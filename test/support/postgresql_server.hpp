#ifndef LEASEHOLD_TEST_SUPPORT_POSTGRESQL_SERVER_HPP
#define LEASEHOLD_TEST_SUPPORT_POSTGRESQL_SERVER_HPP

#include "support/child.hpp"
#include "support/directory.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace leasehold::test {

/// A PostgreSQL server that belongs to the test, without passwords, on a local socket. It runs as
/// an unprivileged user. It needs no client library.
class postgresql_server
{
public:
    /// The superuser of the server.
    static constexpr const char* user = "test";

    /// Returns when the server accepts connections.
    /// @param settings Further settings, as `name=value`.
    explicit postgresql_server(std::vector<std::string> settings = {});

    /// A standby, which copies all changes of another server.
    /// @param primary The parameters of a connection to that server for libpq.
    postgresql_server(const std::string& primary, std::vector<std::string> settings);

    /// The processes of a paused server would stay otherwise.
    ~postgresql_server()
    {
        if (server_.running())
            resume();
    }
    postgresql_server(const postgresql_server&) = delete;
    postgresql_server& operator=(const postgresql_server&) = delete;

    /// Sends SIGKILL to the server, whose sessions then end.
    void kill() { server_.kill(); }
    /// Starts the server again after `kill`, with its data and settings.
    void start();
    /// Stops the server and its sessions, without closing a connection.
    void pause();
    /// Continues them.
    void resume();

    /// The folder of the local socket: the host of a connection.
    [[nodiscard]] std::string socket_folder() const { return directory_.path().string(); }

    /// The parameters of a connection for libpq.
    [[nodiscard]] std::string connection_text(const std::string& as = user) const;

    [[nodiscard]] child& process() noexcept { return server_; }
    [[nodiscard]] std::string log() const { return text_of(directory_.file("log")); }

    /// The reason why no server can be started here; empty: it can.
    [[nodiscard]] static std::string missing();

private:
    /// Whether the server accepts connections: the last line of its own file for `pg_ctl`.
    [[nodiscard]] bool ready() const;

    void make_data(const char* program, const std::vector<std::string>& arguments);
    void try_to_start();
    void signal_all(int number);

    const std::vector<std::string> settings_;
    temporary_directory directory_;
    child server_;
};

} // namespace leasehold::test

#endif
