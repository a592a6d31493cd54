#ifndef LEASEHOLD_SRC_REDIS_REDLOCK_OPERATIONS_HPP
#define LEASEHOLD_SRC_REDIS_REDLOCK_OPERATIONS_HPP

#include "redis/redlock/quorum_state.hpp"

#include <leasehold/store.hpp>

#include <memory>

namespace leasehold::quorum {

/// Acquires the lock at a quorum of members, or at none.
void start_acquire(const std::shared_ptr<quorum_state>& of, const acquire_request& request,
                   store::acquire_handler done);

/// Acquires a lock again at a quorum of members, or at none.
void start_reenter(const std::shared_ptr<quorum_state>& of, const acquire_request& request,
                   store::acquire_handler done);

/// Renews locks at a majority of members.
void start_renew(const std::shared_ptr<quorum_state>& of, std::span<const renewal> renewals,
                 store::renew_handler done);

/// Releases a lock at all members.
void start_release(const std::shared_ptr<quorum_state>& of, const release_request& request,
                   store::release_handler done);

} // namespace leasehold::quorum

#endif
