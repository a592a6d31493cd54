#ifndef LEASEHOLD_TEST_SUPPORT_ETCD_ENSEMBLE_HPP
#define LEASEHOLD_TEST_SUPPORT_ETCD_ENSEMBLE_HPP

#include "support/etcd_server.hpp"
#include "support/fault_proxy.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <string>

namespace leasehold::test {

/// Three etcd servers that reach each other by proxies. All servers know the same URL of a member,
/// which is a local socket: in its own directory the member listens there, and in those of the
/// others a proxy.
class etcd_ensemble
{
public:
    static constexpr std::size_t size = 3;

    etcd_ensemble()
    {
        std::string all;
        for (std::size_t i = 0; i < size; ++i)
            all.append(all.empty() ? "" : ",").append(name(i) + "=unix://" + peer(i));
        for (std::size_t i = 0; i < size; ++i)
            servers_[i] = std::make_unique<etcd_server>(name(i), "unix://" + peer(i), all);
        for (std::size_t from = 0; from < size; ++from) {
            for (std::size_t to = 0; to < size; ++to) {
                if (from != to)
                    links_[from][to] = std::make_unique<fault_proxy>(
                        local_endpoint(at(to).file(peer(to))), at(from).file(peer(to)));
            }
        }
        wait_until_ready();
    }

    [[nodiscard]] etcd_server& at(std::size_t i) { return *servers_[i]; }

    /// This server and the others receive nothing from each other until `heal`.
    void cut_off(std::size_t server)
    {
        each_link_of(server, [](fault_proxy& link) { link.stall(); });
    }
    void heal(std::size_t server)
    {
        each_link_of(server, [](fault_proxy& link) { link.forward(); });
    }

    /// Waits until each server has a leader.
    void wait_until_ready()
    {
        for (const auto& each : servers_)
            each->wait_until_ready();
    }

private:
    static std::string name(std::size_t i) { return "m" + std::to_string(i); }
    /// A URL of a peer needs a port. The socket has it in its name.
    static std::string peer(std::size_t i) { return name(i) + ":1"; }

    template <class Function>
    void each_link_of(std::size_t server, Function function)
    {
        for (std::size_t other = 0; other < size; ++other) {
            if (other != server) {
                function(*links_[server][other]);
                function(*links_[other][server]);
            }
        }
    }

    std::array<std::unique_ptr<etcd_server>, size> servers_;
    std::array<std::array<std::unique_ptr<fault_proxy>, size>, size> links_;
};

} // namespace leasehold::test

#endif
