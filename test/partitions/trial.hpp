#ifndef LEASEHOLD_TEST_PARTITIONS_TRIAL_HPP
#define LEASEHOLD_TEST_PARTITIONS_TRIAL_HPP

#include "chaos/client_fleet.hpp"
#include "chaos/record.hpp"
#include "partitions/network.hpp"
#include "support/redis_server.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::test {

/// Five servers and places for three clients, each at its own node.
class site
{
public:
    static constexpr std::size_t servers = 5;
    static constexpr std::size_t clients = 3;

    site();

    [[nodiscard]] static std::string redlock_url();
    [[nodiscard]] static std::string server_url(); ///< The URL of the first server only.
    [[nodiscard]] static std::size_t node_of_client(std::size_t client) { return servers + client; }

    network net{servers + clients};
    std::vector<std::unique_ptr<redis_server>> masters;
};

/// Three clients, each a process at its own node, that lock and record their beliefs. The faults of
/// the network. At the end, a check of all records.
class trial
{
public:
    using ways = std::vector<network::way>;

    trial(site& at, const std::string& url);

    /// @name Commands to a client
    /// @{
    void work(std::size_t client, const std::string& name) { command(client, "work " + name); }
    void ask(std::size_t client, const std::string& name) { command(client, "hold " + name); }
    /// Waits until the client holds the lock.
    void hold(std::size_t client, const std::string& name);
    /// Lets the client try until it is refused for this reason.
    void refused(std::size_t client, const std::string& name, std::string_view why);
    /// @}

    /// @name The records of a client so far
    /// @{
    std::size_t count(std::size_t client, chaos::verb what, std::string_view name = {},
                      std::string_view word = {});
    std::size_t grants(std::size_t client, std::string_view name = {})
    {
        return count(client, chaos::verb::granted, name);
    }
    /// @}

    /// Waits until each of these clients has got some lock so many times from now on.
    void await_grants(const std::vector<std::size_t>& clients, std::size_t times = 3);
    void wait_until(const std::string& awaited, const std::function<bool()>& reached);

    /// @name The network
    /// @{
    void cut(const std::string& what, const ways& these);
    void unplug(std::size_t node);
    void plug(std::size_t node);
    /// @}

    /// Repairs the network. Every client gets the locks once more, and ends. Then all records are
    /// checked.
    void finish();

private:
    void command(std::size_t client, const std::string& line) { clients_.command(client, line); }
    void mended();
    [[nodiscard]] std::size_t left_over() const;

    site& site_;
    redis_server register_;
    std::unique_ptr<chaos::deployment> deployment_;
    chaos::client_fleet clients_;
    chaos::record all_;
};

} // namespace leasehold::test

#endif
