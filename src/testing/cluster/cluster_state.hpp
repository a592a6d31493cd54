#ifndef LEASEHOLD_SRC_TESTING_CLUSTER_CLUSTER_STATE_HPP
#define LEASEHOLD_SRC_TESTING_CLUSTER_CLUSTER_STATE_HPP

#include "testing/cluster/cluster_node.hpp"
#include "testing/cluster/slot_table.hpp"
#include "testing/server/server_state.hpp"
#include "testing/time/scheduler.hpp"

#include <leasehold/clock.hpp>
#include <leasehold/testing/cluster.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::testing::impl {

/// A cluster: its true topology, the time at which its nodes learn it, and its faults.
class cluster_state final : public cluster_knowledge
{
public:
    cluster_state(scheduler& all, const std::vector<server_state*>& servers,
                  const cluster::shape& of);

    [[nodiscard]] std::size_t shard_of(std::string_view name) const;
    [[nodiscard]] std::size_t shard_of_node(std::size_t node) const noexcept
    {
        return nodes_[node].shard;
    }
    [[nodiscard]] server_state& master(std::size_t shard) const;
    /// The server that has the lock, if any has it.
    [[nodiscard]] server_state& keeper_of(std::string_view name) const;

    bool fail_over(std::size_t shard, clock::duration lag, clock::duration until_elected,
                   clock::duration until_back, bool silently);
    bool split(std::size_t shard, clock::duration until_noticed, clock::duration until_healed);
    bool switch_over(std::size_t shard);
    bool shut(std::size_t shard, clock::duration how_long);
    bool move(slot_number slot, std::size_t to, clock::duration each, clock::duration longest);
    void hold_back(std::size_t node, clock::duration how_long);

    // For its nodes.
    [[nodiscard]] const std::deque<cluster_node>& nodes() const override { return nodes_; }
    [[nodiscard]] const migration* migration_of(slot_number slot) const override;
    [[nodiscard]] bool is_down() const override;
    void restarted(std::size_t node) override;
    void topology_reply(const cluster_node& by, std::string_view client) override;
    void follow(const lock_request& request, bool runs) override;

    std::uint64_t stale_answers = 0;
    std::function<void(const cluster::promotion&)> on_promotion;
    std::function<void(unsigned)> on_moved;
    std::function<void(std::string_view)> on_map_request;
    std::function<void(std::string_view, std::string_view, clock::duration)> on_redirected;

private:
    [[nodiscard]] cluster_node& master_node(std::size_t shard)
    {
        return nodes_[truth_.masters[shard]];
    }
    /// Null: no node can take over.
    [[nodiscard]] cluster_node* follower_of(std::size_t shard);
    [[nodiscard]] bool is_busy(std::size_t shard) const;
    void keep_busy(std::size_t shard, clock::duration how_long);
    void promote(cluster_node& which, clock::time_point last_write_seen);
    void count_replicas();
    void spread();
    void notify(cluster_node& which, clock::duration after);
    void step(slot_number slot);
    void finish(slot_number slot, migration done);
    [[nodiscard]] clock::duration between(std::chrono::milliseconds low,
                                          std::chrono::milliseconds high);

    scheduler& time_;
    const bool full_coverage_;
    slot_table truth_;
    std::deque<cluster_node> nodes_; // their addresses are stable
    std::map<slot_number, migration> migrations_;
    /// The limit of a rejected acquire, by its owner and entry, from its first arrival.
    std::map<std::pair<std::string, std::string>, std::int64_t> limits_;
    std::vector<clock::time_point> busy_until_;  ///< Of each shard.
    std::vector<clock::time_point> failed_from_; ///< Of each shard: no node serves it.
};

} // namespace leasehold::testing::impl

#endif
