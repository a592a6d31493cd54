#ifndef LEASEHOLD_TOOL_WATCH_LOCK_CHANGES_HPP
#define LEASEHOLD_TOOL_WATCH_LOCK_CHANGES_HPP

#include "locks/lock_state.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace leasehold::tool {

/// The change of a lock between two reads.
struct lock_change
{
    enum class kind : std::uint8_t
    {
        held, ///< Held at the first read.
        taken,
        passed, ///< Its owner has changed.
        silent, ///< Its holder has missed heartbeats.
        heard,  ///< Its holder sends heartbeats again.
        freed,
    };
    kind what;
    lock_state lock; ///< The last state that was read.
};

[[nodiscard]] const char* name_of(lock_change::kind) noexcept;

/// Compares each read with the previous one.
class lock_changes
{
public:
    /// @param complete False: a lock that is not in `now` may still be held.
    [[nodiscard]] std::vector<lock_change> update(std::span<const lock_state> now, bool complete);

private:
    std::map<std::string, lock_state> before_;
    bool updated_ = false;
};

} // namespace leasehold::tool

#endif
