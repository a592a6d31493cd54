#ifndef LEASEHOLD_TOOL_WATCH_LOCK_CHANGES_HPP
#define LEASEHOLD_TOOL_WATCH_LOCK_CHANGES_HPP

#include "locks/lock_state.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace leasehold::tool {

/// What has become of a lock from one look to the next.
struct lock_change
{
    enum class kind : std::uint8_t
    {
        held, ///< At the first look.
        taken,
        passed, ///< Another owner has it than before.
        silent, ///< Its holder gives no signs of life any more,
        heard,  ///< or gives them again.
        freed,
    };
    kind what;
    lock_state lock; ///< As it was seen last.
};

[[nodiscard]] const char* name_of(lock_change::kind) noexcept;

/// Compares each look with the one before.
class lock_changes
{
public:
    /// @param complete Otherwise what is not seen may be there all the same.
    [[nodiscard]] std::vector<lock_change> look(std::span<const lock_state> now, bool complete);

private:
    std::map<std::string, lock_state> before_;
    bool looked_ = false;
};

} // namespace leasehold::tool

#endif
