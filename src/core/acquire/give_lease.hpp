#ifndef LEASEHOLD_SRC_CORE_ACQUIRE_GIVE_LEASE_HPP
#define LEASEHOLD_SRC_CORE_ACQUIRE_GIVE_LEASE_HPP

#include "core/async/operation.hpp"
#include "core/lease/ownership.hpp"
#include "core/turn/turn_context.hpp"

#include <leasehold/lease.hpp>

#include <cstdint>

namespace leasehold::detail {

/// Makes a lease of what an ownership holds and completes an operation with it.
/// @param since When the operation was begun.
void give_lease(turn_context& client, completion<error_code, lease>& to, ownership& from,
                std::uint64_t fence, clock::time_point since, bool handed_over);

} // namespace leasehold::detail

#endif
