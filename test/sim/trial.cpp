#include "sim/trial.hpp"

#include <algorithm>

namespace leasehold::test::sim {

using namespace std::chrono_literals;

void trial::wrong(const std::string& promise)
{
    if (!first_wrong.empty())
        return;
    first_wrong = promise;
    if (owned_world_)
        world.note("WRONG " + promise);
}

clock::duration trial::hold_for(clock::duration wanted) const
{
    const clock::duration left = time(scenario.heals) + 1s - now();
    return std::min(wanted, std::max(left, clock::duration::zero()));
}

std::vector<testing::server*> trial::make_servers()
{
    std::vector<testing::server*> all;
    if (scenario.is_cluster()) {
        cluster = &world.make_cluster({.shards = scenario.shards,
                                       .replicas = scenario.replicas,
                                       .full_coverage = scenario.full_coverage});
        all.assign(cluster->nodes().begin(), cluster->nodes().end());
        return all;
    }
    if (!scenario.is_quorum())
        all.push_back(&world.make_server());
    for (std::size_t i = 0; i < scenario.members; ++i)
        all.push_back(&world.make_server(std::string("s").append(std::to_string(i))));
    return all;
}

bool trial::is_held_by(const name_state& n, const std::string& owner) const
{
    if (cluster != nullptr)
        return cluster->keeper_of(n.text).holder(n.text) == owner;
    const auto count = std::count_if(servers.begin(), servers.end(), [&](const auto* each) {
        return each->holder(n.text) == owner;
    });
    return static_cast<std::size_t>(count) > servers.size() / 2;
}

std::string trial::majority_owner(const name_state& n, bool first) const
{
    const owners all = owners_of(n, first);
    const auto found = std::find_if(all.begin(), all.end(), [this](const auto& each) {
        return each.second > servers.size() / 2;
    });
    return found != all.end() ? found->first : std::string();
}

trial::owners trial::owners_of(const name_state& n, bool first) const
{
    owners all;
    for (const testing::server* const each : servers) {
        const std::string owner = each->holder(n.text);
        if (!owner.empty() && (!first || each->first_is_in(n.text)))
            ++all[owner];
    }
    return all;
}

std::uint64_t trial::commands() const
{
    std::uint64_t all = 0;
    for (const testing::server* each : servers)
        all += each->commands();
    return all;
}

mutex& trial::handle(process& at, std::size_t name, std::size_t options)
{
    at.handles.resize(names.size() * scenario.options.size());
    auto& found = at.handles[name * scenario.options.size() + options];
    if (!found)
        found.emplace(*at.locks, names[name].text, scenario.options[options]);
    return *found;
}

void trial::note(const process& at, const std::string& text)
{
    if (traced)
        world.note(std::string(at.host->name()).append(" ").append(text));
}

void trial::note(const actor& by, const std::string& text)
{
    if (traced)
        note(*by.client,
             std::string("[").append(std::to_string(by.index)).append("] ").append(text));
}

void trial::end_world()
{
    for (actor& a : actors) {
        a.hold.reset();
        a.cancelling.reset();
        a.held = leasehold::lease();
        a.inner = leasehold::lease();
    }
    for (process& p : processes) {
        p.handles.clear();
        p.locks.reset();
    }
    owned_world_.reset();
    actors.clear(); // a signal keeps the operations that it could cancel
    for (const process& p : processes)
        if (!p.core.expired())
            wrong("leak: a client outlives its world");
}

} // namespace leasehold::test::sim
