#ifndef LEASEHOLD_SRC_REDIS_CLUSTER_SLOT_MAP_HPP
#define LEASEHOLD_SRC_REDIS_CLUSTER_SLOT_MAP_HPP

#include "redis/cluster/master_node.hpp"
#include "redis/cluster/topology.hpp"
#include "redis/protocol/slot.hpp"

#include <leasehold/redis_config.hpp>
#include <leasehold/store.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace leasehold::redis_store::cluster {

/// The node that serves each slot, as far as is known, and all nodes that ever did. A node's
/// partition is its index here; 0 is no node.
class slot_map
{
public:
    explicit slot_map(const master_node::user& callbacks);

    /// 0: no node, as far as is known.
    [[nodiscard]] store_partition operator[](slot_number slot) const noexcept
    {
        return slots_[slot];
    }

    [[nodiscard]] master_node& get(store_partition partition) const { return *nodes_[partition]; }
    [[nodiscard]] bool knows(store_partition partition) const noexcept
    {
        return partition != 0 && partition < nodes_.size();
    }
    /// The node at the address: a new one if there is none yet.
    master_node& at(const redis_config::address& where);
    /// All nodes. The first is no node. Their addresses are stable.
    [[nodiscard]] const std::deque<std::unique_ptr<master_node>>& nodes() const noexcept
    {
        return nodes_;
    }

    struct change
    {
        bool whole = false;    ///< The node that reported it knows the node of every slot.
        bool any_down = false; ///< A serving node is down; another may be about to replace it.
        /// Reachable nodes that now serve slots of an unreachable one.
        std::set<store_partition> rescuers{};
    };
    change apply(const topology& found);

    /// The next slot after it that the node serves, if there is another.
    [[nodiscard]] std::optional<slot_number> other_slot_of(store_partition partition,
                                                           slot_number but) const noexcept;

    /// Records that a node serves the slot. False: that was known.
    bool move(slot_number slot, master_node& to);

private:
    const master_node::user& callbacks_;
    std::vector<store_partition> slots_;
    std::deque<std::unique_ptr<master_node>> nodes_;
};

} // namespace leasehold::redis_store::cluster

#endif
