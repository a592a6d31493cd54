#ifndef LEASEHOLD_SRC_REDIS_SERVER_SERVER_STORE_HPP
#define LEASEHOLD_SRC_REDIS_SERVER_SERVER_STORE_HPP

#include "redis/connection/environment.hpp"
#include "redis/pipeline/transport.hpp"

#include <leasehold/redis_config.hpp>
#include <leasehold/store.hpp>

#include <memory>
#include <optional>

namespace leasehold::redis_store {

/// The store on one server, or on the current master of a Sentinel deployment.
/// @param blind   As for `native_commands`.
/// @param wakeups The address of the connections for messages; none: there are no messages.
[[nodiscard]] std::shared_ptr<store> make_server_store(std::shared_ptr<transport> way,
                                                       const redis_config& limits, bool blind,
                                                       const std::optional<redis_config>& wakeups,
                                                       const std::shared_ptr<environment>& from);

} // namespace leasehold::redis_store

#endif
