#ifndef LEASEHOLD_TOOL_LOCKS_LOCK_BREAKER_HPP
#define LEASEHOLD_TOOL_LOCKS_LOCK_BREAKER_HPP

#include "lock_state.hpp"

#include "server/servers.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace leasehold::tool {

/// Queries the server that keeps the lock.
using ask_server = std::function<resp_value(const command_words&)>;

/// The result of breaking a lock.
struct break_result
{
    enum class outcome : std::uint8_t
    {
        freed,        ///< The lock is free, and its waiters were notified.
        granted_next, ///< The next waiter holds it.
        not_held,     ///< There was no lock. Nothing was changed.
        other_owner,  ///< Another owner holds it. Nothing was changed.
    };
    outcome result = outcome::not_held;
    lock_state before{};      ///< The lock before the change; with `other_owner` its holder.
    std::string next{};       ///< Passed on: the new owner.
    std::size_t notified = 0; ///< Freed: the number of notified clients.
    std::size_t members = 0;  ///< The number of members of a quorum that had the lock.
};

/// Removes the lock of one owner with the scripts that release it: they compare and delete in one
/// step, and wake the next waiter. A lock of another owner is not changed, even if the owner
/// changes meanwhile.
/// @throws unreachable, refused, usage_error (it is not a lock)
[[nodiscard]] break_result break_lock(servers& where, const std::string& name,
                                      const std::string& owner);

/// Removes the lock of one owner at one member of a quorum.
/// @returns True if the owner held the lock there.
/// @throws unreachable, refused
[[nodiscard]] bool break_member(const ask_server& ask, const std::string& name,
                                const std::string& owner, break_result& to);

} // namespace leasehold::tool

#endif
