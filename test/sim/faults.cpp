#include "sim/faults.hpp"

#include "sim/actors.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace leasehold::test::sim {
namespace {

using namespace std::chrono_literals;
using testing::step;

testing::server::trouble trouble(const fault& f)
{
    return static_cast<testing::server::trouble>(f.amount);
}

/// The time for which a shard that has lost its master has none.
milliseconds until_elected(const fault& f)
{
    return milliseconds(300 + f.amount % 1500);
}

/// The duration of the trouble that a fault makes. `left`: until the end of all faults.
clock::duration trouble_of(const plan& scenario, const fault& f, milliseconds how_long,
                           milliseconds left)
{
    const auto& all = scenario.connections;
    const bool any_shared = std::any_of(all.begin(), all.end(), [](auto& c) { return c.shared; });
    // A member that lost its data becomes a member again, and is silent for the longest lease time.
    if (scenario.is_quorum() && is_forgetting(f.what)) {
        const auto serves = how_long +
                            milliseconds(f.what == fault_kind::restart_kept ? f.amount : 0);
        const clock::duration lease = scenario.longest_lease();
        return serves + to_notice + lease + lease / 20;
    }
    // A returning node follows a little later.
    constexpr clock::duration rejoining = 1500ms;
    switch (f.what) {
    case fault_kind::fail_over:
        if (!scenario.is_cluster())
            return how_long;
        return (scenario.replicated ? clock::duration(how_long) : until_elected(f)) + rejoining;
    case fault_kind::machine_dies:
        return (scenario.replicated ? clock::duration(how_long) : until_elected(f) + to_notice) +
               rejoining;
    case fault_kind::master_cut_off:
        return (scenario.replicated ? clock::duration(how_long) : milliseconds(f.amount)) +
               rejoining;
    case fault_kind::switch_over: return rejoining;
    case fault_kind::refusing_server:
        // An application's connection stays at its server. Others are redirected to the new master
        // at once.
        return trouble(f) == testing::server::trouble::read_only && !any_shared
                   ? std::min<clock::duration>(how_long, 1s)
                   : how_long;
    // A denied release is not repeated: the lock expires.
    case fault_kind::denying_server: return how_long + scenario.longest_lease();
    case fault_kind::slow_server:
    case fault_kind::lossy:
    case fault_kind::resetting: return left;
    // If replicas have to confirm, a replica that does not know its master confirms nothing.
    case fault_kind::stale_map:
        return scenario.replicated ? clock::duration(how_long) + rejoining : how_long;
    case fault_kind::restart_kept: return how_long + milliseconds(f.amount);
    case fault_kind::reordering: return left + 2s; // a message may be a second late
    case fault_kind::delaying:
        return left + 2 * milliseconds(f.amount); // outstanding requests, and their replies
    default: return how_long;
    }
}

} // namespace

faults::faults(trial& of, processes& clients, checks& judge)
    : trial_(of), processes_(clients), checks_(judge), effects_(of)
{
    processes_.on_start = [this](process& p) { arm(p); };
    processes_.on_step = [this](process& p, step done) { trigger(p, done); };
    processes_.on_close = [this](process& p) { trigger_at_close(p); };
}

void faults::schedule()
{
    for (const fault& each : trial_.scenario.faults)
        if (!each.trigger && !each.when_closing)
            trial_.world.at(trial_.time(each.at), [this, &each] { apply_when_due(each); });
    trial_.world.at(trial_.time(trial_.scenario.heals), [this] { heal(); });
}

void faults::arm(process& p)
{
    for (const fault& each : trial_.scenario.faults) {
        const bool fired = std::find(fired_.begin(), fired_.end(), &each) != fired_.end();
        if (each.trigger && each.client % trial_.scenario.clients == p.client && !fired)
            p.armed.push_back(&each);
    }
}

void faults::trigger(process& p, step done)
{
    effects_.step(p);
    if (p.armed.empty() || trial_.healed() || p.dead)
        return;
    const auto found = std::find_if(p.armed.begin(), p.armed.end(), [&](const fault* each) {
        return each->trigger == done && trial_.now() >= trial_.time(each->at);
    });
    if (found == p.armed.end())
        return;
    const fault& f = **found;
    fired_.push_back(&f);
    for (process& each : trial_.processes)
        std::erase(each.armed, &f);
    trial_.world.after(clock::duration::zero(), [this, &f, &p] { apply(f, p); });
}

void faults::trigger_at_close(process& p)
{
    for (const fault& each : trial_.scenario.faults) {
        if (!each.when_closing || each.client % trial_.scenario.clients != p.client)
            continue;
        trial_.world.after(clock::duration(each.amount % 2 * 1'000'000), [this, &each, &p] {
            if (!p.closed)
                apply(each, p);
        });
    }
}

void faults::apply_when_due(const fault& f)
{
    process& p = *trial_.clients[f.client % trial_.scenario.clients];
    if (!p.dead || f.together)
        apply(f, p);
}

void faults::apply(const fault& f, process& p)
{
    const bool absent = p.dead || p.host->is_crashed();
    if (trial_.healed() || (absent && !f.together) || is_too_much(f))
        return;
    effects::incident& incident = effects_.begin(f, p);
    const auto left = std::chrono::duration_cast<milliseconds>(trial_.time(trial_.scenario.heals) -
                                                               trial_.now());
    const milliseconds how_long = std::min(f.how_long, left);
    name_state& n = trial_.names[f.name % trial_.scenario.names];
    trial_.note(p, std::string("FAULT ") + name_of(f.what) + " " +
                       std::to_string(how_long.count()) + " ms");
    // A member that knows its loss of data is silent until its grants have expired. A promoted
    // replica knows which data it has not seen.
    const bool is_harmless = (trial_.scenario.is_quorum() && is_forgetting(f.what)) ||
                             (trial_.scenario.is_cluster() && f.what == fault_kind::fail_over);
    if (breaks_exclusion(f.what) && !is_harmless)
        break_exclusion(f, n);
    if (is_forgetting(f.what)) {
        trial_.forgot_after = trial_.troubled_until;
        trial_.forgot = trial_.now();
        if (trial_.scenario.is_quorum())
            trial_.rollbacks.emplace_back(&trial_.server_of(f), trial_.now());
    }
    // Neither fault ends a lease.
    const auto hears = hears_others(f, how_long);
    const bool is_gentle = f.what == fault_kind::slot_moves ||
                           (f.what == fault_kind::stale_map && !trial_.scenario.replicated &&
                            hears < trial_.now());
    const auto trouble = std::max(trial_.now() + trouble_of(trial_.scenario, f, how_long, left),
                                  hears);
    const auto all = is_gentle ? std::vector<name_state*>() : concerned(f);
    if (const auto shard = shard_of(f); shard && !is_gentle)
        trial_.shard_trouble[*shard] = std::max(trial_.shard_trouble[*shard], trouble);
    for (name_state* const each : all)
        each->troubled_until = std::max(each->troubled_until, trouble);
    if (all.size() == trial_.names.size())
        trial_.troubled_until = std::max(trial_.troubled_until, trouble);
    clock::time_point& whose = is_of_client(f.what) ? trial_.client_trouble[p.client]
                                                    : trial_.store_trouble;
    if (!is_unnoticed(f.what))
        whose = std::max(whose, trouble);
    befall_network(f, p, how_long);
    const bool destroyed = befall_member(f, n, how_long);
    befall_process(f, p, how_long, incident.happened);
    worsen(f, p);
    effects_.applied(incident, destroyed, how_long);
}

/// A node of a cluster that starts while it hears nothing of the others rejects all requests until
/// it hears them. Returns when that is, if the fault stops a node or keeps it from hearing; else
/// the past.
clock::time_point faults::hears_others(const fault& f, milliseconds how_long)
{
    constexpr clock::duration rejoining = 1500ms;
    const bool is_silence = f.what == fault_kind::stale_map;
    const bool is_restart = (is_forgetting(f.what) && f.what != fault_kind::flush_all) ||
                            f.what == fault_kind::shard_down ||
                            f.what == fault_kind::machine_dies ||
                            f.what == fault_kind::master_cut_off;
    auto last = clock::time_point::min();
    if (trial_.cluster == nullptr || (!is_silence && !is_restart))
        return last;
    const std::size_t shard = trial_.cluster->shard_of(trial_.server_of(f));
    for (const testing::server* const each : trial_.servers) {
        const bool is_hit = f.member || is_silence ? each == &trial_.server_of(f)
                                                   : trial_.cluster->shard_of(*each) == shard;
        if (!is_hit)
            continue;
        node_state& node = nodes_[each];
        clock::time_point& until = is_silence ? node.silent_until : node.stopped_until;
        until = std::max(until, trial_.now() + how_long + rejoining);
        if (trial_.now() < node.stopped_until && node.stopped_until < node.silent_until)
            last = std::max(last, node.silent_until);
    }
    return last;
}

/// The shard of a cluster that a fault affects, or whose path it affects. Empty: it affects more.
std::optional<std::size_t> faults::shard_of(const fault& f) const
{
    const plan& scenario = trial_.scenario;
    const bool is_breaking = f.what == fault_kind::fail_over || f.what == fault_kind::shard_down ||
                             f.what == fault_kind::machine_dies ||
                             f.what == fault_kind::master_cut_off;
    const bool of_shard = (f.member && is_of_way(f.what)) || is_of_cluster(f.what) ||
                          is_of_server(f.what) || is_breaking;
    if (!scenario.is_cluster() || !of_shard || (scenario.full_coverage && is_breaking))
        return std::nullopt;
    return f.member ? trial_.cluster->shard_of(trial_.server_of(f))
                    : trial_.cluster->shard_of(trial_.names[f.name % scenario.names].text);
}

/// The names that a fault affects. In a cluster, a fault of a shard or of the path to it does not
/// affect the names of other shards, but a slot that moves belongs to two shards.
std::vector<name_state*> faults::concerned(const fault& f)
{
    const auto shard = shard_of(f);
    std::vector<name_state*> all;
    for (name_state& each : trial_.names)
        if (!shard || trial_.cluster->shard_of(each.text) == *shard || trial_.is_moving(each))
            all.push_back(&each);
    return all;
}

/// A quorum is stuck if fewer than a majority of its members remain while the others have lost
/// their data.
bool faults::is_too_much(const fault& f) const
{
    // The server would lose a part of a moving slot, and corrupt a queue.
    const bool any_moves = std::any_of(trial_.names.begin(), trial_.names.end(),
                                       [this](const name_state& n) { return trial_.is_moving(n); });
    if (trial_.scenario.is_cluster() && is_forgetting(f.what) &&
        f.what != fault_kind::restart_kept && f.what != fault_kind::fail_over && any_moves)
        return true;
    if (!trial_.scenario.is_quorum() || !is_forgetting(f.what))
        return false;
    // A fault of all members at once is allowed. The rest of such a fault in a shrunk plan is not.
    const auto& all = trial_.scenario.faults;
    const auto group = std::count_if(all.begin(), all.end(), [&](const fault& each) {
        return each.together && each.what == f.what && each.at == f.at;
    });
    if (f.together && static_cast<std::size_t>(group) % trial_.servers.size() == 0)
        return false;
    const testing::server& forgets = trial_.server_of(f);
    const auto left = std::count_if(
        trial_.servers.begin(), trial_.servers.end(),
        [&](const testing::server* each) { return each != &forgets && each->is_member(); });
    return static_cast<std::size_t>(left) <= trial_.servers.size() / 2;
}

void faults::break_exclusion(const fault& f, name_state& n)
{
    const bool one_name = f.what == fault_kind::key_deleted ||
                          f.what == fault_kind::key_overwritten || f.what == fault_kind::key_seized;
    for (name_state* const each : concerned(f))
        if (!one_name || each == &n) {
            each->broken = trial_.now();
            // A lease counts only when replicas have it.
            if (f.what != fault_kind::fail_over || !trial_.scenario.replicated)
                each->unlocked = trial_.now();
        }
}

void faults::befall_network(const fault& f, process& p, milliseconds how_long)
{
    testing::host& h = *p.host;
    if (f.member && befall_way(f, h, how_long))
        return;
    switch (f.what) {
    case fault_kind::cut_both: return h.cut_off(testing::direction::both, how_long);
    case fault_kind::cut_to_server: return h.cut_off(testing::direction::to_server, how_long);
    case fault_kind::cut_from_server: return h.cut_off(testing::direction::from_server, how_long);
    case fault_kind::reset: return h.reset_connections();
    case fault_kind::lost_wakeups: return h.lose_wakeups(how_long);
    case fault_kind::unsent: return h.fail_sending(how_long);
    case fault_kind::false_wakeup:
        return h.false_wakeup(trial_.names[f.name % trial_.scenario.names].text);
    default: return;
    }
}

/// The path to one member alone. Returns false if there is no such fault.
bool faults::befall_way(const fault& f, testing::host& h, milliseconds how_long)
{
    const testing::server& to = trial_.server_of(f);
    switch (f.what) {
    case fault_kind::cut_both: h.cut_off(to, testing::direction::both, how_long); break;
    case fault_kind::cut_to_server: h.cut_off(to, testing::direction::to_server, how_long); break;
    case fault_kind::cut_from_server:
        h.cut_off(to, testing::direction::from_server, how_long);
        break;
    case fault_kind::reset: h.reset_connections(to); break;
    default: return false;
    }
    return true;
}

/// Returns false if the fault is impossible now, or there is no such fault.
bool faults::befall_cluster(const fault& f, name_state& n, milliseconds how_long)
{
    testing::cluster& c = *trial_.cluster;
    const std::size_t shard = c.shard_of(n.text);
    switch (f.what) {
    case fault_kind::fail_over:
        return c.fail_over(shard, milliseconds(f.amount), until_elected(f), how_long);
    case fault_kind::machine_dies:
        return c.switch_off(shard, milliseconds(f.amount), until_elected(f), how_long);
    case fault_kind::shard_down: return c.shut(shard, how_long);
    case fault_kind::master_cut_off: return c.split(shard, milliseconds(f.amount), how_long);
    case fault_kind::switch_over: return c.switch_over(shard);
    case fault_kind::slot_moves: {
        const auto to = static_cast<std::size_t>(f.amount) % trial_.scenario.shards;
        if (!c.move_slot_of(n.text, to, how_long / 10, how_long))
            return false;
        for (name_state& each : trial_.names)
            if (trial_.scenario.one_slot || &each == &n)
                each.moved_until = std::max(each.moved_until, trial_.now() + how_long + to_spread);
        return true;
    }
    case fault_kind::stale_map: c.hold_back(trial_.server_of(f), how_long); return true;
    default: return false;
    }
}

/// Records the locks that a member loses, if no majority has them after that. The majority may not
/// have been complete: then a later vote completes a grant that only fewer members have.
bool faults::befall_member(const fault& f, name_state& n, milliseconds how_long)
{
    if (!trial_.scenario.is_quorum() || !is_forgetting(f.what))
        return befall_server(f, n, how_long);
    std::vector<std::pair<trial::owners, trial::owners>> before;
    for (const name_state& each : trial_.names)
        before.emplace_back(trial_.owners_of(each, false), trial_.owners_of(each, true));
    const bool destroyed = befall_server(f, n, how_long);
    const auto note = [this](const trial::owners& had, const trial::owners& have,
                             forgotten_lock& to) {
        for (const auto& [owner, members] : had) {
            const auto found = have.find(owner);
            const std::size_t left = found != have.end() ? found->second : 0;
            if (left < members && left <= trial_.servers.size() / 2)
                to = {owner, trial_.now()};
        }
    };
    auto owners = before.begin();
    for (name_state& each : trial_.names) {
        note(owners->first, trial_.owners_of(each, false), each.forgotten);
        note(owners->second, trial_.owners_of(each, true), each.forgotten_first);
        ++owners;
    }
    return destroyed;
}

/// Returns whether the fault itself reports an effect.
bool faults::befall_server(const fault& f, name_state& n, milliseconds how_long)
{
    if (trial_.cluster != nullptr && (is_of_cluster(f.what) || f.what == fault_kind::fail_over))
        return befall_cluster(f, n, how_long);
    using data = testing::server::data;
    testing::server& s = trial_.server_of(f);
    switch (f.what) {
    case fault_kind::slow_server:
        s.slow(milliseconds(f.amount));
        trial_.world.after(how_long, [&s] { s.slow({}); });
        return false;
    case fault_kind::stalled_server: s.stall(how_long); return false;
    case fault_kind::refusing_server:
        s.refuse(how_long, trouble(f));
        if (trouble(f) == testing::server::trouble::read_only)
            trial_.demoted_until = std::max(trial_.demoted_until, trial_.now() + how_long);
        return false;
    case fault_kind::denying_server:
        s.deny(how_long);
        trial_.denied_until = std::max(trial_.denied_until, trial_.now() + how_long);
        return false;
    case fault_kind::failing_renewals: s.fail_renewals(n.text, how_long); return false;
    case fault_kind::restart_kept: {
        const bool destroyed = s.restart(data::kept, how_long) != 0;
        // The server loads its data before it serves.
        s.refuse(how_long + milliseconds(f.amount), testing::server::trouble::loading);
        checks_.expect_no_connections(how_long + milliseconds(f.amount));
        return destroyed;
    }
    case fault_kind::restart_lost: return s.restart(data::lost, how_long) != 0;
    case fault_kind::restart_second_lost: return s.restart(data::last_second_lost, how_long) != 0;
    case fault_kind::fail_over: return s.fail_over(milliseconds(f.amount), how_long) != 0;
    case fault_kind::flush_all: return s.flush_all() != 0;
    case fault_kind::flush_scripts:
        s.flush_scripts(f.amount != 0 ? how_long : milliseconds());
        return false;
    case fault_kind::key_deleted: return s.erase(n.text);
    case fault_kind::key_overwritten:
        trial_.world.after(how_long, [this, &s, &n] {
            n.broken = n.unlocked = trial_.now();
            s.erase(n.text);
        });
        return s.overwrite(n.text);
    case fault_kind::key_seized: return s.seize(n.text, std::max(how_long, 1ms));
    case fault_kind::server_drift: s.drift(f.amount); return false;
    case fault_kind::server_clock_forward: s.step_clock(milliseconds(f.amount)); return false;
    case fault_kind::server_clock_back:
        trial_.stepped_back = true;
        s.step_clock(milliseconds(-f.amount));
        return false;
    default: return false;
    }
}

void faults::befall_process(const fault& f, process& p, milliseconds how_long, bool& effect)
{
    testing::host& h = *p.host;
    switch (f.what) {
    case fault_kind::pause:
        h.pause(how_long);
        p.stopped_until = std::max(p.stopped_until, trial_.now() + how_long + at_once);
        return;
    case fault_kind::suspend:
        h.suspend(how_long);
        p.stopped_until = std::max(p.stopped_until, trial_.now() + how_long) + 1100ms;
        return;
    case fault_kind::crash: return crash(p, how_long);
    case fault_kind::drift_beyond: trial_.clocks_beyond = true; return h.drift(f.amount);
    case fault_kind::drift_within: return h.drift(f.amount);
    case fault_kind::wall_clock_step:
        return h.step_wall_clock(std::chrono::hours(24 * 365 * 10) * (f.amount < 0 ? -1 : 1));
    case fault_kind::shutdown:
        if (!p.closing)
            processes_.close(p, true);
        return;
    case fault_kind::cancel: return cancel(f, p, effect);
    default: return;
    }
}

/// From now on, messages are lost or delayed.
void faults::worsen(const fault& f, process& p)
{
    testing::conditions net = p.host->network();
    const auto percent = static_cast<std::uint32_t>(f.amount) * 10'000;
    switch (f.what) {
    case fault_kind::lossy: net.loss = net.reply_loss = net.wakeup_loss = percent; break;
    case fault_kind::duplicating:
        trial_.duplicates = true;
        net.duplication = net.wakeup_doubling = percent;
        break;
    case fault_kind::reordering: net.reordering = percent; break;
    case fault_kind::resetting: net.reset_before = net.reset_after = percent; break;
    case fault_kind::delaying:
        net.slow = 100'000;
        net.slow_delay = milliseconds(f.amount);
        break;
    default: return;
    }
    if (f.member)
        p.host->network(trial_.server_of(f), net);
    else
        p.host->network(net);
}

void faults::crash(process& p, milliseconds how_long)
{
    for (process& each : trial_.processes)
        if (each.host == p.host)
            each.dead = true; // this includes earlier clients of this host
    std::erase_if(trial_.possessions, [](const possession& each) { return each.client->dead; });
    p.host->crash();
    trial_.world.after(how_long, [this, &p] {
        std::string name = p.host->name();
        if (!name.ends_with('\''))
            name += '\'';
        processes_.restart(p.client, trial_.world.make_host(std::move(name)));
    });
}

void faults::cancel(const fault& f, const process& p, bool& effect)
{
    for (actor& each : trial_.actors)
        if (each.client == &p && each.due > 0 && each.op->name == f.name % trial_.scenario.names)
            actors::cancel(each, effect);
}

void faults::heal()
{
    if (trial_.traced)
        trial_.world.note("HEALED");
    for (process& each : trial_.processes)
        if (!each.dead)
            each.host->network(testing::conditions());
    for (testing::server* const each : trial_.servers)
        each->slow({});
    if (!trial_.scenario.is_quiet())
        trial_.world.at(std::max(trial_.now(), trial_.any_trouble()) + to_notice,
                        [this] { checks_.find_orphans(); });
}

} // namespace leasehold::test::sim
