#ifndef LEASEHOLD_SRC_REDIS_CLUSTER_TOPOLOGY_HPP
#define LEASEHOLD_SRC_REDIS_CLUSTER_TOPOLOGY_HPP

#include "redis/cluster/reply_tree.hpp"
#include "redis/protocol/slot.hpp"

#include <leasehold/detail/export.hpp>
#include <leasehold/redis_config.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace leasehold::redis_store::cluster {

/// The slots and their nodes, as one node of a cluster sees them.
struct topology
{
    struct range
    {
        slot_number first;
        slot_number last;   ///< Included.
        std::size_t master; ///< Its index in `masters`.
    };
    std::vector<redis_config::address> masters; ///< The masters that serve slots.
    std::vector<range> ranges;
    std::vector<redis_config::address> others; ///< Replicas, which know the topology, too.
    /// `cluster_current_epoch` of the node: rises with each failover, and each slot that moves. 0:
    /// unknown.
    std::uint64_t epoch = 0;
};

/// The client's address for an address that a cluster announces.
class LEASEHOLD_REDIS_EXPORT address_reading
{
public:
    /// @param settings Of the cluster.
    explicit address_reading(const redis_config& settings) : settings_(&settings) {}

    /// @param announced An empty host means the host of `from`.
    [[nodiscard]] redis_config::address operator()(const redis_config::address& announced,
                                                   const redis_config::address& from) const;

    [[nodiscard]] bool tls() const noexcept { return settings_->tls; }

private:
    const redis_config* settings_;
};

/// Reads the reply to CLUSTER SHARDS. Nothing if it names no node for any slot.
[[nodiscard]] LEASEHOLD_REDIS_EXPORT std::optional<topology> read_shards(
    const reply_tree& answer, const redis_config::address& from, const address_reading& reached);

/// As above, CLUSTER SLOTS, which servers before 7.0 know.
[[nodiscard]] LEASEHOLD_REDIS_EXPORT std::optional<topology> read_slots(
    const reply_tree& answer, const redis_config::address& from, const address_reading& reached);

} // namespace leasehold::redis_store::cluster

#endif
