#ifndef LEASEHOLD_SRC_REDIS_COMMANDS_NATIVE_FENCES_HPP
#define LEASEHOLD_SRC_REDIS_COMMANDS_NATIVE_FENCES_HPP

#include "redis/commands/slot_floors.hpp"

#include <cstdint>
#include <memory>

namespace leasehold::redis_store {

/// The state of the fence counter as a client with the layout `native` knows it. If `blind` is set
/// or `owed` is not 0, the counter may have gone back, or may not have been raised on this
/// connection. Each draw must then compare it with the server's clock, which only the slow path
/// does.
struct native_fences
{
    const bool blind; ///< Connections may be replaced unnoticed, and the counter may go back.
    const std::shared_ptr<slot_floors> slots; ///< Null: no cluster.
    std::uint64_t floor = 0; ///< The largest fence that this client has seen; no cluster.
    std::uint32_t owed = 0;  ///< Number of the server whose counter was not raised; 0: none.
};

} // namespace leasehold::redis_store

#endif
