#ifndef LEASEHOLD_SRC_REDIS_REDLOCK_PARTIAL_LOCK_HPP
#define LEASEHOLD_SRC_REDIS_REDLOCK_PARTIAL_LOCK_HPP

#include "fsm/quorum/member_leases.hpp"

#include <leasehold/store.hpp>

#include <chrono>
#include <string>

namespace leasehold::quorum {

/// A lock that a majority of the members has, but not all: some could not be reached, or have lost
/// it. It is created there as soon as they can be reached.
struct partial_lock
{
    partial_lock(const renewal& of, const fsm::quorum_size& size)
        : name(of.name), owner(of.owner), entry(of.entry), lease(of.lease), at(size)
    {}

    [[nodiscard]] renewal what() const noexcept { return {name, owner, lease, entry}; }

    const std::string name;
    const std::string owner;
    const std::string entry;
    std::chrono::milliseconds lease;
    fsm::member_leases at;
    bool left = false; ///< Released: it must not be created any more.
};

} // namespace leasehold::quorum

#endif
