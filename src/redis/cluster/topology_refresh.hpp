#ifndef LEASEHOLD_SRC_REDIS_CLUSTER_TOPOLOGY_REFRESH_HPP
#define LEASEHOLD_SRC_REDIS_CLUSTER_TOPOLOGY_REFRESH_HPP

#include "fsm/contention/backoff.hpp"
#include "redis/cluster/slot_map.hpp"
#include "redis/cluster/topology.hpp"
#include "redis/cluster/topology_question.hpp"
#include "redis/connection/environment.hpp"

#include <leasehold/clock.hpp>
#include <leasehold/redis_config.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace leasehold::redis_store::cluster {

/// Decides when to query the topology of the cluster, and which node first: one query at a time,
/// each begun at least a pause after the one before.
class topology_refresh
{
public:
    topology_refresh(const redis_config& settings, std::shared_ptr<environment> from,
                     fsm::random_source& random)
        : settings_(settings), from_(std::move(from)), random_(random)
    {}

    /// @param up_to_date The node to ask first, if one is known to be up to date.
    /// @return False: it was wanted already.
    bool want(const std::optional<redis_config::address>& up_to_date = std::nullopt);

    [[nodiscard]] bool known() const noexcept { return known_; } ///< A topology was received.
    [[nodiscard]] bool due(clock::time_point now) const noexcept
    {
        return wanted_ && !question_ && next_ <= now;
    }
    /// The time of the next question. The maximum: when an event comes.
    [[nodiscard]] clock::time_point next_time() const noexcept
    {
        return wanted_ && !question_ ? next_ : clock::time_point::max();
    }

    void ask(const slot_map& map, clock::time_point now, const asio::any_io_executor& strand,
             topology_question::listener callbacks);
    void answered(const topology& found);
    void failed(); ///< No node has answered.

    void close() noexcept;
    void drop() noexcept; ///< The context ends.

private:
    [[nodiscard]] std::vector<redis_config::address> candidates(const slot_map& map);

    const redis_config& settings_;
    const std::shared_ptr<environment> from_;
    fsm::random_source& random_;
    std::shared_ptr<topology_question> question_; ///< The outstanding question.
    bool wanted_ = false;
    bool known_ = false;
    std::uint64_t epoch_ = 0; ///< Of the last topology.
    std::optional<redis_config::address> up_to_date_;
    clock::time_point next_{};
    std::vector<redis_config::address> others_; ///< Replicas, which know it as well.
    std::size_t seed_ = 0;                      ///< The node with which the next question begins.
};

} // namespace leasehold::redis_store::cluster

#endif
