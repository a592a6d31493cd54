#ifndef LEASEHOLD_TEST_POSTGRES_DATABASE_HPP
#define LEASEHOLD_TEST_POSTGRES_DATABASE_HPP

#include "postgres/connection.hpp"
#include "support/port.hpp"
#include "support/postgresql_server.hpp"

#include <leasehold/postgres.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace leasehold::test {

/// Installs the schema of the locks. The user "app" gets only the rights that a client needs.
inline void install_schema(postgresql_connection& as_superuser)
{
    as_superuser.run_script(postgres_schema());
    as_superuser.run_script("create role app login password 'secret';"
                            "grant usage on schema leasehold to app");
}

/// A PostgreSQL server on a port of 127.0.0.1 and on a local socket, with the schema of the locks.
class database
{
public:
    explicit database(std::vector<std::string> settings = {})
        : server_(with_port(std::move(settings), port_.number()))
    {
        postgresql_connection operator_session = connect();
        install_schema(operator_session);
    }

    /// A session of the superuser.
    [[nodiscard]] postgresql_connection connect() const
    {
        return postgresql_connection(connection_text());
    }

    /// The parameters of such a session for libpq.
    [[nodiscard]] std::string connection_text() const
    {
        return server_.connection_text() + " port=" + std::to_string(port());
    }

    [[nodiscard]] std::uint16_t port() const noexcept { return port_.number(); }
    [[nodiscard]] postgresql_server& server() noexcept { return server_; }

    /// The URL of the user "app".
    [[nodiscard]] std::string url() const
    {
        return "postgres://app@127.0.0.1:" + std::to_string(port()) + "/postgres";
    }

private:
    static std::vector<std::string> with_port(std::vector<std::string> settings, std::uint16_t port)
    {
        settings.insert(settings.begin(),
                        {"listen_addresses=127.0.0.1", "port=" + std::to_string(port)});
        return settings;
    }

    reserved_port port_;
    postgresql_server server_;
};

} // namespace leasehold::test

#endif
