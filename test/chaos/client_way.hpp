#ifndef LEASEHOLD_TEST_CHAOS_CLIENT_WAY_HPP
#define LEASEHOLD_TEST_CHAOS_CLIENT_WAY_HPP

#include "support/fault_proxy.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace leasehold::test::chaos {

/// The only path of one client to the servers.
struct client_way
{
    std::string url;
    /// Ports that servers announce, and those to use instead, as the client reads them:
    /// `7000=41000,7001=41001`.
    std::string port_map{};
    std::vector<std::unique_ptr<fault_proxy>> proxies{}; ///< One before each server.

    /// Adds a proxy on this machine, and returns its port.
    std::uint16_t add(const stream_endpoint& server)
    {
        proxies.push_back(std::make_unique<fault_proxy>(server));
        return proxies.back()->port();
    }
};

} // namespace leasehold::test::chaos

#endif
