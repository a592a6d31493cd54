#include <leasehold/testing/cluster.hpp>

#include "testing/cluster/cluster_state.hpp"

#include <algorithm>
#include <utility>

namespace leasehold::testing {
namespace {

server& server_of(std::span<server* const> all, const impl::server_state& state)
{
    return **std::find_if(all.begin(), all.end(),
                          [&](const server* each) { return &each->state() == &state; });
}

} // namespace

cluster::cluster(std::vector<server*> nodes, std::unique_ptr<impl::cluster_state> state) noexcept
    : nodes_(std::move(nodes)), state_(std::move(state))
{}

cluster::~cluster() = default;

std::size_t cluster::number_of(const server& node) const
{
    return static_cast<std::size_t>(std::find(nodes_.begin(), nodes_.end(), &node) -
                                    nodes_.begin());
}

std::size_t cluster::shard_of(std::string_view name) const
{
    return state_->shard_of(name);
}

std::size_t cluster::shard_of(const server& node) const
{
    return state_->shard_of_node(number_of(node));
}

server& cluster::master(std::size_t shard) const
{
    return server_of(nodes_, state_->master(shard));
}

server& cluster::keeper_of(std::string_view name) const
{
    return server_of(nodes_, state_->keeper_of(name));
}

bool cluster::fail_over(std::size_t shard, duration lag, duration until_elected,
                        duration until_back)
{
    return state_->fail_over(shard, lag, until_elected, until_back, false);
}

bool cluster::switch_off(std::size_t shard, duration lag, duration until_elected,
                         duration until_back)
{
    return state_->fail_over(shard, lag, until_elected, until_back, true);
}

bool cluster::split(std::size_t shard, duration until_noticed, duration until_healed)
{
    return state_->split(shard, until_noticed, until_healed);
}

bool cluster::switch_over(std::size_t shard)
{
    return state_->switch_over(shard);
}

bool cluster::shut(std::size_t shard, duration how_long)
{
    return state_->shut(shard, how_long);
}

bool cluster::move_slot_of(std::string_view name, std::size_t to, duration each, duration longest)
{
    return state_->move(redis_store::slot_of(name), to, each, longest);
}

bool cluster::is_moving(std::string_view name) const
{
    return state_->migration_of(redis_store::slot_of(name)) != nullptr;
}

void cluster::hold_back(const server& node, duration how_long)
{
    state_->hold_back(number_of(node), how_long);
}

std::uint64_t cluster::stale_answers() const noexcept
{
    return state_->stale_answers;
}

void cluster::on_moved(std::function<void(unsigned slot)> handler)
{
    state_->on_moved = std::move(handler);
}

void cluster::on_map_request(std::function<void(std::string_view host)> handler)
{
    state_->on_map_request = std::move(handler);
}

void cluster::on_redirected(
    std::function<void(std::string_view name, std::string_view owner, duration later)> handler)
{
    state_->on_redirected = std::move(handler);
}

void cluster::on_promotion(std::function<void(const promotion&)> handler)
{
    state_->on_promotion = std::move(handler);
}

} // namespace leasehold::testing
