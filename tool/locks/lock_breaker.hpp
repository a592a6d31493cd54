#ifndef LEASEHOLD_TOOL_LOCKS_LOCK_BREAKER_HPP
#define LEASEHOLD_TOOL_LOCKS_LOCK_BREAKER_HPP

#include "lock_state.hpp"

#include "server/servers.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace leasehold::tool {

/// Asks the server that has the lock.
using ask_server = std::function<resp_value(const command_words&)>;

/// What became of a lock that was to be broken.
struct break_result
{
    enum class outcome : std::uint8_t
    {
        freed,       ///< Nobody has it now, and those who wait were told.
        passed_on,   ///< The next in line has it.
        not_held,    ///< There was no lock. Nothing was touched.
        other_owner, ///< Somebody else has it. Nothing was touched.
    };
    outcome result = outcome::not_held;
    lock_state before{};     ///< The lock as it was found; with `other_owner` its holder.
    std::string next{};      ///< Passed on: whose it is.
    std::size_t told = 0;    ///< Freed: how many listened.
    std::size_t members = 0; ///< Of a quorum: how many had it.
};

/// Ends what one owner holds, with the scripts that the owner itself would leave with: compare and
/// delete in one step, and the next in line is woken. Nobody else's lock is touched, also when it
/// changes hands meanwhile.
/// @throws unreachable, refused, usage_error (it is no lock)
[[nodiscard]] break_result break_lock(servers& where, const std::string& name,
                                      const std::string& owner);

/// The same at one member of a quorum.
/// @returns Whether the owner held the lock there.
/// @throws unreachable, refused
[[nodiscard]] bool break_member(const ask_server& ask, const std::string& name,
                                const std::string& owner, break_result& to);

} // namespace leasehold::tool

#endif
