#ifndef LEASEHOLD_SRC_REDIS_CONFIG_ADDRESS_HPP
#define LEASEHOLD_SRC_REDIS_CONFIG_ADDRESS_HPP

#include "base/connection_config.hpp"

#include <leasehold/redis_config.hpp>

#include <string>

namespace leasehold::redis_store {

/// The address in the form for logs: "10.0.0.1:6379", "[::1]:6379".
[[nodiscard]] inline std::string name_of(const redis_config::address& at)
{
    return detail::host_and_port(at.host, at.port);
}

/// Applies `redis_config::address_map`, once, to an address that a server announces.
[[nodiscard]] inline redis_config::address reached_address(const redis_config& settings,
                                                           redis_config::address announced)
{
    for (const redis_config::mapped_address& each : settings.address_map) {
        if (each.announced.host != announced.host ||
            (each.announced.port != 0 && each.announced.port != announced.port))
            continue;
        announced.host = each.reached.host;
        if (each.reached.port != 0)
            announced.port = each.reached.port;
        break;
    }
    return announced;
}

} // namespace leasehold::redis_store

#endif
