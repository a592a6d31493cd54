#ifndef LEASEHOLD_TESTING_CLUSTER_HPP
#define LEASEHOLD_TESTING_CLUSTER_HPP

#include <leasehold/clock.hpp>
#include <leasehold/detail/export.hpp>
#include <leasehold/testing/server.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::testing {

namespace impl {

class cluster_state;

} // namespace impl

/// A simulated Redis Cluster: servers that share the slots, replicate, and redirect clients. Made
/// by `world::make_cluster`. For a fault of one node, use its `server`, or the network of a host.
///
/// Each node has its own view of the others, which may be outdated after a change. A replica has
/// the data of its master, except for the lag of a fault, and serves no requests.
class LEASEHOLD_TESTING_EXPORT cluster
{
public:
    /// The type of durations.
    using duration = clock::duration;

    /// The size and the options of a cluster.
    struct shape
    {
        std::size_t shards = 3;     ///< Each has the same number of slots.
        std::size_t replicas = 1;   ///< Of each master.
        bool full_coverage = false; ///< While some slots have no master, no node serves any slot.
    };

    /// A replica has become a master, without the last writes.
    struct promotion
    {
        std::size_t shard;                     ///< The shard of the replica.
        std::span<const std::string> changed;  ///< Keys with a lost change.
        std::span<const std::string> unlocked; ///< Locks that are lost, or have a shorter TTL.
    };

    /// @cond
    // For the library itself.
    cluster(std::vector<server*> nodes, std::unique_ptr<impl::cluster_state> state) noexcept;
    /// @endcond
    ~cluster();
    cluster(const cluster&) = delete;
    cluster& operator=(const cluster&) = delete;

    /// All nodes: at first the masters of the shards, in order, then their replicas.
    [[nodiscard]] std::span<server* const> nodes() const noexcept { return nodes_; }
    /// The shard of the slot of a name.
    [[nodiscard]] std::size_t shard_of(std::string_view name) const;
    /// The shard of a node. It never changes.
    [[nodiscard]] std::size_t shard_of(const server& node) const;
    /// The current master of a shard.
    [[nodiscard]] server& master(std::size_t shard) const;
    /// The node that serves the lock of that name.
    [[nodiscard]] server& keeper_of(std::string_view name) const;

    // Faults. Each returns false if it is impossible: another fault is active there, or there is no
    // node to take over.

    /// Kills the master of a shard. Its replica takes over after `until_elected`, without the
    /// writes of the last `lag`. The old master becomes a replica `until_back` after its end.
    bool fail_over(std::size_t shard, duration lag, duration until_elected, duration until_back);

    /// As `fail_over`, for the whole machine: clients get no reset, and messages to it are lost.
    bool switch_off(std::size_t shard, duration lag, duration until_elected, duration until_back);

    /// Cuts a master off from the other nodes. It serves requests until it detects this. Then its
    /// replica takes over, without the writes since the cut.
    bool split(std::size_t shard, duration until_noticed, duration until_healed);

    /// The replica takes over without a loss. The connections to its master stay open.
    bool switch_over(std::size_t shard);

    /// Stops all nodes of a shard for `how_long`. They return with their data.
    bool shut(std::size_t shard, duration how_long);

    /// Moves the slot of a name to another shard, key by key with a pause of `each`. After
    /// `longest` the remaining keys move at once.
    bool move_slot_of(std::string_view name, std::size_t to, duration each, duration longest);

    /// Whether the slot of the name is moving to another shard.
    [[nodiscard]] bool is_moving(std::string_view name) const;

    /// The node gets no news of the other nodes.
    void hold_back(const server& node, duration how_long);

    /// The number of outdated maps of the slots that clients have received.
    [[nodiscard]] std::uint64_t stale_answers() const noexcept;

    /// Sets the function that is called at each promotion. An empty function removes it.
    void on_promotion(std::function<void(const promotion&)> handler);

    /// Called when a slot has moved to another shard, with its number.
    void on_moved(std::function<void(unsigned slot)> handler);

    /// Called when a host has requested the map of the slots from a node, with the name of the
    /// host.
    void on_map_request(std::function<void(std::string_view host)> handler);

    /// Called when an acquire that a node has redirected arrives again, within the time of the
    /// first one. `later` is the difference between the limits of the two requests.
    void on_redirected(
        std::function<void(std::string_view name, std::string_view owner, duration later)> handler);

    /// @cond
    // For the library itself.
    [[nodiscard]] impl::cluster_state& state() const noexcept { return *state_; }
    /// @endcond

private:
    [[nodiscard]] std::size_t number_of(const server& node) const;

    std::vector<server*> nodes_;
    std::unique_ptr<impl::cluster_state> state_;
};

} // namespace leasehold::testing

#endif
