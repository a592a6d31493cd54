#ifndef LEASEHOLD_TOOL_REDIS_LOCK_KEYS_HPP
#define LEASEHOLD_TOOL_REDIS_LOCK_KEYS_HPP

#include "redis/commands/native_keys.hpp"
#include "redis/protocol/slot.hpp"

#include <string>

namespace leasehold::tool {

/// The keys of one lock of the layout `native`.
struct native_lock_keys
{
    /// @param lock The key of the lock.
    native_lock_keys(const redis_store::native_keys& keys, const std::string& lock, bool in_cluster)
        : fence(keys.fence())
    {
        if (in_cluster)
            keys.fence_in(redis_store::slot_of(lock), fence);
        keys.queue(lock, queue);
        keys.waiters(lock, waiters);
        keys.entries(lock, entries);
    }

    std::string fence; ///< That of all locks, or of the slot.
    std::string queue, waiters, entries;
};

} // namespace leasehold::tool

#endif
