#ifndef LEASEHOLD_SRC_REDIS_CONFIG_ADDRESS_MAP_HPP
#define LEASEHOLD_SRC_REDIS_CONFIG_ADDRESS_MAP_HPP

#include <leasehold/redis_config.hpp>

namespace leasehold::redis_store {

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
