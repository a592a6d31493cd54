#ifndef LEASEHOLD_SRC_REDIS_CLUSTER_TOPOLOGY_HPP
#define LEASEHOLD_SRC_REDIS_CLUSTER_TOPOLOGY_HPP

#include "redis/cluster/reply_tree.hpp"
#include "redis/protocol/slot.hpp"

#include <leasehold/config.hpp>
#include <leasehold/detail/export.hpp>

#include <cstddef>
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
    std::vector<config::address> masters; ///< The masters that serve slots.
    std::vector<range> ranges;
    std::vector<config::address> others; ///< Replicas, which know the topology, too.
};

/// The client's address for an address that a cluster announces.
class LEASEHOLD_REDIS_EXPORT address_reading
{
public:
    /// @param settings Of the cluster.
    explicit address_reading(const config& settings) : settings_(&settings) {}

    /// @param said An empty host means the host of `asked`.
    [[nodiscard]] config::address operator()(const config::address& said,
                                             const config::address& asked) const;

    [[nodiscard]] bool tls() const noexcept { return settings_->tls; }

private:
    const config* settings_;
};

/// Reads the reply to CLUSTER SHARDS. Nothing if it names no node for any slot.
[[nodiscard]] LEASEHOLD_REDIS_EXPORT std::optional<topology> read_shards(
    const reply_tree& answer, const config::address& asked, const address_reading& reached);

/// As above, CLUSTER SLOTS, which servers before 7.0 know.
[[nodiscard]] LEASEHOLD_REDIS_EXPORT std::optional<topology> read_slots(
    const reply_tree& answer, const config::address& asked, const address_reading& reached);

} // namespace leasehold::redis_store::cluster

#endif
