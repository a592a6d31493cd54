#ifndef LEASEHOLD_TEST_SUPPORT_ZOOKEEPER_ENSEMBLE_HPP
#define LEASEHOLD_TEST_SUPPORT_ZOOKEEPER_ENSEMBLE_HPP

#include "support/ensemble_of.hpp"
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
class zookeeper_ensemble : public ensemble_of<zookeeper_server>
{
public:
    /// @param patience For each server, the ticks after which it leaves a leader that sends
    ///     nothing. It answers the pings of its clients until then.
    explicit zookeeper_ensemble(const std::array<int, size>& patience)
    {
        each_pair([this](std::size_t from, std::size_t to) {
            for (const ports* each : {&peer_ports_, &election_ports_})
                links_[from][to].push_back(
                    std::make_unique<fault_proxy>(loopback_endpoint((*each)[to].number())));
        });
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

    /// The addresses of all servers, as in a URL.
    [[nodiscard]] std::string addresses() const
    {
        std::string all;
        for (const auto& each : servers_)
            all.append(all.empty() ? "" : ",").append(each->address());
        return all;
    }

private:
    using ports = std::array<reserved_port, size>;

    // A server needs some time to get the state of the leader.
    static constexpr int least_init_limit = 20;

    /// The port at which a server reaches another one, or listens itself.
    [[nodiscard]] std::uint16_t peer_port(std::size_t from, std::size_t to) const
    {
        return from == to ? peer_ports_[to].number() : links_[from][to][0]->port();
    }
    [[nodiscard]] std::uint16_t election_port(std::size_t from, std::size_t to) const
    {
        return from == to ? election_ports_[to].number() : links_[from][to][1]->port();
    }

    ports peer_ports_, election_ports_;
};

} // namespace leasehold::test

#endif
