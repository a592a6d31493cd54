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

/// A simulated Redis Cluster: servers that share the slots, follow each other, and tell clients
/// where a slot is. Made by `world::make_cluster`. What befalls a node alone is a fault of that
/// server, or of a host's way to it.
///
/// Each node has its own view of the others, which is behind when something has changed. A replica
/// has what its master has, but for the lag that a fault names, and serves nothing.
class LEASEHOLD_TESTING_EXPORT cluster
{
public:
    /// How long something takes.
    using duration = clock::duration;

    /// What it is made of.
    struct shape
    {
        std::size_t shards = 3;     ///< Each has as many slots as any.
        std::size_t replicas = 1;   ///< Of each master.
        bool full_coverage = false; ///< While nobody serves some slots, nobody serves any.
    };

    /// A replica has become a master, without the last writes.
    struct promotion
    {
        std::size_t shard;                     ///< Where.
        std::span<const std::string> changed;  ///< Keys of which a change is lost.
        std::span<const std::string> unlocked; ///< Locks that are held no more, or less long.
    };

    /// For the library itself.
    cluster(std::vector<server*> nodes, std::unique_ptr<impl::cluster_state> state) noexcept;
    ~cluster();
    cluster(const cluster&) = delete;
    cluster& operator=(const cluster&) = delete;

    /// All nodes: at first the masters of the shards, in their order, then their replicas.
    [[nodiscard]] std::span<server* const> nodes() const noexcept { return nodes_; }
    /// Where the slot of a name is.
    [[nodiscard]] std::size_t shard_of(std::string_view name) const;
    /// Where a node is: there it stays.
    [[nodiscard]] std::size_t shard_of(const server& node) const;
    /// Who leads a shard.
    [[nodiscard]] server& master(std::size_t shard) const;
    /// The node that has the lock, or would have it.
    [[nodiscard]] server& keeper_of(std::string_view name) const;

    // Faults. Each returns false when it cannot be: something else goes on there, or nobody could
    // take over.

    /// The master of a shard is killed. Its replica takes over after `until_elected`, without the
    /// writes of the last `lag`; the old master follows it `until_back` after its end.
    bool fail_over(std::size_t shard, duration lag, duration until_elected, duration until_back);

    /// The same of the whole machine: nobody is told that its connections have ended, and what is
    /// sent to it vanishes.
    bool switch_off(std::size_t shard, duration lag, duration until_elected, duration until_back);

    /// A master is cut off from the other nodes and serves on until it has noticed. Then its
    /// replica takes over, without what was written meanwhile.
    bool split(std::size_t shard, duration until_noticed, duration until_healed);

    /// The replica takes over and nothing is lost; the connections to its master stay.
    bool switch_over(std::size_t shard);

    /// All nodes of a shard are away for `how_long`, and come back with their data.
    bool shut(std::size_t shard, duration how_long);

    /// The slot of a name goes to another shard, one key after the other with a pause between two;
    /// after `longest` what is left goes at once.
    bool move_slot_of(std::string_view name, std::size_t to, duration each, duration longest);

    /// A node does not hear what has become of the others.
    void hold_back(const server& node, duration how_long);

    /// How often a client was told who serves what by a node that was behind.
    [[nodiscard]] std::uint64_t stale_answers() const noexcept;

    /// Called at every promotion; an empty function ends that.
    void on_promotion(std::function<void(const promotion&)> told);

    /// Called when a host has asked a node who serves what, with its name.
    void on_asked(std::function<void(std::string_view host)> told);

    /// Called when an acquire that a node has sent elsewhere comes again, within the time of the
    /// first one: by how much the limit that it carries is later than at first.
    void on_redirected(
        std::function<void(std::string_view name, std::string_view owner, duration later)> told);

    /// For the library itself.
    [[nodiscard]] impl::cluster_state& state() const noexcept { return *state_; }

private:
    [[nodiscard]] std::size_t number_of(const server& node) const;

    std::vector<server*> nodes_;
    std::unique_ptr<impl::cluster_state> state_;
};

} // namespace leasehold::testing

#endif
