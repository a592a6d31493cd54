#ifndef LEASEHOLD_SRC_REDIS_COMMANDS_SLOT_FLOORS_HPP
#define LEASEHOLD_SRC_REDIS_COMMANDS_SLOT_FLOORS_HPP

#include "redis/protocol/slot.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <cstdint>

namespace leasehold::redis_store {

/// The largest fence of each slot that a client has seen, from any node. A node that takes over may
/// have lost the last draws, and its clock may be behind.
class slot_floors
{
public:
    [[nodiscard]] std::uint64_t of(slot_number slot) const noexcept
    {
        const auto found = floors_.find(slot);
        return found != floors_.end() ? found->second : 0;
    }

    void saw(slot_number slot, std::uint64_t fence)
    {
        std::uint64_t& floor = floors_[slot];
        floor = std::max(floor, fence);
    }

private:
    boost::unordered_flat_map<slot_number, std::uint64_t> floors_;
};

} // namespace leasehold::redis_store

#endif
