#ifndef LEASEHOLD_TEST_MYSQL_DATABASE_HPP
#define LEASEHOLD_TEST_MYSQL_DATABASE_HPP

#include "mysql/connection.hpp"
#include "support/directory.hpp"
#include "support/mysql_server.hpp"
#include "support/port.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace leasehold::test {

/// The text of the schema as one query: without the lines for the programs `mysql` and `mariadb`.
[[nodiscard]] inline std::string schema_query()
{
    std::string text = text_of(LEASEHOLD_TEST_MYSQL_SCHEMA);
    const auto replace = [&text](const std::string& from, const std::string& to) {
        for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at))
            text.replace(at, from.size(), to);
    };
    replace("delimiter $$\n", "");
    replace("delimiter ;\n", "");
    replace("$$", ";");
    return text;
}

/// In the list of processes: the sessions for grants. In a procedure, a session has the user who
/// owns the procedure.
inline constexpr char is_for_grants[] = "is_used_lock(concat('leasehold:', id)) = id";
/// All sessions of clients.
inline constexpr char is_of_client[] =
    "(user = 'app' or is_used_lock(concat('leasehold:', id)) = id)";

/// A server with the schema of the locks in the database "locks". The user "app" has only the right
/// that a client needs, and the password "secret" over TCP.
class mysql_database
{
public:
    explicit mysql_database(std::vector<std::string> settings = {})
        : server_(port_.number(), std::move(settings))
    {
        mysql_connection root(server_.socket());
        root.run("create database locks; use locks");
        root.run(schema_query());
        root.run("create user app@localhost; create user app@'127.0.0.1' identified by 'secret'");
        root.run("grant execute on locks.* to app@localhost, app@'127.0.0.1'");
    }

    /// A session of the administrator.
    [[nodiscard]] mysql_connection connect(const std::string& user = "root") const
    {
        return mysql_connection(server_.socket(), user, "locks");
    }

    [[nodiscard]] std::uint16_t port() const noexcept { return port_.number(); }
    [[nodiscard]] mysql_server& server() noexcept { return server_; }
    [[nodiscard]] std::string at() const { return "127.0.0.1:" + std::to_string(port()); }

    /// The URL of the user "app".
    [[nodiscard]] std::string url(const std::string& scheme = "mysql") const
    {
        return scheme + "://app:secret@" + at() + "/locks";
    }

private:
    reserved_port port_;
    mysql_server server_;
};

} // namespace leasehold::test

#endif
