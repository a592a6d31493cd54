#include "sim/checks.hpp"

#include "core/turn/turn_context.hpp"
#include "redis/commands/native_keys.hpp"
#include "redis/protocol/slot.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

namespace leasehold::test::sim {

using namespace std::chrono_literals;

namespace {

/// These faults keep connections, and the nodes of a cluster.
bool leaves_connections(fault_kind kind) noexcept
{
    switch (kind) {
    case fault_kind::switch_over:
    case fault_kind::slot_moves:
    case fault_kind::stale_map: return true;
    default: return is_unnoticed(kind) && kind != fault_kind::shutdown;
    }
}

/// The paths to the nodes of a cluster are not affected.
bool leaves_way(fault_kind kind) noexcept
{
    return is_of_cluster(kind) || kind == fault_kind::fail_over || leaves_connections(kind);
}

/// Whether the client gets no notification of a release or a grant.
bool is_deaf(const testing::connecting& how) noexcept
{
    return how.shared && !how.wakeups;
}

} // namespace

/// The store has lost the lock, and the renewal that would detect it is not due yet.
bool checks::excused(const possession& p) const
{
    const name_state& n = trial_.names[p.name];
    return trial_.clocks_beyond || may_be_untold(p, n.unlocked) ||
           (is_reentrant(p) && may_be_untold(p, n.entry_lost));
}

/// It is a hold in addition to the first one of its owner.
bool checks::is_reentrant(const possession& p)
{
    return p.held != &p.holder->held;
}

/// Its renewal needs two keys. While their slot migrates they may be at two nodes, which both
/// reject the renewal.
bool checks::may_be_divided(const possession& p) const
{
    return is_reentrant(p) && trial_.scenario.is_native() && trial_.is_moving(trial_.names[p.name]);
}

/// The lock was lost at `broken`, and the renewal that detects it is not due yet. A handoff within
/// the client does not delay that renewal.
bool checks::may_be_untold(const possession& p, clock::time_point broken) const
{
    if (broken == never || broken < p.granted)
        return false;
    const lock_options& o = *p.options;
    const clock::duration lease = o.lease_time;
    auto told = broken + lease + lease / 20;
    if (o.renew && !may_be_divided(p)) {
        const clock::duration interval = o.renew_interval.count() != 0 ? o.renew_interval
                                                                       : lease / 3;
        told = std::min(told, std::max(broken + interval + interval / 20,
                                       trial_.trouble_of(trial_.names[p.name]) + to_notice));
    }
    return trial_.now() <= told + 100ms;
}

bool checks::untroubled(const name_state& n) const
{
    return trial_.trouble_of(n) + trial_.scenario.longest_lease() + to_notice < trial_.now();
}

void checks::follow_server()
{
    if (trial_.scenario.is_quorum()) {
        for (std::size_t i = 0; i < trial_.servers.size(); ++i) {
            trial_.servers[i]->on_grant(
                [this, i](const testing::server::grant& g) { voted(i, g); });
            trial_.servers[i]->on_orphaned([this](std::string_view name, std::string_view owner) {
                trial_.named(name).stranded.emplace_back(owner);
            });
        }
        return;
    }
    for (testing::server* const each : trial_.servers)
        follow(*each);
    if (trial_.cluster != nullptr)
        follow(*trial_.cluster);
    silent_holders_.follow_server();
}

void checks::follow(testing::cluster& all)
{
    all.on_promotion([this](const testing::cluster::promotion& by) { promoted(by); });
    // A node that is down delays it.
    all.on_moved([this](unsigned slot) {
        for (name_state& each : trial_.names)
            if (redis_store::slot_of(each.text) == slot)
                each.moved_until = std::max(each.moved_until, trial_.now() + to_spread);
    });
    if (trial_.scenario.all_faults(leaves_connections))
        all.on_redirected([this](std::string_view name, std::string_view, clock::duration later) {
            if (later > 100ms)
                trial_.wrong("budget: an acquire of " + std::string(name) + " has " +
                             std::to_string(later / 1ms) + " ms more after it was sent elsewhere");
        });
    if (trial_.scenario.all_faults(leaves_way))
        all.on_map_request([this](std::string_view host) { asked_topology(host); });
}

/// A question begins at least a second after the one before. It lasts for longer if a node does not
/// answer, and then the next one may follow at once, so two maps, but not three, arrive within a
/// second. Except for clients without any reply yet, or whose request was lost with its node.
void checks::asked_topology(std::string_view host)
{
    auto& [before_last, last] = asked_.try_emplace(std::string(host), never, never).first->second;
    const auto& faults = trial_.scenario.faults;
    const auto allowed = faults.size() + trial_.processes.size();
    if (before_last != never && trial_.now() - before_last < 900ms && ++early_ > allowed)
        trial_.wrong("topology: " + std::string(host) + " asks a third time within " +
                     std::to_string((trial_.now() - before_last) / 1ms) + " ms");
    before_last = std::exchange(last, trial_.now());
}

void checks::follow(testing::server& each)
{
    each.on_grant([this](const testing::server::grant& g) { granted(g); });
    each.on_read_only(
        [this](std::string_view name) { trial_.named(name).demoted_at = trial_.now(); });
    each.on_free([this](std::string_view name) { trial_.named(name).freed = trial_.now(); });
    each.on_orphaned([this](std::string_view name, std::string_view owner) {
        name_state& n = trial_.named(name);
        n.stranded.emplace_back(owner);
        n.stranded_at = trial_.now();
    });
    each.on_unnotified_grant([this](std::string_view name, std::string_view owner) {
        name_state& n = trial_.named(name);
        n.unheard = owner;
        n.unheard_at = trial_.now();
    });
    each.on_overtaken([this](std::string_view name, std::string_view owner, bool unfair) {
        overtaken(name, owner, unfair);
    });
}

/// Two owners may hold at once only locks whose last write the replica has not seen, and of those
/// only locks that no replica had to confirm.
void checks::promoted(const testing::cluster::promotion& by)
{
    for (name_state& n : trial_.names) {
        const auto is_its_own = [&](const std::string& key) {
            return redis_store::slot_of(key) == redis_store::slot_of(n.text);
        };
        if (std::any_of(by.changed.begin(), by.changed.end(), is_its_own))
            n.broken = trial_.now();
        if (trial_.scenario.replicated)
            continue;
        const auto has = [](const auto& all, const std::string& key) {
            return std::find(all.begin(), all.end(), key) != all.end();
        };
        if (has(by.unlocked, n.text))
            n.unlocked = trial_.now();
        std::string entries = n.text; // in the layout redisson, the lock contains its entries
        if (trial_.scenario.is_native())
            redis_store::native_keys().entries(n.text, entries);
        if (has(by.changed, entries))
            n.entry_lost = trial_.now();
    }
}

void checks::granted(const testing::server::grant& g)
{
    ++trial_.grants;
    name_state& n = trial_.named(g.name);
    const bool counts_on = trial_.now() - n.broken > at_once &&
                           !(trial_.stepped_back && n.broken != never);
    // A repeated reply to the first request. Or the store has lost that grant and its draw, and a
    // copy of the request draws the same fences for the same owner.
    grant_record* const last = n.grants.empty() ? nullptr : &n.grants.back();
    const bool again = last != nullptr && last->owner == g.owner && g.first_fence >= last->first &&
                       g.first_fence < last->first + last->count &&
                       (g.repeated || (n.broken != never && last->when <= n.broken));
    if (!again && !g.plain && g.first_fence <= n.highest_granted && counts_on)
        trial_.wrong("fence: the store granted " + std::to_string(g.first_fence) + " after " +
                     std::to_string(n.highest_granted));
    check_request(g);
    n.highest_granted = std::max(n.highest_granted, g.first_fence);
    if (again)
        last->repeated = true;
    else
        n.grants.push_back({.owner = std::string(g.owner),
                            .first = g.first_fence,
                            .count = g.fences,
                            .when = g.taken,
                            .plain = g.plain});
    if (g.plain)
        n.turn_owed = never;
    // The request is answered after all.
    if (g.repeated)
        std::erase(n.stranded, g.owner);
    if (g.owner == n.unheard)
        n.unheard_at = never;
}

/// A member of a quorum has granted the lock to an owner, and has accepted fences, or none.
void checks::voted(std::size_t member, const testing::server::grant& g)
{
    name_state& n = trial_.named(g.name);
    check_request(g);
    auto same = std::find_if(n.grants.rbegin(), n.grants.rend(), [&](const grant_record& each) {
        return each.owner == g.owner && each.first == g.first_fence && each.count == g.fences;
    });
    if (same == n.grants.rend()) {
        ++trial_.grants;
        n.grants.push_back({std::string(g.owner), g.first_fence, g.fences, g.taken});
        same = n.grants.rbegin();
    }
    const std::uint32_t vote = std::uint32_t(1) << member;
    if (g.fences != 0 && (same->voters & vote) != 0)
        trial_.wrong("fence: a member has accepted " + std::to_string(g.first_fence) + " twice");
    same->voters |= vote;
}

/// A request that the server has executed was in time.
void checks::check_request(const testing::server::grant& g)
{
    const auto budget = std::min<clock::duration>(leasehold::detail::turn_context::request_limit,
                                                  trial_.scenario.longest_lease());
    if (g.age > budget + budget / 50 + 100ms && !trial_.stepped_back && !trial_.clocks_beyond)
        trial_.wrong("late: the store granted a request that was " + std::to_string(g.age / 1ms) +
                     " ms old");
    // If the connection of an application is replaced while no request is outstanding, there is no
    // notification, and the next request uses one with an unknown number.
    const auto& all = trial_.scenario.connections;
    const bool all_known = std::none_of(all.begin(), all.end(), [](auto& c) { return c.shared; });
    if (g.left_behind && trial_.scenario.may_kill && all_known)
        trial_.wrong("late: a request was granted of a connection that its client has replaced");
}

/// The first waiter is served first, unless it is absent. If there is no fault and no key expires,
/// no waiter is absent.
void checks::overtaken(std::string_view name, std::string_view owner, bool unfair)
{
    const plan& p = trial_.scenario;
    const bool all_renew = std::all_of(p.options.begin(), p.options.end(), [](auto& each) {
        return each.renew && each.longest_hold == no_limit;
    });
    // An owner without a notification may let its grant expire.
    const bool all_hear = std::none_of(p.connections.begin(), p.connections.end(), is_deaf);
    // External clients acquire a lock that is left free, and so do clients of this library.
    if (unfair || (p.is_quiet() && all_renew && all_hear && !p.leaves_free()))
        trial_.wrong("order: " + std::string(owner) + " was given " + std::string(name) +
                     " before earlier waiters");
}

/// The grant whose block contains the fence.
grant_record* checks::find_grant(name_state& n, std::uint64_t fence)
{
    const auto votes = [](const grant_record& of) {
        return static_cast<std::size_t>(std::popcount(of.voters));
    };
    for (auto i = n.grants.rbegin(); i != n.grants.rend(); ++i) {
        if (fence >= i->first && fence < i->first + i->count && votes(*i) >= trial_.scenario.grants)
            return &*i;
    }
    if (trial_.scenario.is_quorum()) {
        trial_.wrong("fence: " + std::to_string(fence) + " was accepted by too few members");
        return nullptr;
    }
    // More fences than the store reserved.
    if (!n.grants.empty() && !trial_.stepped_back)
        trial_.wrong("fence: " + std::to_string(fence) + " was never granted by the store");
    return nullptr;
}

void checks::possess(actor& a, lease& held)
{
    name_state& n = trial_.names[a.op->name];
    const auto fence = held.fence();
    grant_record* const granted = find_grant(n, fence);
    const auto since = granted != nullptr ? granted->when : trial_.now() - longest_request;
    const possession mine{&a,        &held, a.client,      a.op->name,
                          a.options, since, !held.valid(), trial_.now()};
    if (granted != nullptr)
        a.owner = granted->owner;
    if (granted != nullptr && fence == granted->first)
        granted->options = a.options;
    check_lease(mine, "has the lock");
    if (!mine.seen_invalid) {
        check_alone(mine);
        check_order(mine, n);
        if (granted != nullptr)
            check_handoff(mine, *granted, n);
        if (granted != nullptr)
            check_turn(a, *granted, n);
        check_wait(a, n);
    }
    n.last_fence = fence;
    n.last_options = a.options;
    trial_.possessions.push_back(mine);
    probe();
}

void checks::possess_again(actor& a)
{
    const grant_record* const granted = find_grant(trial_.names[a.op->name], a.inner.fence());
    const possession mine{&a,
                          &a.inner,
                          a.reentered_from,
                          a.op->name,
                          &trial_.scenario.options[a.op->other_options],
                          granted != nullptr ? granted->when : trial_.now() - longest_request,
                          !a.inner.valid(),
                          trial_.now()};
    check_lease(mine, "is in again");
    if (a.held && a.inner.fence() != a.held.fence())
        trial_.wrong("fence: entering again gave another one");
    if (!mine.seen_invalid)
        check_alone(mine);
    trial_.possessions.push_back(mine);
    probe();
}

void checks::check_lease(const possession& mine, const char* as)
{
    ++trial_.counted.leases;
    const process& client = *mine.client;
    trial_.note(*mine.holder, std::string(as)
                                  .append(", fence ")
                                  .append(std::to_string(mine.held->fence() % 1'000'000'000))
                                  .append(mine.seen_invalid ? ", NOT VALID" : ""));
    const bool may_be_late = client.was_stopped(trial_.now()) || client.closing || client.dead;
    if (mine.seen_invalid && !may_be_late)
        trial_.wrong("no time left: a lease that is not valid was given out");
    if (mine.held->deadline() > client.host->now() + mine.options->lease_time)
        trial_.wrong("deadline: later than a lease time from now");
}

/// While a lease is valid, no other owner holds the lock, unless the store has lost one of the two.
void checks::check_alone(const possession& mine)
{
    for (const possession& each : trial_.possessions) {
        if (each.name != mine.name || each.holder == mine.holder || !each.held->valid())
            continue;
        if (excused(each) || excused(mine))
            ++trial_.counted.overlaps_excused;
        else
            trial_.wrong("two holders: [" + std::to_string(each.holder->index) + "] and [" +
                         std::to_string(mine.holder->index) + "] of " +
                         trial_.names[mine.name].text);
    }
}

void checks::dispossess(const lease& held)
{
    std::erase_if(trial_.possessions, [&](const possession& each) { return each.held == &held; });
}

void checks::dispossess(const actor& a)
{
    std::erase_if(trial_.possessions, [&](const possession& each) { return each.holder == &a; });
}

void checks::check_order(const possession& mine, name_state& n)
{
    const std::uint64_t fence = mine.held->fence();
    // A member that may have lost fences takes that into account, but an owner that lost the lock
    // before the reply to its acquire has the smaller fence.
    const bool kept = trial_.scenario.is_quorum();
    const bool doubtful = n.broken != never && (kept ? mine.granted <= n.highest_at
                                                     : trial_.now() <= n.broken + longest_request);
    const bool went_back = trial_.stepped_back && n.broken != never && !kept;
    if (fence == n.highest && !went_back)
        trial_.wrong("fence: the same for two leases");
    else if (fence < n.highest && !doubtful && !trial_.clocks_beyond && !went_back)
        trial_.wrong("fence: " + std::to_string(fence) + " after " + std::to_string(n.highest));
    if (fence > n.highest) {
        n.highest = fence;
        n.highest_by = mine.holder;
        n.highest_at = trial_.now();
    }
}

void checks::check_handoff(const possession& mine, const grant_record& from, const name_state& n)
{
    const auto fence = mine.held->fence();
    if (fence == from.first || mine.client->was_stopped(trial_.now()))
        return;
    if (from.repeated && fence == from.first + from.count - 1)
        return; // a repeated reply, and no handoff
    ++trial_.counted.handed_off;
    const lock_options& own = *mine.options;
    const auto term = own.dead_holder_grace.count() != 0 ? own.dead_holder_grace : own.lease_time;
    if (mine.held->deadline() - mine.client->host->now() < clock::duration(term) / 2 - at_once)
        trial_.wrong("handoff: a lease that is about to end was handed over");
    const auto limited_by = [&](const lock_options& o) {
        const auto drift = clock::duration(o.handoff_time) / 4;
        if (trial_.now() - from.when > clock::duration(o.handoff_time) + drift + at_once)
            trial_.wrong("handoff: local waiters are served for longer than the option allows");
        if (fence - from.first > o.handoff_count)
            trial_.wrong("handoff: local waiters are served more often than the option allows");
    };
    if (from.options != nullptr)
        limited_by(*from.options);
    if (n.last_fence == fence - 1)
        limited_by(*n.last_options);
}

/// An owner that may release a lock for good has held it for so long that it is then left free
/// until each external client has polled.
void checks::owe_turn(const actor& a)
{
    const plan& p = trial_.scenario;
    name_state& n = trial_.names[a.op->name];
    n.turn_owed = never;
    const auto mine = std::find_if(trial_.possessions.begin(), trial_.possessions.end(),
                                   [&](const possession& each) { return each.held == &a.held; });
    // An entry may be released later, and external clients poll only for a while.
    if (trial_.now() + 300ms >= trial_.time(p.heals) || !p.is_quiet() ||
        a.op->what == verb::reenter || mine == trial_.possessions.end())
        return;
    const clock::duration due = std::min<clock::duration>(
        (trial_.now() - mine->granted) * a.options->external_share / 100, 300ms);
    for (const external_client& each : p.external_clients)
        if (&trial_.names[each.name % trial_.names.size()] == &n && due > 2 * each.every + 5ms)
            n.turn_owed = trial_.now();
}

/// External clients have had their free time before the grants to owners that waited during it.
void checks::check_turn(const actor& a, const grant_record& from, name_state& n)
{
    const auto owed = std::exchange(n.turn_owed, never);
    // After a handoff without the store, the later release owes the free time.
    const bool by_store = owed != never && from.when > owed;
    // A waiter that leaves the queue ends the free time.
    if (by_store && n.gave_up + 50ms < owed && a.started + 100ms < owed && n.external_took < owed)
        trial_.wrong("external time: external clients poll " + n.text +
                     ", and it was not left free");
}

void checks::acquired_externally(name_state& n)
{
    n.external_took = trial_.now();
    for (const possession& each : trial_.possessions)
        if (&trial_.names[each.name] == &n && each.held->valid() && !excused(each))
            trial_.wrong("two holders: [" + std::to_string(each.holder->index) +
                         "] and an external client of " + n.text);
}

void checks::expect_no_connections(clock::duration how_long)
{
    // Faults that do not delay outstanding requests.
    const auto is_plain = [](fault_kind f) {
        return f == fault_kind::restart_kept || is_unnoticed(f);
    };
    if (how_long <= 2ms || trial_.scenario.is_quorum() || trial_.scenario.is_cluster() ||
        !trial_.scenario.all_faults(is_plain))
        return;
    trial_.world.after(1ms, [this, how_long] {
        for (process& each : trial_.processes) {
            if (each.dead || each.closing)
                continue;
            const auto before = each.locks->stats().connects;
            trial_.world.after(how_long - 2ms, [this, &each, before] {
                if (!each.dead && !each.closing && each.locks->stats().connects != before)
                    trial_.wrong("connected: " + each.host->name() +
                                 " takes a server that loads its data for one that serves");
            });
        }
    });
}

void checks::told_error(const process& p, const diagnostics& details)
{
    // A quorum has to form first.
    if (trial_.scenario.all_faults(is_unnoticed) && !trial_.scenario.is_quorum())
        trial_.wrong("refused: " + p.host->name() + " gets " + details.server_message);
}

/// The time until which moving slots may delay the lock: its own slot and, if the window of
/// outstanding acquires is small, those of others, whose requests may go to the old node.
clock::time_point checks::moved_until(const name_state& n) const
{
    const plan& p = trial_.scenario;
    clock::time_point last = n.moved_until;
    if (std::none_of(p.connections.begin(), p.connections.end(),
                     [](const auto& how) { return how.acquires != 0; }))
        return last;
    for (const name_state& each : trial_.names)
        if (each.moved_until != never)
            last = std::max(
                {last, each.moved_until, trial_.trouble_of(each) + p.longest_lease() + to_notice});
    return last;
}

void checks::check_wait(const actor& a, const name_state& n)
{
    const plan& p = trial_.scenario;
    // The members of a quorum do not become free at the same moment. Old nodes send no
    // notification.
    if (p.is_quorum() || (p.is_cluster() && p.product == testing::server::product::redis_6))
        return;
    const testing::connecting& how = p.connections[a.client->client];
    // A waiter without a notification delays others, too.
    if (is_deaf(how) || std::any_of(p.connections.begin(), p.connections.end(), is_deaf))
        return;
    // A client that yields to others sleeps for the floor of its backoff.
    milliseconds floor{};
    for (const lock_options& each : p.options) {
        if (!each.renew || each.longest_hold != no_limit)
            return;
        floor = std::max(floor, each.backoff_floor);
    }
    const auto since = std::max({a.started, n.freed, n.left});
    // An orphaned lock is not free before its TTL has passed.
    const auto until_expired = [&](clock::time_point since_when) {
        return since_when != never && trial_.now() < since_when + p.longest_lease() + to_notice;
    };
    if (until_expired(n.stranded_at) || until_expired(n.unheard_at))
        return;
    // All faults have ended, wake-ups arrive again, and the last holder has released. A client
    // whose subscription was denied retries after half a minute.
    const bool deaf = trial_.denied_until != never && trial_.now() < trial_.denied_until + 31s;
    // In a queue, a lost message costs the grant. Its owner detects that with its next poll, a
    // third of its presence after the previous one.
    const auto costs_no_turn = [](fault_kind f) { return f != fault_kind::lost_wakeups; };
    const clock::duration mild = p.all_faults(costs_no_turn) ? 1s : 4s;
    const clock::duration calm = p.all_faults(is_mild) ? mild : p.longest_lease() + to_notice;
    const bool over = !deaf && trial_.demoted_until < since && n.freed >= n.left &&
                      trial_.trouble_of(n) + calm < since && moved_until(n) + 1s < since &&
                      n.broken == never && !trial_.clocks_beyond && !trial_.stepped_back;
    if (!p.is_quiet() && !over)
        return;
    const bool handed_off = !n.grants.empty() && n.grants.back().first != n.highest;
    // An external client without a channel does not publish its release. If its messages are lost,
    // it keeps the lock.
    if (std::max(p.is_native() ? n.external_took : clock::time_point(), n.external_until) >
        a.started)
        return;
    const clock::duration turn = p.leaves_free() ? 310ms : 0ms;
    if (trial_.now() - since > 80ms + floor + turn && !handed_off)
        trial_.wrong("wake-up: waited " + std::to_string((trial_.now() - since) / 1ms) +
                     " ms for a lock that was free");
}

void checks::reported_lost(actor& a, lease& held, process& client, error_code reason)
{
    ++trial_.counted.losses;
    trial_.outcome(reason);
    trial_.note(a, "is notified of the loss of its lease: " + reason.message());
    a.told = true;
    a.reason = reason;
    const auto here = std::find_if(trial_.possessions.begin(), trial_.possessions.end(),
                                   [&](const possession& p) { return p.held == &held; });
    if (a.ended || here == trial_.possessions.end())
        return;
    if (held.valid())
        trial_.wrong("told of a loss, and valid: " + reason.message());
    const lock_options& o = *a.options;
    const name_state& n = trial_.names[a.op->name];
    const bool excuse = excused(*here);
    // A first lease is at a member of a quorum only with its own entry: others may have been added
    // for the owner where the first acquire was never executed.
    const bool first = &held == &a.held;
    const bool still_there = !a.owner.empty() && (trial_.scenario.is_quorum()
                                                      ? trial_.majority_owner(n, first) == a.owner
                                                      : trial_.is_held_by(n, a.owner));
    // A lock that no majority had for a moment is lost, although a member may get it again.
    const forgotten_lock& gone = first ? n.forgotten_first : n.forgotten;
    const bool was_gone = gone.owner == a.owner && may_be_untold(*here, gone.when);
    if (reason == errc::lost && !excuse && !was_gone && still_there)
        trial_.wrong("unfounded loss: the store has the owner still");
    if (reason == errc::expired || reason == errc::silent) {
        const auto term = reason == errc::silent ? o.dead_holder_grace : o.lease_time;
        const auto late = client.host->now() - held.deadline();
        if (late > at_once && !client.was_stopped(trial_.now()))
            trial_.wrong("loss told late: " + std::to_string(late / 1us) +
                         " us after the deadline");
        // While a slot moves, locks with entries are not renewed, because they use two keys.
        const bool stays = a.op->what != verb::reenter || n.moved_until + to_notice < trial_.now();
        // A request that was redirected until its grant had little time left.
        const bool came_late = here->since <= n.moved_until &&
                               trial_.now() < here->since + o.lease_time;
        // The store granted it so late that there was no time for a renewal: before that, a node
        // that was cut off rejected the request.
        const bool granted_late = trial_.now() < here->granted + term / 4;
        // Renewals without a write do not show that the server is a replica now. After the first
        // write fails, the pause before the next connection may outlast the lease.
        const auto pause = trial_.scenario.connections[client.client].limits.reconnect;
        const bool noticed_late = n.demoted_at != never &&
                                  trial_.now() < n.demoted_at + pause + 100ms;
        // A dead connection for confirmations is noticed after 5 s, because WAIT blocks it, and
        // then made again.
        const clock::duration notices = trial_.scenario.replicated ? 6s : to_notice;
        if ((o.renew || reason == errc::silent) && stays && !came_late && !granted_late &&
            !noticed_late && trial_.trouble_of(n) + notices + term / 4 < trial_.now())
            trial_.wrong("unfounded loss: it expired though the store could be reached");
        if (reason == errc::expired && o.renew && o.lease_time >= 1s && majority_lives())
            trial_.wrong("unfounded loss: it expired though a majority of the members lived");
    }
    else if (reason == errc::lost && untroubled(n) && !trial_.clocks_beyond &&
             (n.unlocked == never || !excuse) && o.renew) {
        trial_.wrong("unfounded loss: nothing happened to the data");
    }
    else if (reason == errc::lost && o.renew && is_known_to_all(*here)) {
        trial_.wrong("unfounded loss: one member has forgotten it, and all others knew it");
    }
    if (!a.op->ignores_loss && a.hold && !a.guards())
        a.hold->cancel();
}

/// The lock was renewed at all members of a quorum before one of them lost its data.
bool checks::is_known_to_all(const possession& p) const
{
    const auto forgets = [](const fault& f) {
        return is_forgetting(f.what) && f.member && !f.together;
    };
    const std::vector<fault>& all = trial_.scenario.faults;
    if (!trial_.scenario.is_quorum() || trial_.forgot == never ||
        !std::all_of(all.begin(), all.end(), forgets))
        return false;
    const lock_options& o = *p.options;
    const clock::duration interval = o.renew_interval.count() != 0 ? o.renew_interval
                                                                   : o.lease_time / 3;
    return std::max(p.since, trial_.forgot_after) + interval + interval / 20 + to_notice <
           trial_.forgot;
}

/// One member of a quorum after the other was unreachable, without another fault. Each was back
/// before the next one failed.
bool checks::majority_lives() const
{
    if (!trial_.scenario.is_quorum())
        return false;
    std::vector<fault> all = trial_.scenario.faults;
    std::sort(all.begin(), all.end(), [](const fault& a, const fault& b) { return a.at < b.at; });
    std::optional<std::size_t> last;
    milliseconds back{};
    for (const fault& each : all) {
        const bool is_cut = each.what == fault_kind::cut_both;
        if ((!is_cut && each.what != fault_kind::restart_kept) || !each.member || each.together ||
            each.trigger || each.when_closing || (last && each.member != last && each.at < back))
            return false;
        last = each.member;
        // Without a rejected connection, this takes until the next attempt.
        back = std::max(back, each.at + each.how_long + (is_cut ? 5s : 300ms));
    }
    return true;
}

void checks::probe()
{
    silent_holders_.probe();
    for (const name_state& n : trial_.names) {
        const std::string holder = trial_.server.holder(n.text);
        if (holder.starts_with("external:") && holder.find('|') != std::string::npos)
            trial_.wrong("external value changed: its external owner cannot release " + n.text);
    }
    for (possession& each : trial_.possessions) {
        if (each.client->dead)
            continue;
        const auto here = each.client->host->now();
        const auto deadline = each.held->deadline();
        if (!each.held->valid()) {
            each.seen_invalid = true;
            const bool may_be_late = each.client->was_stopped(trial_.now()) || each.client->closing;
            if (here - deadline > at_once && each.held == &each.holder->held &&
                !each.holder->told && !may_be_late)
                trial_.wrong("loss not told: " + std::to_string((here - deadline) / 1us) +
                             " us after the deadline");
            continue;
        }
        if (each.seen_invalid)
            trial_.wrong("valid again: a lease that had ended");
        if (here >= deadline)
            trial_.wrong("valid past its deadline");
        const name_state& n = trial_.names[each.name];
        // Some members of the quorum that have the lock may lose it.
        const bool forgotten = trial_.scenario.is_quorum() &&
                               !trial_.scenario.all_faults(
                                   [](fault_kind f) { return !is_forgetting(f); });
        if (!each.holder->owner.empty() && !excused(each) && !forgotten &&
            !trial_.is_held_by(n, each.holder->owner))
            trial_.wrong("valid, and the store does not have it: " + n.text);
    }
}

void checks::probe_regularly()
{
    probe();
    if (trial_.now() < trial_.time(trial_.scenario.ends))
        trial_.world.after(500ms, [this] { probe_regularly(); });
}

void checks::find_orphans()
{
    for (testing::server* const each : trial_.servers)
        find_orphans_at(*each);
}

void checks::find_orphans_at(testing::server& member)
{
    const auto& actors = trial_.actors;
    for (const name_state& n : trial_.names) {
        const std::string owner = member.holder(n.text);
        if (owner.empty() || owner.starts_with("external"))
            continue;
        const auto granted = std::find_if(n.grants.rbegin(), n.grants.rend(),
                                          [&](const grant_record& r) { return r.owner == owner; });
        if (granted == n.grants.rend() || granted->when > trial_.time(trial_.scenario.heals))
            continue;
        const auto any_of_owner = [&](auto is_so) {
            return std::any_of(actors.begin(), actors.end(),
                               [&](const actor& a) { return a.owner == owner && is_so(a); });
        };
        // A client that was shut down repeats no release at a member of a quorum that had not
        // answered by then.
        const bool left_behind = std::any_of(
            trial_.processes.begin(), trial_.processes.end(), [&](const process& p) {
                return trial_.scenario.is_quorum() && p.closed &&
                       (owner.starts_with(p.locks->id()) ||
                        any_of_owner([&](const actor& a) { return a.reentered_from == &p; }));
            });
        // A member that lost its last seconds may have an entry again that was released.
        const bool reentered = any_of_owner(
            [](const actor& a) { return a.reentered_from != nullptr; });
        const bool rolled_back =
            reentered &&
            std::any_of(trial_.rollbacks.begin(), trial_.rollbacks.end(), [&](const auto& r) {
                return r.first == &member && granted->when < r.second;
            });
        // A waiter whose grant was not answered yet repeats its request under the same owner.
        const bool had = any_of_owner([](const actor&) { return true; });
        const bool asked_for = !had &&
                               std::any_of(actors.begin(), actors.end(), [&](const actor& a) {
                                   return a.due > 0 && a.owner.empty() &&
                                          &trial_.names[a.op->name] == &n && a.client != nullptr &&
                                          !a.client->dead && !a.client->closed &&
                                          owner.starts_with(a.client->locks->id());
                               });
        const bool wanted = asked_for || any_of_owner([](const actor& a) {
                                return !a.ended || a.inner || a.inner_due > 0;
                            });
        const bool crashed = std::any_of(trial_.processes.begin(), trial_.processes.end(),
                                         [](const process& p) { return p.dead; });
        // A lost lease ends only with its TTL, and so does an entry whose release was denied, or
        // that was made by a request that was executed again after its rejection. Others of its
        // owner may extend it until they are released.
        const bool lost = any_of_owner([](const actor& a) { return a.told; });
        const bool stranded = std::find(n.stranded.begin(), n.stranded.end(), owner) !=
                              n.stranded.end();
        // The release of an expired entry is repeated until it is answered, at longer and longer
        // intervals.
        const bool under_way = std::any_of(trial_.processes.begin(), trial_.processes.end(),
                                           [&](const process& p) {
                                               const auto core = p.core.lock();
                                               return core != nullptr && core->is_releasing(owner);
                                           });
        // A request that is executed again after the reply "held" may be granted without a waiter.
        // The TTL of the lock limits that.
        const bool told = had || !trial_.duplicates;
        const bool sound = n.broken == never && !trial_.stepped_back && !trial_.clocks_beyond;
        if (!wanted && !crashed && !lost && !stranded && !under_way && !left_behind &&
            !rolled_back && !trial_.gave_up && told && sound)
            trial_.wrong("orphan: " + n.text + " is held without a living owner");
    }
}

void checks::shut_down(const process& p, error_code failed, clock::time_point began,
                       clock::time_point troubled)
{
    // Locks that the client could not release expire.
    if (failed)
        for (name_state& n : trial_.names)
            n.stranded_at = trial_.now();
    for (const actor& a : trial_.actors) {
        // An owner passes from one lease to the next. It may have other entries, and the last one
        // may have lost the lock.
        const bool else_told = std::any_of(
            trial_.actors.begin(), trial_.actors.end(), [&](const actor& b) {
                return b.owner == a.owner &&
                       (b.entering || b.unreleased || (b.told && b.reason != errc::shut_down));
            });
        // Because of trouble, the TTLs may have ended the shutdown, and not to the millisecond.
        const bool by_time = trial_.now() > began + a.options->lease_time / 2 ||
                             troubled + to_notice > began;
        const bool its_own = a.client == &p && !a.owner.empty() && !else_told;
        const name_state& n = trial_.names[a.op->name];
        const bool denied = began < trial_.denied_until;
        if (!failed && !by_time && !denied && its_own && n.broken == never &&
            trial_.is_held_by(n, a.owner))
            trial_.wrong("shutdown: it succeeded, and " + n.text + " is held still");
    }
}

/// The number of polls for a possibly silent holder, by the first three of a queue.
std::uint64_t checks::detects_silence() const
{
    auto grace = milliseconds::max();
    for (const lock_options& each : trial_.scenario.options) {
        if (each.dead_holder_grace.count() != 0)
            grace = std::min(grace, each.dead_holder_grace);
    }
    return grace == milliseconds::max()
               ? 0
               : static_cast<std::uint64_t>(60'000ms / (grace / 2)) * trial_.scenario.names;
}

void checks::check_commands()
{
    // Each poll of a held lock is allowed by a pause, a wake-up or a grant.
    const plan& scenario = trial_.scenario;
    milliseconds ceiling = scenario.options.front().backoff_ceiling;
    milliseconds floor = ceiling;
    for (const lock_options& each : scenario.options) {
        ceiling = std::min(ceiling, each.backoff_ceiling);
        floor = std::min(floor, each.backoff_floor);
    }
    const auto pause = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(ceiling.count()) / 4);
    // Pauses start again at the floor after each grant.
    std::uint64_t growing = 4;
    for (auto bound = floor; bound < ceiling; bound *= 2)
        ++growing;
    const std::uint64_t most = 200 + 60'000 / pause * scenario.names + growing * trial_.grants +
                               growing * scenario.operations.size() + detects_silence();
    for (const process& p : trial_.processes) {
        const client_stats s = p.locks->stats();
        if (s.acquires_sent > most)
            trial_.wrong("too many commands: " + std::to_string(s.acquires_sent) + " acquires, " +
                         std::to_string(trial_.grants) + " grants");
    }
}

void checks::all_called()
{
    for (const actor& a : trial_.actors) {
        if (a.client != nullptr && !a.client->dead && a.due != 0)
            trial_.wrong("never called: a handler of [" + std::to_string(a.index) + "]");
        if (a.reentered_from != nullptr && !a.reentered_from->dead && a.inner_due != 0)
            trial_.wrong("never called: an inner handler of [" + std::to_string(a.index) + "]");
    }
    check_commands();
    check_members();
}

/// A member that lost its data becomes a member again. It does not know the loss if it was emptied
/// and has had no request since.
void checks::check_members()
{
    const auto empties = [](fault_kind f) { return f != fault_kind::flush_all; };
    if (!trial_.scenario.is_quorum() || !trial_.scenario.all_faults(empties))
        return;
    const bool all = std::all_of(trial_.servers.begin(), trial_.servers.end(),
                                 [](const testing::server* each) { return each->is_member(); });
    if (!all && untroubled(trial_.names.front()))
        trial_.wrong("stuck: a server has not become a member again");
}

void checks::nothing_left()
{
    for (const process& p : trial_.processes) {
        if (p.dead)
            continue;
        const client_stats s = p.locks->stats();
        if (s.held != 0 || s.waiting != 0 || s.orphans != 0 || s.watched > trial_.scenario.names)
            trial_.wrong("left over in a client: " + std::to_string(s.held) + " held, " +
                         std::to_string(s.waiting) + " waiting, " + std::to_string(s.orphans) +
                         " orphans");
    }
    for (const testing::server* each : trial_.servers)
        if (trial_.first_wrong.empty() && each->locks() != 0)
            trial_.wrong("left over in the store: " + std::to_string(each->locks()) + " lock(s)");
    const bool crashed = std::any_of(trial_.processes.begin(), trial_.processes.end(),
                                     [](const process& p) { return p.dead; });
    // An owner that could not be released stays until it is skipped, or the queue is lost.
    const bool may_stay = crashed || trial_.gave_up || trial_.denied_until != clock::time_point{} ||
                          trial_.duplicates;
    for (const name_state& n : trial_.names)
        if (!may_stay && n.broken == never &&
            (trial_.cluster != nullptr ? trial_.cluster->keeper_of(n.text) : trial_.server)
                    .queue_length(n.text) != 0)
            trial_.wrong("left over in the store: an owner in a queue");
}

void checks::nothing_listens()
{
    for (const testing::server* each : trial_.servers)
        if (each->watches() != 0)
            trial_.wrong("left over in the store: watches");
}

} // namespace leasehold::test::sim
