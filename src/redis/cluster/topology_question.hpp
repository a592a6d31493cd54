#ifndef LEASEHOLD_SRC_REDIS_CLUSTER_TOPOLOGY_QUESTION_HPP
#define LEASEHOLD_SRC_REDIS_CLUSTER_TOPOLOGY_QUESTION_HPP

#include "core/turn/time_source.hpp"
#include "redis/cluster/topology.hpp"
#include "redis/connection/environment.hpp"
#include "redis/connection/reconnecting_connection.hpp"

#include <leasehold/redis_config.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::redis_store::cluster {

/// Queries the nodes for the slots and their nodes, one after the other, until one answers. Each
/// query has a connection of its own, which ends with the reply. So a node that hangs, or has left
/// the cluster, delays nothing else. Used once; all on the strand.
class topology_question final : public connection_observer,
                                public std::enable_shared_from_this<topology_question>
{
public:
    /// Called once, unless it is closed before.
    struct listener
    {
        std::function<void(const topology& found)> found;
        /// No node has answered. `text`: the error of a server, or the reason why no node can be
        /// reached.
        std::function<void(error_code why, const std::string& text)> failed;
    };

    /// @param nodes Not empty.
    /// @param epoch The `topology::epoch` that is known. The map of a node with an older one, for
    ///     example of a replica that was restarted, is used only if no other node answers.
    topology_question(const redis_config& settings, std::shared_ptr<environment> from,
                      std::vector<redis_config::address> nodes, std::uint64_t epoch,
                      listener callbacks);

    void open(const asio::any_io_executor& strand);
    void close() noexcept;
    /// The context ends.
    void drop() noexcept;

private:
    void on_attempt() override;
    void on_lost(error_code why, std::string_view text) override;

    void ask_next();
    /// Sends CLUSTER `what`.
    void ask(const char* what, std::function<void(const reply_tree&)> read);
    void on_state(const reply_tree& answer);
    void ask_map(bool shards);
    void on_answer(bool shards, const reply_tree& answer);
    void found(topology map);
    void give_up(error_code why, std::string_view text);

    const redis_config settings_;
    const std::shared_ptr<environment> from_;
    const std::vector<redis_config::address> nodes_;
    const std::uint64_t known_epoch_;
    std::size_t next_ = 0;    ///< The index of the node after the current one.
    std::uint64_t epoch_ = 0; ///< Of the current node; 0: unknown.
    std::optional<topology> outdated_;
    listener callbacks_;
    error_code why_;
    std::string text_;
    std::set<std::string> unreached_; ///< The nodes, each with the reason.
    asio::any_io_executor strand_;
    const std::unique_ptr<detail::time_source> time_;
    std::shared_ptr<reconnecting_connection> connection_;
};

} // namespace leasehold::redis_store::cluster

#endif
