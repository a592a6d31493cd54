#ifndef LEASEHOLD_TEST_SUPPORT_ETCD_ENSEMBLE_HPP
#define LEASEHOLD_TEST_SUPPORT_ETCD_ENSEMBLE_HPP

#include "support/ensemble_of.hpp"
#include "support/etcd_server.hpp"
#include "support/fault_proxy.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace leasehold::test {

/// Three etcd servers that reach each other by proxies. All servers know the same URL of a member,
/// which is a local socket: in its own directory the member listens there, and in those of the
/// others a proxy.
class etcd_ensemble : public ensemble_of<etcd_server>
{
public:
    etcd_ensemble()
    {
        std::string all;
        for (std::size_t i = 0; i < size; ++i)
            all.append(all.empty() ? "" : ",").append(name(i) + "=unix://" + peer(i));
        for (std::size_t i = 0; i < size; ++i)
            servers_[i] = std::make_unique<etcd_server>(name(i), "unix://" + peer(i), all);
        each_pair([this](std::size_t from, std::size_t to) {
            links_[from][to].push_back(std::make_unique<fault_proxy>(
                local_endpoint(at(to).file(peer(to))), at(from).file(peer(to))));
        });
        wait_until_ready();
    }

private:
    static std::string name(std::size_t i) { return "m" + std::to_string(i); }
    /// A URL of a peer needs a port. The socket has it in its name.
    static std::string peer(std::size_t i) { return name(i) + ":1"; }
};

} // namespace leasehold::test

#endif
