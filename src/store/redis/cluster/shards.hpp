#ifndef LEASEHOLD_SRC_STORE_REDIS_CLUSTER_SHARDS_HPP
#define LEASEHOLD_SRC_STORE_REDIS_CLUSTER_SHARDS_HPP

#include "core/async/context_lifetime.hpp"
#include "core/turn/time_source.hpp"
#include "fsm/backoff.hpp"
#include "store/redis/cluster/redirection.hpp"
#include "store/redis/cluster/request.hpp"
#include "store/redis/cluster/shard_channels.hpp"
#include "store/redis/cluster/slot_floors.hpp"
#include "store/redis/cluster/topology.hpp"
#include "store/redis/cluster/topology_question.hpp"
#include "store/redis/cluster/wakeups.hpp"
#include "store/redis/context_poster.hpp"
#include "store/redis/pipeline.hpp"
#include "store/redis/replica_confirmation.hpp"
#include "store/redis/transport/environment.hpp"

#include <leasehold/config.hpp>
#include <leasehold/store.hpp>

#include <cstddef>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::redis_store::cluster {

/// The masters of a Redis Cluster, each of which is a partition: a pipeline of its own, opened when
/// it is first needed, and what goes from one to the other. All on the strand.
///
/// **Who is asked.** The node that serves the slot of the name, as far as is known. What a node has
/// not executed, because the slot is elsewhere (MOVED), on its way (ASK, TRYAGAIN) or served by
/// nobody for now (CLUSTERDOWN), is asked again, of whom it names or after a pause, until the time
/// of the request is over; then it is answered as not executed.
///
/// **Order.** Requests for one name go to one node in the order of the calls. When one of them is
/// sent elsewhere those behind it wait until it has been answered, and an acquire that was undone
/// meanwhile is not sent again: it would run after the release.
class shards final : public detail::context_observer, public std::enable_shared_from_this<shards>
{
public:
    shards(const config& settings, std::shared_ptr<environment> from);
    ~shards();

    [[nodiscard]] store_traits traits() const noexcept;
    [[nodiscard]] store_partition partition_of(std::string_view name) const noexcept
    {
        return slots_[slot_of(name)];
    }
    [[nodiscard]] std::string server_of(store_partition partition) const;

    void open(const asio::any_io_executor& strand, store_listener& listener);
    void close() noexcept;

    void acquire(const acquire_request& asked, store::acquire_handler handler);
    void renew(std::span<const renewal> asked, store::renew_handler handler);
    void release(const release_request& asked, store::release_handler handler);
    void watch(std::string_view name);
    void unwatch(std::string_view name);

private:
    struct node;

    void on_context_end() noexcept override;
    void on_fork() noexcept override;
    void forget_all() noexcept;

    // Nodes.
    [[nodiscard]] config settings_of(const config::address& at) const;
    node& node_at(const config::address& at);
    node& get(store_partition partition);
    void hint(const std::string& channel);
    void open_node(node& which);
    void on_up(node& which);
    void on_down(node& which, error_code why);
    void announce(node& which);
    void tidy();

    // The map.
    void want_map(const std::optional<config::address>& from = std::nullopt);
    void ask_map();
    [[nodiscard]] std::vector<config::address> candidates();
    void apply(const topology& found);
    void on_no_map(error_code why, const std::string& said);
    void learn(const redirection& said, node& by);

    // Requests.
    [[nodiscard]] bool is_served(std::string_view name) const;
    [[nodiscard]] store_partition target(const request& one) const;
    void submit(const request_ptr& one);
    void advance(const std::string& name);
    [[nodiscard]] bool may_go(lane& all, const request& one) const;
    void go(const request_ptr& one);
    void park(const request_ptr& one);
    void unpark(request& one);
    void send(const request_ptr& one, node& to);
    template <class Reply>
    void answered(const request_ptr& one, error_code code, Reply reply);
    [[nodiscard]] bool redirect(const request_ptr& one, node& by, const redirection& said);
    void refuse(request_ptr one, error_code code); // a copy: what it is known by goes
    void finish(const request_ptr& one, error_code code, acquire_reply reply);
    void finish(const request_ptr& one, error_code code, release_reply reply);
    void finish(const request_ptr& one, error_code code, renew_reply reply);
    void finish_refused(const request_ptr& one, error_code code);
    void leave_lane(const request_ptr& one);
    void retry();

    void set_timer();
    void watch_time();
    void on_time();
    [[nodiscard]] clock::time_point now() const { return time_->now(); }

    const config settings_;
    const std::shared_ptr<environment> from_;
    const std::unique_ptr<detail::time_source> time_;
    fsm::random_source random_;
    asio::any_io_executor strand_;
    std::shared_ptr<context_poster> home_;
    store_listener* listener_ = nullptr; ///< Null: closed, or not open yet.

    std::vector<store_partition> slots_;      ///< Who serves each; 0: nobody, as far as is known.
    std::deque<std::unique_ptr<node>> nodes_; ///< By their partition; the first is nobody.
    std::vector<config::address> others_;     ///< Replicas, which know the map as well.
    const std::shared_ptr<slot_floors> floors_ = std::make_shared<slot_floors>();

    std::shared_ptr<topology_question> question_; ///< Under way.
    bool map_wanted_ = false;
    bool map_known_ = false;
    std::optional<config::address> map_from_; ///< Who is up to date.
    clock::time_point next_map_{};
    error_code no_map_reason_; ///< The listener was told.
    std::size_t seed_ = 0;     ///< Where the next question begins.

    std::map<std::string, lane, std::less<>> lanes_;
    std::list<request_ptr> parked_;

    shard_channels channels_;
    const std::shared_ptr<turns> turns_;           ///< Of the layout `native`.
    const std::unique_ptr<watched_names> watched_; ///< Of the layout `redisson`.
};

/// As `make_store`, for the masters of a cluster.
[[nodiscard]] std::shared_ptr<store> make_cluster_store(const config& settings,
                                                        std::shared_ptr<environment> from);

} // namespace leasehold::redis_store::cluster

#endif
