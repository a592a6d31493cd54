#include <leasehold/testing/world.hpp>

#include "testing/cluster/cluster_state.hpp"
#include "testing/server/server_state.hpp"
#include "testing/time/host_state.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace leasehold::testing {
namespace impl {

class world_state
{
public:
    explicit world_state(std::uint64_t seed) : time(seed) {}

    ~world_state()
    {
        // Clients first, while everything they use exists; then waiting work; then the rest.
        time.on_line = nullptr;
        for (const auto& each : hosts)
            each->end();
        time.clear();
    }

    scheduler time;
    std::vector<std::unique_ptr<server>> servers;
    std::vector<std::unique_ptr<cluster>> clusters;
    std::vector<std::unique_ptr<host>> hosts;
};

} // namespace impl

world::world(std::uint64_t seed) : state_(std::make_unique<impl::world_state>(seed)) {}

world::~world() = default;

host& world::make_host(std::string name)
{
    auto& all = state_->hosts;
    all.push_back(std::make_unique<host>(
        std::make_unique<impl::host_state>(state_->time, all.size(), std::move(name))));
    return *all.back();
}

server& world::make_server(std::string name)
{
    state_->servers.push_back(std::make_unique<server>(
        std::make_unique<impl::server_state>(state_->time, std::move(name))));
    return *state_->servers.back();
}

cluster& world::make_cluster(const cluster::shape& of)
{
    std::vector<server*> nodes;
    std::vector<impl::server_state*> states;
    for (std::size_t i = 0; i < of.shards * (of.replicas + 1); ++i) {
        nodes.push_back(&make_server(std::string("n").append(std::to_string(i))));
        states.push_back(&nodes.back()->state());
    }
    state_->clusters.push_back(std::make_unique<cluster>(
        std::move(nodes), std::make_unique<impl::cluster_state>(state_->time, states, of)));
    return *state_->clusters.back();
}

clock::time_point world::now() const noexcept
{
    return state_->time.now();
}

world::duration world::age() const noexcept
{
    return now() - state_->time.began;
}

void world::at(clock::time_point when, std::function<void()> f)
{
    state_->time.at(when, std::move(f));
}

void world::run_until(clock::time_point when)
{
    state_->time.run_until(when);
}

bool world::run_one(clock::time_point end)
{
    return state_->time.run_one(end);
}

std::uint64_t world::random(std::uint64_t bound)
{
    return state_->time.random.below(bound);
}

std::uint64_t world::trace_hash() const noexcept
{
    return state_->time.hash();
}

std::uint64_t world::events() const noexcept
{
    return state_->time.events();
}

void world::on_trace(std::function<void(std::string_view line)> handler)
{
    state_->time.on_line = std::move(handler);
}

void world::note(std::string_view line)
{
    state_->time.line("", line);
}

} // namespace leasehold::testing
