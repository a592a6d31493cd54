#ifndef LEASEHOLD_TEST_SUPPORT_ZOOKEEPER_ENSEMBLE_HPP
#define LEASEHOLD_TEST_SUPPORT_ZOOKEEPER_ENSEMBLE_HPP

#include "support/fault_proxy.hpp"
#include "support/port.hpp"
#include "support/zookeeper_server.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace leasehold::test {

/// Three ZooKeeper servers that reach each other by proxies.
class zookeeper_ensemble
{
public:
    static constexpr std::size_t size = 3;

    /// @param patience For each server, the ticks after which it leaves a leader that sends
    ///     nothing. It answers the pings of its clients until then.
    explicit zookeeper_ensemble(const std::array<int, size>& patience)
    {
        for (std::size_t from = 0; from < size; ++from) {
            for (std::size_t to = 0; to < size; ++to) {
                peers_[from][to] = std::make_unique<fault_proxy>(
                    loopback_endpoint(peer_ports_[to].number()));
                elections_[from][to] = std::make_unique<fault_proxy>(
                    loopback_endpoint(election_ports_[to].number()));
            }
        }
        for (std::size_t i = 0; i < size; ++i) {
            std::vector<std::string> settings{
                "initLimit=" + std::to_string(std::max(patience[i], least_init_limit)),
                "syncLimit=" + std::to_string(patience[i])};
            for (std::size_t to = 0; to < size; ++to)
                settings.push_back("server." + std::to_string(to + 1) +
                                   "=127.0.0.1:" + std::to_string(peer_port(i, to)) + ':' +
                                   std::to_string(election_port(i, to)));
            servers_[i] = std::make_unique<zookeeper_server>(settings, static_cast<int>(i) + 1);
        }
        wait_until_ready();
    }

    [[nodiscard]] zookeeper_server& at(std::size_t i) { return *servers_[i]; }

    /// The addresses of all servers, as in a URL.
    [[nodiscard]] std::string addresses() const
    {
        std::string all;
        for (const auto& each : servers_)
            all.append(all.empty() ? "" : ",").append(each->address());
        return all;
    }

    /// This server and the others receive nothing from each other until `heal`.
    void cut_off(std::size_t server)
    {
        each_link_of(server, [](fault_proxy& link) { link.stall(); });
    }
    void heal(std::size_t server)
    {
        each_link_of(server, [](fault_proxy& link) { link.forward(); });
    }

    /// Waits until each server serves clients.
    void wait_until_ready()
    {
        for (const auto& each : servers_)
            each->wait_until_ready();
    }

private:
    using ports = std::array<reserved_port, size>;
    using links = std::array<std::array<std::unique_ptr<fault_proxy>, size>, size>;

    // A server needs some time to get the state of the leader.
    static constexpr int least_init_limit = 20;

    /// The port at which a server reaches another one, or listens itself.
    [[nodiscard]] std::uint16_t peer_port(std::size_t from, std::size_t to) const
    {
        return from == to ? peer_ports_[to].number() : peers_[from][to]->port();
    }
    [[nodiscard]] std::uint16_t election_port(std::size_t from, std::size_t to) const
    {
        return from == to ? election_ports_[to].number() : elections_[from][to]->port();
    }

    template <class Function>
    void each_link_of(std::size_t server, Function function)
    {
        for (std::size_t other = 0; other < size; ++other) {
            for (links* all : {&peers_, &elections_}) {
                function(*(*all)[server][other]);
                function(*(*all)[other][server]);
            }
        }
    }

    ports peer_ports_, election_ports_;
    links peers_, elections_;
    std::array<std::unique_ptr<zookeeper_server>, size> servers_;
};

} // namespace leasehold::test

#endif
