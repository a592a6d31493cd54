#ifndef LEASEHOLD_TEST_TRAPS_REDIS_FIXTURE_HPP
#define LEASEHOLD_TEST_TRAPS_REDIS_FIXTURE_HPP

#include "support/fault_proxy.hpp"
#include "support/redis_server.hpp"
#include "support/resp_client.hpp"
#include "support/tested_layout.hpp"
#include "traps/test_client.hpp"

#include <leasehold/redis.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace leasehold::test {

/// A server, a context for clients, and a connection that reads the server's data.
struct redis_fixture
{
    explicit redis_fixture(std::vector<std::string> options = {}, redis_setup setup = {});

    redis_server server;
    std::optional<resp_client> connection;
    resp_client& raw; ///< The connection, which remains valid after `reconnect`.
    asio::io_context context;

    void reconnect()
    {
        connection.emplace(server.endpoint());
    } ///< Call after the server was started again.

    /// The settings of a client without a proxy.
    [[nodiscard]] redis_config direct() const;
    [[nodiscard]] static redis_config through(const fault_proxy&); ///< The same through a proxy.

    [[nodiscard]] bool exists(const std::string& name);
    [[nodiscard]] std::int64_t left(const std::string& name); ///< PTTL.
    /// The holder of the name and its count. In the layout `redisson`, also each entry.
    [[nodiscard]] std::map<std::string, std::string> fields(const std::string& name);
    /// The number of clients that are notified of a release, now or in their order.
    [[nodiscard]] std::int64_t watchers(const std::string& name);
    [[nodiscard]] std::uint64_t scripts_run();

    /// Acquires the lock like another library.
    void external_lock(const std::string& name, milliseconds time,
                       const std::string& owner = "another:1");

    /// Runs an endless script over `by`, and returns when the server reports BUSY. SCRIPT KILL ends
    /// it.
    void make_busy(resp_client& by);

    void await_gone(const std::string& name);
    void await_watchers(const std::string& name, std::int64_t count = 1);
    void eventually(const std::function<bool()>& reached) { test::eventually(context, reached); }
};

[[nodiscard]] std::string channel_of(const std::string& name);

} // namespace leasehold::test

#endif
