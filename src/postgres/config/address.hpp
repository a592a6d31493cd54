#ifndef LEASEHOLD_SRC_POSTGRES_CONFIG_ADDRESS_HPP
#define LEASEHOLD_SRC_POSTGRES_CONFIG_ADDRESS_HPP

#include "base/connection_config.hpp"

#include <leasehold/postgres_config.hpp>

#include <string>

namespace leasehold::postgres_store {

/// The address in the form for logs: "db1:5432", "[::1]:5432", "/run/postgresql:5432".
[[nodiscard]] inline std::string name_of(const postgres_config::address& at)
{
    if (at.host.starts_with('/'))
        return at.host + ':' + std::to_string(at.port);
    return detail::host_and_port(at.host, at.port);
}

} // namespace leasehold::postgres_store

#endif
