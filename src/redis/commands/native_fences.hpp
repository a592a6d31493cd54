#ifndef LEASEHOLD_SRC_REDIS_COMMANDS_NATIVE_FENCES_HPP
#define LEASEHOLD_SRC_REDIS_COMMANDS_NATIVE_FENCES_HPP

#include "base/mutant.hpp"
#include "redis/commands/command_set.hpp"
#include "redis/commands/slot_floors.hpp"

#include <leasehold/store.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>

namespace leasehold::redis_store {

/// The state of the fence counter as a client with the layout `native` knows it.
struct native_fences
{
    const bool blind; ///< Connections may be replaced unnoticed, and the counter may go back.
    const std::shared_ptr<slot_floors> slots; ///< Null: no cluster.
    std::uint64_t floor = 0; ///< The largest fence that this client has seen; no cluster.
    std::uint32_t owed = 0;  ///< Number of the server whose counter was not raised; 0: none.

    /// Whether the counter may have gone back, or was not raised on this connection. Each draw must
    /// then compare it with the server's clock, which only the slow path does.
    [[nodiscard]] bool doubtful() const noexcept { return blind || owed != 0; }

    /// Whether the `count` fences up to `last` may be granted.
    [[nodiscard]] static bool fits(const call& made, std::int64_t last, std::int64_t count)
    {
        // After FLUSHALL, or without its counter, the server may draw fences that this client has
        // seen.
        return count > 0 && count <= static_cast<std::int64_t>(made.fences) && last >= count &&
               (static_cast<std::uint64_t>(last - count) >= made.floor ||
                (made.fast_path && has(mutant::short_fence_unchecked)));
    }

    /// Stores the `count` fences up to `last`; false if they may not be granted.
    bool take(const call& made, std::int64_t last, std::int64_t count, acquire_reply& into)
    {
        if (count <= 0 || last < count)
            return false;
        const auto end = static_cast<std::uint64_t>(last);
        if (slots)
            slots->saw(made.slot, end);
        else
            floor = std::max(floor, end);
        if (!fits(made, last, count))
            return false;
        if (made.raises == owed)
            owed = 0;
        into.fences = static_cast<std::uint32_t>(count);
        into.first_fence = end - into.fences + (has(mutant::blocks_overlap) ? 0 : 1);
        return true;
    }
};

} // namespace leasehold::redis_store

#endif
