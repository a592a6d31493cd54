#ifndef LEASEHOLD_TEST_SUPPORT_MYSQL_SERVER_HPP
#define LEASEHOLD_TEST_SUPPORT_MYSQL_SERVER_HPP

#include "support/child.hpp"
#include "support/directory.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace leasehold::test {

/// A MariaDB server that belongs to the test, on a port of 127.0.0.1 and on a local socket. It runs
/// as an unprivileged user. Its user "root" has no password. With LEASEHOLD_TEST_MYSQLD in the
/// environment, it is the MySQL server that this names.
class mysql_server
{
public:
    /// Returns when the server accepts connections.
    /// @param settings Further settings, as `name=value`.
    explicit mysql_server(std::uint16_t port, std::vector<std::string> settings = {});

    void kill() { server_.kill(); }
    /// Starts the server again after `kill`, with its data and settings.
    void start();
    /// Stops the server, without closing a connection.
    void pause();
    void resume();

    [[nodiscard]] std::string socket() const { return directory_.file("socket"); }
    [[nodiscard]] std::string file(const std::string& name) const { return directory_.file(name); }
    [[nodiscard]] std::string log() const { return text_of(directory_.file("log")); }

    /// Whether it is a MySQL server, rather than MariaDB.
    [[nodiscard]] static bool is_mysql();
    /// The reason why no server can be started here; empty: it can.
    [[nodiscard]] static std::string missing();

private:
    void initialize();
    [[nodiscard]] bool ready() const;

    const std::uint16_t port_;
    const std::vector<std::string> settings_;
    temporary_directory directory_;
    child server_;
};

} // namespace leasehold::test

#endif
