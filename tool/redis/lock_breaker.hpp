#ifndef LEASEHOLD_TOOL_REDIS_LOCK_BREAKER_HPP
#define LEASEHOLD_TOOL_REDIS_LOCK_BREAKER_HPP

#include "locks/lock_admin.hpp"
#include "server/servers.hpp"

#include "redis/redlock/member_names.hpp"

#include <functional>
#include <string>

namespace leasehold::tool {

/// Queries the server that keeps the lock.
using ask_server = std::function<resp_value(const command_words&)>;

/// Removes the lock of one owner with the scripts that release it: they compare and delete in one
/// step, and wake the next waiter. A lock of another owner is not changed, even if the owner
/// changes meanwhile.
/// @throws unreachable, refused, usage_error (it is not a lock)
[[nodiscard]] break_result break_lock(servers& where, const std::string& name,
                                      const std::string& owner);

/// Removes the lock of one owner at one member of a quorum.
/// @param lock The key of the lock.
/// @returns True if the owner held the lock there.
/// @throws unreachable, refused
[[nodiscard]] bool break_member(const ask_server& ask, const quorum::member_keys& keys,
                                const std::string& lock, const std::string& owner,
                                break_result& to);

} // namespace leasehold::tool

#endif
