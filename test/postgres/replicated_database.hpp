#ifndef LEASEHOLD_TEST_POSTGRES_REPLICATED_DATABASE_HPP
#define LEASEHOLD_TEST_POSTGRES_REPLICATED_DATABASE_HPP

#include "postgres/database.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace leasehold::test {

/// A primary with the schema of the locks, and a standby that confirms each of its commits.
class replicated_database
{
public:
    replicated_database()
    {
        servers_[0] = std::make_unique<postgresql_server>(settings(0));
        postgresql_connection session = connect();
        install_schema(session);
        replace_standby();
    }

    [[nodiscard]] postgresql_server& primary() { return *servers_[primary_]; }
    [[nodiscard]] postgresql_server& standby() { return *servers_[1 - primary_]; }
    [[nodiscard]] std::uint16_t port(std::size_t server) const { return ports_[server].number(); }
    [[nodiscard]] std::string primary_address() const { return address(primary_); }
    [[nodiscard]] std::string standby_address() const { return address(1 - primary_); }

    /// A session of the superuser at the primary.
    [[nodiscard]] postgresql_connection connect() const
    {
        return postgresql_connection(connection_text());
    }

    /// The standby becomes the primary. The old one must have ended.
    void promote_standby()
    {
        primary_ = 1 - primary_;
        connect().run("select pg_promote()");
    }

    /// A new standby takes the place of the one before, or of the old primary. Returns when each
    /// commit waits for it.
    void replace_standby()
    {
        const std::size_t next = 1 - primary_;
        servers_[next].reset();
        servers_[next] = std::make_unique<postgresql_server>(connection_text(), settings(next));
        wait_for_standby();
    }

    /// Returns when each commit waits for the standby.
    void wait_for_standby() const
    {
        postgresql_connection session = connect();
        session.run("alter system set synchronous_standby_names = '*'");
        session.run("select pg_reload_conf()");
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        // The server has no event for this.
        while (session.run("select 1 from pg_stat_replication where sync_state = 'sync'").size() ==
               0) {
            if (std::chrono::steady_clock::now() > limit)
                throw std::runtime_error("the standby does not follow");
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }

    /// Of the user "app", with both servers.
    [[nodiscard]] std::string url() const
    {
        return "postgres://app@" + address(0) + "," + address(1) + "/postgres?reconnect=20";
    }

private:
    [[nodiscard]] std::string address(std::size_t server) const
    {
        return "127.0.0.1:" + std::to_string(port(server));
    }

    [[nodiscard]] std::vector<std::string> settings(std::size_t server) const
    {
        return {"listen_addresses=127.0.0.1", "port=" + std::to_string(port(server))};
    }

    [[nodiscard]] std::string connection_text() const
    {
        return servers_[primary_]->connection_text() + " port=" + std::to_string(port(primary_));
    }

    std::array<reserved_port, 2> ports_;
    std::array<std::unique_ptr<postgresql_server>, 2> servers_;
    std::size_t primary_ = 0;
};

} // namespace leasehold::test

#endif
