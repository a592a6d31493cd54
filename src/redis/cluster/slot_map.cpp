#include "redis/cluster/slot_map.hpp"

#include <algorithm>
#include <utility>

namespace leasehold::redis_store::cluster {

slot_map::slot_map(const master_node::user& callbacks)
    : callbacks_(callbacks), slots_(slot_count, 0)
{
    nodes_.push_back(std::make_unique<master_node>(0, redis_config::address{}, callbacks_));
}

master_node& slot_map::at(const redis_config::address& where)
{
    const auto found = std::find_if(nodes_.begin() + 1, nodes_.end(),
                                    [&](const auto& each) { return each->at == where; });
    if (found != nodes_.end())
        return **found;
    const auto number = static_cast<store_partition>(nodes_.size());
    return *nodes_.emplace_back(std::make_unique<master_node>(number, where, callbacks_));
}

slot_map::change slot_map::apply(const topology& found)
{
    for (const auto& each : nodes_)
        each->serves = false;
    std::vector<store_partition> masters;
    for (const redis_config::address& each : found.masters) {
        master_node& node = at(each);
        node.serves = true;
        masters.push_back(node.partition);
    }
    std::vector<store_partition> next(slot_count, 0);
    for (const topology::range& each : found.ranges)
        std::fill(next.begin() + each.first, next.begin() + each.last + 1, masters[each.master]);
    change result;
    result.whole = std::find(next.begin(), next.end(), 0u) == next.end();
    // A node without the owner of a slot may not know all nodes; the previous owner will redirect.
    for (std::size_t i = 0; i < slot_count; ++i) {
        if (next[i] == 0 && slots_[i] != 0) {
            next[i] = slots_[i];
            get(next[i]).serves = true;
        }
    }
    for (std::size_t i = 0; i < slot_count; ++i) {
        if (next[i] != slots_[i] && !get(slots_[i]).announced && get(next[i]).announced)
            result.rescuers.insert(next[i]);
    }
    slots_ = std::move(next);
    result.any_down = std::any_of(nodes_.begin(), nodes_.end(), [](const auto& each) {
        return each->serves && each->now == master_node::state::down;
    });
    return result;
}

std::optional<slot_number> slot_map::other_slot_of(store_partition partition,
                                                   slot_number but) const noexcept
{
    for (std::size_t i = 1; i < slot_count; ++i) {
        const auto each = static_cast<slot_number>((but + i) % slot_count);
        if (slots_[each] == partition)
            return each;
    }
    return std::nullopt;
}

bool slot_map::move(slot_number slot, master_node& to)
{
    if (slots_[slot] == to.partition)
        return false;
    slots_[slot] = to.partition;
    to.serves = true;
    return true;
}

} // namespace leasehold::redis_store::cluster
