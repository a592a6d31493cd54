#ifndef LEASEHOLD_TOOL_REDIS_LOCK_SWEEP_HPP
#define LEASEHOLD_TOOL_REDIS_LOCK_SWEEP_HPP

#include "key_scan.hpp"
#include "lock_reader.hpp"
#include "locks/lock_admin.hpp"
#include "server/servers.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace leasehold::tool {

/// Reads the locks of servers repeatedly: the known ones each time, and all other keys in small
/// steps, to find new locks.
class lock_sweep
{
public:
    /// @param known The locks of a complete list.
    lock_sweep(std::string pattern, std::vector<lock_state> known)
        : pattern_(std::move(pattern)), known_(std::move(known))
    {}

    /// @param limit The time for the steps. There is at least one, and at most one whole sweep.
    /// @throws unreachable, refused, interrupted
    [[nodiscard]] lock_list next(servers& where, std::chrono::nanoseconds limit);

private:
    /// Moves to the next scan if the current one is done. Returns false at the end of the sweep.
    bool advance(const servers& where);
    void begin(const servers& where, std::size_t place, key_scan::type of);

    std::string pattern_;
    std::vector<lock_state> known_;
    std::optional<key_scan> scan_{}; ///< The current one.
};

} // namespace leasehold::tool

#endif
