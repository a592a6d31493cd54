#ifndef LEASEHOLD_SRC_REDIS_CLUSTER_MASTER_NODE_HPP
#define LEASEHOLD_SRC_REDIS_CLUSTER_MASTER_NODE_HPP

#include "core/async/context_poster.hpp"
#include "redis/commands/command_set.hpp"
#include "redis/connection/environment.hpp"
#include "redis/pipeline/pipeline.hpp"
#include "redis/replicas/replica_confirmations.hpp"

#include <leasehold/redis_config.hpp>
#include <leasehold/store.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace leasehold::redis_store::cluster {

/// A current or former master, and the connections to it, opened when they are first needed. What
/// it reports concerns this node only.
class master_node final : public store_listener
{
public:
    enum class state : std::uint8_t
    {
        fresh,   ///< No request was made.
        opening, ///< It is unknown whether it can be reached.
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

    /// @param callbacks Outlives it.
    master_node(store_partition number, redis_config::address where, const user& callbacks)
        : partition(number), at(std::move(where)), callbacks_(callbacks)
    {}

    /// Makes the connections. None is opened before `connect`.
    /// @param where The node is its only address.
    void open(const redis_config& where, const std::shared_ptr<environment>& from,
              std::unique_ptr<command_set> keys, std::function<bool()> knows_receivers,
              std::function<void()> on_other_server);
    void connect(const asio::any_io_executor& strand,
                 const std::shared_ptr<detail::context_poster>& poster);
    /// Its outstanding requests are answered.
    void close() noexcept;
    /// It serves nothing any more, and may be opened again.
    void let_go() noexcept;

    const store_partition partition;
    const redis_config::address at;
    std::shared_ptr<pipeline> way;                   ///< Null if `fresh`.
    std::shared_ptr<replica_confirmations> replicas; ///< Null together with `way`.
    state now = state::fresh;
    bool announced = false;    ///< The listener considers it reachable.
    bool used = false;         ///< A request was sent to it since it was opened.
    bool serves = false;       ///< Slots, as far as is known.
    std::size_t under_way = 0; ///< Its outstanding requests.
    error_code why;            ///< The reason why it is down.
    /// The details of `why`. May be null.
    std::shared_ptr<const diagnostics> trouble{};

private:
    void on_wakeup(std::string_view) override {}
    void on_settled(store_partition) override { callbacks_.on_settled(*this); }
    void on_connected(store_partition) override
    {
        trouble.reset();
        callbacks_.on_up(*this);
    }
    void on_disconnected(store_partition, error_code code) override
    {
        callbacks_.on_down(*this, code);
    }
    void on_error(store_partition, error_code code, const diagnostics& details) override
    {
        if (details.key.empty())
            trouble = std::make_shared<diagnostics>(details);
        callbacks_.on_error(*this, code, details);
    }

    const user& callbacks_;
};

} // namespace leasehold::redis_store::cluster

#endif
