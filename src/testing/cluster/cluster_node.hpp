#ifndef LEASEHOLD_SRC_TESTING_CLUSTER_CLUSTER_NODE_HPP
#define LEASEHOLD_SRC_TESTING_CLUSTER_CLUSTER_NODE_HPP

#include "testing/cluster/slot_table.hpp"
#include "testing/server/membership.hpp"
#include "testing/server/server_state.hpp"

#include <leasehold/clock.hpp>

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace leasehold::testing::impl {

class cluster_node;

/// A slot that migrates, key by key.
struct migration
{
    std::size_t from; ///< A shard, like the next one.
    std::size_t to;
    clock::duration each;  ///< Between two keys.
    clock::time_point end; ///< The rest migrates at once then.
};

/// The knowledge of a node about the others.
class cluster_knowledge
{
public:
    [[nodiscard]] virtual const std::deque<cluster_node>& nodes() const = 0;
    /// Null: the slot does not migrate.
    [[nodiscard]] virtual const migration* migration_of(slot_number slot) const = 0;
    /// Some slots have no node, so the cluster serves none.
    [[nodiscard]] virtual bool is_down() const = 0;
    /// The process of a node restarts. It is up again when the node accepts connections.
    virtual void restarted(std::size_t node) = 0;
    virtual void topology_reply(const cluster_node& by, std::string_view client) = 0;
    virtual void follow(const lock_request& request, bool runs) = 0;

protected:
    ~cluster_knowledge() = default;
};

/// A server of a cluster, and its view of the cluster.
class cluster_node final : public membership
{
public:
    cluster_node(cluster_knowledge& known, server_state& of, std::size_t index,
                 const slot_table& first);

    std::optional<std::string> refusal(words command, bool asking) override;
    message answer(words command, std::string_view client) override;
    void follow(const lock_request& request, bool runs) override { known_.follow(request, runs); }
    void spread(std::string_view channel, std::string_view text) override;
    void restarted() override { known_.restarted(number); }
    bool is_moving(std::string_view name) const override;

    /// It learns the topology and notifies subscribers of channels that are elsewhere now.
    void learn(const slot_table& table);

    /// The address for clients.
    [[nodiscard]] std::string address() const { return host() + ":" + std::to_string(port()); }
    [[nodiscard]] const std::string& host() const noexcept { return server.name; }
    [[nodiscard]] std::size_t port() const noexcept { return number + 1; }

    server_state& server;
    const std::size_t number;
    const std::size_t shard;
    slot_table sees;
    clock::time_point unaware_until{}; ///< Until then it learns nothing.
    bool cut_off = false;              ///< From the other nodes, not from clients.
    bool rejoins = false;              ///< It serves nothing before it learns the topology.
    bool follows = true;               ///< As a replica it has the data of its master.

private:
    message shards() const;
    message slots() const;

    cluster_knowledge& known_;
};

} // namespace leasehold::testing::impl

#endif
