#ifndef LEASEHOLD_SRC_TESTING_CLUSTER_SLOT_TABLE_HPP
#define LEASEHOLD_SRC_TESTING_CLUSTER_SLOT_TABLE_HPP

#include "redis/protocol/slot.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace leasehold::testing::impl {

using redis_store::slot_count;
using redis_store::slot_number;

/// The shard of each slot of a simulated cluster, and the master of each shard, from one point of
/// view. At first all shards have the same number of slots, in one piece, and node 0 is the master
/// of shard 0.
struct slot_table
{
    explicit slot_table(std::size_t shards) : masters(shards)
    {
        std::iota(masters.begin(), masters.end(), std::size_t(0));
    }

    [[nodiscard]] std::size_t first_shard_of(slot_number slot) const noexcept
    {
        return slot * masters.size() / slot_count;
    }

    /// The smallest slot that initially belongs to this shard, or a later one.
    [[nodiscard]] std::size_t begin_of(std::size_t shard) const noexcept
    {
        return (shard * slot_count + masters.size() - 1) / masters.size();
    }

    [[nodiscard]] std::size_t shard_of(slot_number slot) const
    {
        const auto found = moved.find(slot);
        return found != moved.end() ? found->second : first_shard_of(slot);
    }

    void move(slot_number slot, std::size_t shard)
    {
        ++epoch;
        if (first_shard_of(slot) == shard)
            moved.erase(slot);
        else
            moved[slot] = shard;
    }

    /// First and last ones.
    [[nodiscard]] std::vector<std::pair<slot_number, slot_number>> ranges_of(
        std::size_t shard) const
    {
        std::vector<std::pair<slot_number, slot_number>> all;
        const auto add = [&](std::size_t begin, std::size_t end) {
            if (begin >= end)
                return;
            const auto last = static_cast<slot_number>(end - 1);
            if (!all.empty() && all.back().second + 1U == begin)
                all.back().second = last;
            else
                all.emplace_back(static_cast<slot_number>(begin), last);
        };
        const std::size_t first = begin_of(shard), behind = begin_of(shard + 1);
        std::size_t next = 0;
        for (const auto& [slot, owner] : moved) {
            add(std::max(next, first), std::min<std::size_t>(slot, behind));
            if (owner == shard)
                add(slot, slot + 1U);
            next = slot + 1U;
        }
        add(std::max(next, first), behind);
        return all;
    }

    friend bool operator==(const slot_table& a, const slot_table& b)
    {
        return a.masters == b.masters && a.moved == b.moved;
    }

    std::uint64_t epoch = 1; ///< The number of changes; each node knows the largest it has seen.
    std::vector<std::size_t> masters;         ///< Of each shard.
    std::map<slot_number, std::size_t> moved; ///< Slots that are not at their initial shard.
};

} // namespace leasehold::testing::impl

#endif
