#ifndef LEASEHOLD_SRC_REDIS_CLUSTER_SLOT_MAP_HPP
#define LEASEHOLD_SRC_REDIS_CLUSTER_SLOT_MAP_HPP

#include "redis/cluster/master_node.hpp"
#include "redis/cluster/topology.hpp"
#include "redis/protocol/slot.hpp"

#include <leasehold/config.hpp>
#include <leasehold/store.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace leasehold::redis_store::cluster {

/// Who serves each slot, as far as is known, and all nodes that ever did. A node's partition is its
/// number here; 0 is nobody.
class slot_map
{
public:
    explicit slot_map(const master_node::user& told);

    /// 0: nobody, as far as is known.
    [[nodiscard]] store_partition operator[](slot_number slot) const noexcept
    {
        return slots_[slot];
    }

    [[nodiscard]] master_node& get(store_partition partition) const { return *nodes_[partition]; }
    [[nodiscard]] bool knows(store_partition partition) const noexcept
    {
        return partition != 0 && partition < nodes_.size();
    }
    /// The node that is reached there: a new one if there is none yet.
    master_node& at(const config::address& where);
    /// All, nobody included, which is the first. They stay where they are.
    [[nodiscard]] const std::deque<std::unique_ptr<master_node>>& nodes() const noexcept
    {
        return nodes_;
    }

    struct change
    {
        bool whole = false;    ///< The node that told it knows who serves each slot.
        bool any_down = false; ///< Of those that serve; another may be about to take its place.
        /// Nodes that can be reached and serve slots now of one that cannot.
        std::set<store_partition> rescuers{};
    };
    change apply(const topology& found);

    /// The next one behind a slot that the node serves, if there is any other.
    [[nodiscard]] std::optional<slot_number> other_slot_of(store_partition partition,
                                                           slot_number but) const noexcept;

    /// A node serves the slot. False: that is known.
    bool move(slot_number slot, master_node& to);

private:
    const master_node::user& told_;
    std::vector<store_partition> slots_;
    std::deque<std::unique_ptr<master_node>> nodes_;
};

} // namespace leasehold::redis_store::cluster

#endif
