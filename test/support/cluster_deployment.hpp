#ifndef LEASEHOLD_TEST_SUPPORT_CLUSTER_DEPLOYMENT_HPP
#define LEASEHOLD_TEST_SUPPORT_CLUSTER_DEPLOYMENT_HPP

#include "support/port.hpp"
#include "support/redis_server.hpp"
#include "support/resp_client.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace leasehold::test {

/// The settings of a test cluster.
struct cluster_setup
{
    bool replicas = true; ///< One for each master.
    std::vector<std::string> options{};
    /// A node without a message for this time counts as failed.
    std::chrono::milliseconds node_timeout = std::chrono::seconds(5);
    /// The options of one node.
    std::function<std::vector<std::string>(std::size_t index)> options_of{};
    /// The options for the address that a node announces, by its number and port.
    std::function<std::vector<std::string>(std::size_t index, std::uint16_t port)> announces{};
};

/// Three masters, and a replica of each, on separate ports of 127.0.0.1. It takes about two seconds
/// to form, so use one for each test program.
class cluster_deployment
{
public:
    static constexpr std::size_t master_count = 3;
    static constexpr std::size_t slot_count = 16384;
    static constexpr std::chrono::milliseconds limit = std::chrono::seconds(
        60); ///< For each wait, then `std::runtime_error`.

    /// Returns when all nodes serve, and the replicas follow.
    explicit cluster_deployment(cluster_setup setup = {});
    ~cluster_deployment();
    cluster_deployment(const cluster_deployment&) = delete;
    cluster_deployment& operator=(const cluster_deployment&) = delete;

    std::string url() const; ///< `redis+cluster://127.0.0.1:p1,127.0.0.1:p2,127.0.0.1:p3`

    std::size_t size() const noexcept { return nodes_.size(); }
    redis_server& node(std::size_t index) { return *nodes_.at(index)->server; }
    resp_client connect(std::size_t index) const;

    /// The node that claims to be a master and to serve the slot of the key.
    std::size_t master_of(const std::string& key);
    resp_client connect_to(const std::string& key) { return connect(master_of(key)); }
    /// Waits until a node other than `than` serves the key.
    std::size_t wait_for_other_master(const std::string& key, std::size_t than);
    /// The other node of the same shard: the replica of this one, or its master.
    std::size_t other_of(std::size_t index) const noexcept
    {
        return index < master_count ? index + master_count : index - master_count;
    }
    /// The master of another shard, of which there are two.
    std::size_t master_besides(std::size_t index, std::size_t which);
    /// A name that the node serves now: `prefix` and a number.
    std::string name_at(std::size_t index, const std::string& prefix = "name:");

    static std::uint16_t slot_of(const std::string& key);

    /// Swaps the master of the key and its replica. Both keep their connections. Returns the new
    /// master.
    std::size_t switch_master(const std::string& key);

    /// @name Moves the slot of the key to another master, step by step, or at once. In the end, all
    /// nodes know
    /// @{
    void begin_move(const std::string& key, std::size_t to);
    void move_keys(const std::string& key, std::size_t to);
    void end_move(const std::string& key, std::size_t to);
    void move(const std::string& key, std::size_t to);
    /// @}

    /// From now on, no node serves the slot of the key, nor, by the servers' settings, any slot.
    /// This lasts until it is assigned again, and all nodes know.
    void orphan_slot(const std::string& key);
    void adopt_slot(const std::string& key, std::size_t by);

    /// Deletes everything.
    void clear();
    /// Waits until all nodes serve, and a replica follows each master.
    void wait_until_whole();

private:
    struct node_state
    {
        reserved_port bus;
        std::unique_ptr<redis_server> server;
        std::string id;
    };

    /// The node of a slot, and since when, from the point of view of one node.
    struct slot_claim
    {
        std::string id;
        std::string epoch;
        bool operator==(const slot_claim&) const = default;
    };

    slot_claim claim_seen_by(std::size_t index, std::uint16_t slot) const;
    bool serves(std::size_t index, std::uint16_t slot) const;
    void wait_until_known(std::uint16_t slot, std::size_t owner, const std::string& awaited);
    void poll(const std::function<bool()>& reached, const std::string& awaited) const;

    cluster_setup setup_;
    std::vector<std::unique_ptr<node_state>> nodes_;
};

} // namespace leasehold::test

#endif
