#ifndef LEASEHOLD_SRC_REDIS_CLUSTER_MASTER_NODE_HPP
#define LEASEHOLD_SRC_REDIS_CLUSTER_MASTER_NODE_HPP

#include "core/async/context_poster.hpp"
#include "redis/commands/command_set.hpp"
#include "redis/connection/environment.hpp"
#include "redis/pipeline/pipeline.hpp"
#include "redis/replicas/replica_confirmations.hpp"

#include <leasehold/config.hpp>
#include <leasehold/store.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace leasehold::redis_store::cluster {

/// A master, or what was one, and the connections to it, which are opened when they are first
/// needed. What it says is about it alone.
class master_node final : public store_listener
{
public:
    enum class state : std::uint8_t
    {
        fresh,   ///< Nothing has been asked of it.
        opening, ///< It is not known yet whether it can be reached.
        up,
        down,
    };

    struct user
    {
        std::function<void(master_node& by)> on_settled;
        std::function<void(master_node& by)> on_up;
        std::function<void(master_node& by, error_code why)> on_down;
        std::function<void(master_node& by, error_code code, const diagnostics& details)> on_error;
    };

    /// @param told Outlives it.
    master_node(store_partition number, config::address where, const user& told)
        : partition(number), at(std::move(where)), told_(told)
    {}

    /// Makes what leads to it; nothing is connected to before `connect`.
    /// @param where The node is its only address.
    void open(const config& where, const std::shared_ptr<environment>& from,
              std::unique_ptr<command_set> keys, std::function<bool()> knows_receivers,
              std::function<void()> on_other_server);
    void connect(const asio::any_io_executor& strand,
                 const std::shared_ptr<detail::context_poster>& home);
    /// What it has is answered.
    void close() noexcept;
    /// It serves nothing any more, and may be opened again.
    void let_go() noexcept;

    const store_partition partition;
    const config::address at;
    std::shared_ptr<pipeline> way;                   ///< Null: fresh.
    std::shared_ptr<replica_confirmations> replicas; ///< With it.
    state now = state::fresh;
    bool announced = false;    ///< The listener takes it to be reachable.
    bool used = false;         ///< A request went there since it was opened.
    bool serves = false;       ///< Slots, as far as is known.
    std::size_t under_way = 0; ///< Requests that it has.
    error_code why;            ///< It is down.
    /// What is known of that. Null: nothing.
    std::shared_ptr<const diagnostics> trouble{};

private:
    void on_hint(std::string_view) override {}
    void on_settled(store_partition) override { told_.on_settled(*this); }
    void on_connected(store_partition) override
    {
        trouble.reset();
        told_.on_up(*this);
    }
    void on_disconnected(store_partition, error_code code) override { told_.on_down(*this, code); }
    void on_error(store_partition, error_code code, const diagnostics& details) override
    {
        if (details.key.empty())
            trouble = std::make_shared<diagnostics>(details);
        told_.on_error(*this, code, details);
    }

    const user& told_;
};

} // namespace leasehold::redis_store::cluster

#endif
