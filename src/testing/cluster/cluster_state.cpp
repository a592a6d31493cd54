#include "testing/cluster/cluster_state.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <stdexcept>
#include <utility>

namespace leasehold::testing::impl {
namespace {

using namespace std::chrono_literals;
using redis_store::slot_of;

// A shard may be unreachable for this long before the others agree on it.
constexpr clock::duration node_timeout = 500ms;

/// The owner of a lock, and for how long it is held.
struct hold
{
    std::string owner;
    std::int64_t left;
};

hold hold_of(server_state& at, const std::string& name)
{
    return {at.holder(name), at.redis.data.pttl(name)};
}

} // namespace

cluster_state::cluster_state(scheduler& all, const std::vector<server_state*>& servers,
                             const cluster::shape& of)
    : time_(all),
      full_coverage_(of.full_coverage),
      truth_(of.shards),
      busy_until_(of.shards),
      failed_from_(of.shards, clock::time_point::max())
{
    for (std::size_t i = 0; i < servers.size(); ++i)
        nodes_.emplace_back(*this, *servers[i], i, truth_);
    count_replicas();
}

std::size_t cluster_state::shard_of(std::string_view name) const
{
    return truth_.shard_of(slot_of(name));
}

server_state& cluster_state::master(std::size_t shard) const
{
    return nodes_[truth_.masters[shard]].server;
}

server_state& cluster_state::keeper_of(std::string_view name) const
{
    const migration* const moving = migration_of(slot_of(name));
    if (moving == nullptr)
        return master(shard_of(name));
    server_state& source = master(moving->from);
    source.refresh();
    return source.redis.data.exists(name) ? source : master(moving->to);
}

const migration* cluster_state::migration_of(slot_number slot) const
{
    const auto found = migrations_.find(slot);
    return found != migrations_.end() ? &found->second : nullptr;
}

bool cluster_state::is_down() const
{
    return full_coverage_ &&
           std::any_of(failed_from_.begin(), failed_from_.end(),
                       [&](clock::time_point from) { return time_.now() >= from; });
}

/// A real master rejects requests for 2 s after its start. Here it rejects them until it learns the
/// current map; a master whose map is current serves at once.
void cluster_state::restarted(std::size_t node)
{
    cluster_node& which = nodes_[node];
    time_.at(which.server.down_until, [this, &which] {
        if (which.sees.masters[which.shard] == which.number && !(which.sees == truth_))
            which.rejoins = true;
    });
}

void cluster_state::topology_reply(const cluster_node& by, std::string_view client)
{
    stale_answers += by.sees == truth_ ? 0 : 1;
    if (on_map_request)
        on_map_request(client);
}

void cluster_state::follow(const lock_request& request, bool runs)
{
    if (request.what != lock_request::kind::acquire || !request.limited)
        return;
    const std::pair<std::string, std::string> whose(request.owner, request.entry);
    const auto first = limits_.find(whose);
    if (first == limits_.end() && !runs)
        limits_.emplace(whose, request.latest);
    if (first == limits_.end())
        return;
    if (on_redirected && master(shard_of(request.name)).time_us() < first->second)
        on_redirected(request.name, request.owner,
                      std::chrono::microseconds(request.latest - first->second));
    if (runs)
        limits_.erase(first);
    else if (master(shard_of(request.name)).time_us() >= first->second)
        first->second = request.latest; // the first limit has passed, and this is another request
}

bool cluster_state::is_busy(std::size_t shard) const
{
    return time_.now() < busy_until_[shard] || !master(shard).accepts();
}

void cluster_state::keep_busy(std::size_t shard, clock::duration how_long)
{
    busy_until_[shard] = std::max(busy_until_[shard], time_.now() + how_long);
}

cluster_node* cluster_state::follower_of(std::size_t shard)
{
    for (cluster_node& each : nodes_)
        if (each.shard == shard && truth_.masters[shard] != each.number && each.follows &&
            !each.cut_off && each.server.accepts())
            return &each;
    return nullptr;
}

/// The number of replicas that WAIT counts.
void cluster_state::count_replicas()
{
    for (cluster_node& each : nodes_) {
        const bool leads = truth_.masters[each.shard] == each.number;
        each.server.replicas = !leads || each.cut_off
                                   ? 0
                                   : std::count_if(nodes_.begin(), nodes_.end(),
                                                   [&](const cluster_node& other) {
                                                       return other.shard == each.shard &&
                                                              &other != &each && other.follows &&
                                                              !other.cut_off;
                                                   });
    }
}

clock::duration cluster_state::between(std::chrono::milliseconds low,
                                       std::chrono::milliseconds high)
{
    return std::chrono::milliseconds(time_.random.between(low.count(), high.count()));
}

/// All nodes learn the topology, one after the other.
void cluster_state::spread()
{
    for (cluster_node& each : nodes_)
        notify(each, between(1ms, 600ms));
}

void cluster_state::notify(cluster_node& which, clock::duration after)
{
    time_.at(time_.now() + after, [this, &which] {
        if (which.cut_off)
            return; // it learns it when it is no longer unaware
        if (!which.server.accepts())
            return notify(which, which.server.down_until - time_.now() + between(100ms, 1000ms));
        if (time_.now() < which.unaware_until)
            return notify(which, which.unaware_until - time_.now());
        which.learn(truth_);
        which.follows = true; // or is a master
        count_replicas();
    });
}

void cluster_state::promote(cluster_node& which, clock::time_point last_write_seen)
{
    cluster_node& before = master_node(which.shard);
    server_state& old = before.server;
    server_state& next = which.server;
    old.refresh();
    const keyspace whole = old.redis.data;
    std::vector<std::string> changed;
    old.lose(time_.now() - last_write_seen, &changed);
    std::vector<std::string> unlocked;
    for (const std::string& each : std::set<std::string>(changed.begin(), changed.end())) {
        const hold after = hold_of(old, each);
        keyspace kept = std::exchange(old.redis.data, whole);
        const hold was = hold_of(old, each);
        old.redis.data = std::move(kept);
        if (!was.owner.empty() && (after.owner != was.owner || after.left < was.left))
            unlocked.push_back(each);
    }
    next.redis.data = std::exchange(old.redis.data, keyspace());
    next.keep_all();
    truth_.masters[which.shard] = which.number;
    ++truth_.epoch;
    before.follows = false;
    failed_from_[which.shard] = clock::time_point::max();
    next.line("IS MASTER now, " + std::to_string(changed.size()) + " changes are lost");
    which.learn(truth_);
    count_replicas();
    if (on_promotion)
        on_promotion({which.shard, changed, unlocked});
    spread();
}

bool cluster_state::fail_over(std::size_t shard, clock::duration lag, clock::duration until_elected,
                              clock::duration until_back, bool silently)
{
    cluster_node& master = master_node(shard);
    cluster_node* const next = follower_of(shard);
    if (is_busy(shard) || next == nullptr || until_back < until_elected + 200ms)
        return false;
    keep_busy(shard, until_back + 1200ms);
    master.server.line(silently ? "IS SWITCHED OFF" : "IS KILLED");
    const auto seen = time_.now() - lag;
    master.rejoins = true;
    master.follows = false;
    master.server.go_down(until_back, silently);
    failed_from_[shard] = time_.now() + std::min(node_timeout, until_elected);
    count_replicas();
    time_.at(time_.now() + until_elected, [this, next, seen] { promote(*next, seen); });
    notify(master, until_back + between(100ms, 1000ms));
    return true;
}

bool cluster_state::split(std::size_t shard, clock::duration until_noticed,
                          clock::duration until_healed)
{
    cluster_node& master = master_node(shard);
    cluster_node* const next = follower_of(shard);
    if (is_busy(shard) || next == nullptr || until_healed < until_noticed + 200ms)
        return false;
    keep_busy(shard, until_healed + 1200ms);
    master.server.line("IS CUT OFF from the other nodes");
    const auto seen = time_.now();
    master.cut_off = true;
    count_replicas();
    time_.at(time_.now() + until_noticed, [this, &master, shard] {
        master.rejoins = true;
        failed_from_[shard] = time_.now();
    });
    time_.at(time_.now() + until_noticed + 100ms, [this, next, seen] { promote(*next, seen); });
    time_.at(time_.now() + until_healed, [this, &master] {
        master.cut_off = false;
        notify(master, between(10ms, 500ms));
    });
    return true;
}

bool cluster_state::switch_over(std::size_t shard)
{
    cluster_node& before = master_node(shard);
    cluster_node* const next = follower_of(shard);
    if (is_busy(shard) || next == nullptr)
        return false;
    keep_busy(shard, 1200ms);
    promote(*next, time_.now());
    before.learn(truth_);
    return true;
}

bool cluster_state::shut(std::size_t shard, clock::duration how_long)
{
    if (is_busy(shard))
        return false;
    keep_busy(shard, how_long + 1200ms);
    failed_from_[shard] = time_.now() + std::min(node_timeout, how_long);
    for (cluster_node& each : nodes_) {
        if (each.shard != shard)
            continue;
        each.server.line("IS DOWN, with its shard");
        each.server.go_down(how_long);
    }
    time_.at(time_.now() + how_long,
             [this, shard] { failed_from_[shard] = clock::time_point::max(); });
    return true;
}

bool cluster_state::move(slot_number slot, std::size_t to, clock::duration each,
                         clock::duration longest)
{
    const std::size_t from = truth_.shard_of(slot);
    if (from == to || migration_of(slot) != nullptr)
        return false;
    migrations_[slot] = {from, to, std::max<clock::duration>(each, 1ms), time_.now() + longest};
    master(from).line("slot " + std::to_string(slot) + " MOVES to " + master(to).name);
    step(slot);
    return true;
}

void cluster_state::step(slot_number slot)
{
    const migration now = migrations_.at(slot);
    server_state& source = master(now.from);
    server_state& target = master(now.to);
    const bool can = source.accepts() && target.accepts() && !master_node(now.from).cut_off &&
                     !master_node(now.to).cut_off;
    const auto later = [&] { time_.at(time_.now() + now.each, [this, slot] { step(slot); }); };
    if (!can)
        return later();
    source.refresh();
    target.refresh();
    std::vector<std::string> keys;
    source.redis.data.for_each([&](std::string_view key, keyspace::kind, std::string_view) {
        if (slot_of(key) == slot)
            keys.emplace_back(key);
    });
    for (bool all = time_.now() >= now.end; !keys.empty();) {
        const auto next = keys.begin() +
                          static_cast<std::ptrdiff_t>(time_.random.below(keys.size()));
        if (!source.redis.data.move(*next, target.redis.data))
            throw std::logic_error("BUSYKEY: two nodes have " + *next);
        if (time_.traced())
            source.line("key " + *next + " goes to " + target.name);
        keys.erase(next);
        // Migrated keys are not lost: they would exist twice, or not at all.
        source.keep_all();
        target.keep_all();
        if (!all)
            return later();
    }
    finish(slot, now);
}

void cluster_state::finish(slot_number slot, migration done)
{
    // A replica that takes over must not restore keys of a slot that has migrated.
    master(done.from).keep_all();
    truth_.move(slot, done.to);
    master_node(done.to).sees.move(slot, done.to);
    if (time_.traced())
        master(done.to).line("has the slot " + std::to_string(slot));
    time_.at(time_.now() + between(0ms, 50ms), [this, slot, done] {
        cluster_node& source = master_node(done.from);
        slot_table seen = source.sees;
        seen.move(slot, done.to);
        // The other node begins the epoch of the move. This one does not hear of it now.
        if (time_.now() < source.unaware_until)
            seen.epoch = source.sees.epoch;
        const bool rejoins = source.rejoins;
        source.learn(seen);
        source.rejoins = rejoins;
        migrations_.erase(slot);
        if (on_moved)
            on_moved(slot);
        spread();
    });
}

void cluster_state::hold_back(std::size_t node, clock::duration how_long)
{
    cluster_node& which = nodes_[node];
    which.server.line("HEARS NOTHING of the others for " + std::to_string(how_long / 1ms) + " ms");
    which.unaware_until = std::max(which.unaware_until, time_.now() + how_long);
}

} // namespace leasehold::testing::impl
