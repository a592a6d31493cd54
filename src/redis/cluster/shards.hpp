#ifndef LEASEHOLD_SRC_REDIS_CLUSTER_SHARDS_HPP
#define LEASEHOLD_SRC_REDIS_CLUSTER_SHARDS_HPP

#include "core/async/context_lifetime.hpp"
#include "core/async/context_poster.hpp"
#include "core/turn/time_source.hpp"
#include "fsm/contention/backoff.hpp"
#include "redis/cluster/master_node.hpp"
#include "redis/cluster/request_router.hpp"
#include "redis/cluster/shard_channels.hpp"
#include "redis/cluster/slot_map.hpp"
#include "redis/cluster/topology.hpp"
#include "redis/cluster/topology_refresh.hpp"
#include "redis/cluster/wakeups.hpp"
#include "redis/commands/slot_floors.hpp"
#include "redis/connection/environment.hpp"
#include "redis/pipeline/client_note.hpp"
#include "redis/protocol/redirection.hpp"

#include <leasehold/redis_config.hpp>
#include <leasehold/store.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace leasehold::redis_store::cluster {

/// The masters of a Redis Cluster, and the requests that move between them. Each master is a
/// partition: a pipeline of its own, opened when it is first needed. All on the strand.
///
/// The parts: `slot_map` knows the nodes and their slots, `topology_refresh` asks for them,
/// `request_router` sends requests by them, `shard_channels` subscribes by them.
class shards final : public detail::context_observer, public std::enable_shared_from_this<shards>
{
public:
    shards(const redis_config& settings, std::shared_ptr<environment> from);
    ~shards();

    [[nodiscard]] store_traits traits() const noexcept;
    [[nodiscard]] store_partition partition_of(std::string_view name) const noexcept
    {
        return map_[slot_of(name)];
    }
    [[nodiscard]] std::string server_of(store_partition partition) const;

    void open(const asio::any_io_executor& strand, store_listener& listener);
    void close() noexcept;

    [[nodiscard]] request_router& requests() noexcept { return router_; }

    /// A request of this owner is sent, with this lease time. Writes the client's record, if that
    /// is due and the node is connected.
    void introduce(std::string_view owner, std::string_view entry, std::chrono::milliseconds lease);
    void describe(std::string_view holder, store::describe_handler handler);
    [[nodiscard]] client_info own_info() const { return note_ ? note_->info() : client_info(); }

    void watch(std::string_view name);
    void unwatch(std::string_view name);

private:
    void on_context_end() noexcept override;
    void on_fork() noexcept override;
    void forget_all() noexcept;

    // Nodes.
    [[nodiscard]] redis_config settings_of(const redis_config::address& at) const;
    void wakeup(const std::string& channel);
    void write_note();
    /// The node of a key that belongs to no lock. Null if it is not connected.
    [[nodiscard]] master_node* node_beside(std::string_view key);
    void open_node(master_node& which);
    void on_up(master_node& which);
    void on_down(master_node& which, error_code why);
    void announce(master_node& which);
    void tidy();

    // The map.
    void want_map(const std::optional<redis_config::address>& from = std::nullopt);
    void ask_map();
    void apply(const topology& found);
    void on_no_map(error_code why, const std::string& text);
    void learn(const redirection& redirected, master_node& by);

    void set_timer();
    void on_time();
    [[nodiscard]] clock::time_point now() const { return time_->now(); }

    const redis_config settings_;
    const std::shared_ptr<environment> from_;
    const std::unique_ptr<detail::time_source> time_;
    fsm::random_source random_;
    asio::any_io_executor strand_;
    std::shared_ptr<detail::context_poster> poster_;
    store_listener* listener_ = nullptr; ///< Null: closed, or not open yet.

    const master_node::user of_nodes_;
    slot_map map_;
    topology_refresh refresh_;
    error_code no_map_reason_; ///< Reported to the listener.
    std::string no_map_words_; ///< Together with the reason.
    const std::shared_ptr<slot_floors> floors_ = std::make_shared<slot_floors>();

    shard_channels channels_;
    const std::shared_ptr<grant_channels> grants_;
    const std::unique_ptr<watched_names> watched_; ///< For the layout `redisson`.
    const std::shared_ptr<client_note> note_;      ///< Null: no record is written.
    request_router router_;
};

} // namespace leasehold::redis_store::cluster

#endif
