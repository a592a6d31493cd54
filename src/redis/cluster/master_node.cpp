#include "redis/cluster/master_node.hpp"

#include "redis/pipeline/owned_transport.hpp"

namespace leasehold::redis_store::cluster {

void master_node::open(const redis_config& where, const std::shared_ptr<environment>& from,
                       std::unique_ptr<command_set> keys, std::function<bool()> knows_receivers,
                       std::function<void()> on_other_server)
{
    way = std::make_shared<pipeline>(make_owned_transport(where, from), std::move(keys),
                                     from->make_time(), where.timeout);
    way->knows_receivers = std::move(knows_receivers);
    replicas = std::make_shared<replica_confirmations>(where, from);
    // Both connections lead to one node; a missing lock has moved to another node.
    replicas->on_other_server = std::move(on_other_server);
    way->on_lost = [weak = std::weak_ptr(replicas)] {
        if (const auto confirmation = weak.lock())
            confirmation->lost_commands();
    };
    now = state::opening;
}

void master_node::connect(const asio::any_io_executor& strand,
                          const std::shared_ptr<detail::context_poster>& poster)
{
    replicas->open(strand, poster, *this);
    way->open(strand, poster, *this);
}

void master_node::close() noexcept
{
    if (!way)
        return;
    way->close();
    replicas->close();
}

void master_node::let_go() noexcept
{
    const auto last = std::exchange(way, nullptr);
    last->close();
    std::exchange(replicas, nullptr)->close();
    now = state::fresh;
    used = false;
    announced = false;
}

} // namespace leasehold::redis_store::cluster
