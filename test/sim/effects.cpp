#include "sim/effects.hpp"

#include <algorithm>
#include <utility>

namespace leasehold::test::sim {
namespace {

using namespace std::chrono_literals;
using testing::mishaps;

/// The effects of a lasting fault on the requests of a client.
std::uint64_t requests(fault_kind kind, const mishaps& m) noexcept
{
    switch (kind) {
    case fault_kind::lossy: return m.requests_lost;
    case fault_kind::duplicating: return m.requests_doubled;
    case fault_kind::resetting: return m.requests_lost;
    case fault_kind::reordering:
    case fault_kind::delaying: return m.late;
    default: return 0;
    }
}

/// The effects on the messages of a server.
std::uint64_t replies(fault_kind kind, const mishaps& m) noexcept
{
    switch (kind) {
    case fault_kind::lossy: return m.replies_lost + m.wakeups_lost;
    case fault_kind::duplicating: return m.wakeups_doubled;
    case fault_kind::resetting: return m.connections_lost;
    default: return 0;
    }
}

} // namespace

effects::met_phases effects::phases_of(const process& p) const
{
    met_phases met;
    const auto hit = [&](phase in) { met.set(static_cast<std::size_t>(in)); };
    const client_stats s = p.locks->stats();
    const bool acquiring = p.sent[0] > p.ran[0];
    const bool acquired = p.ran[0] > p.answered[0];
    const bool renewing = p.sent[1] > p.answered[1];
    const bool releasing = p.sent[2] > p.answered[2];
    if (acquiring)
        hit(phase::acquire_sent);
    if (acquired)
        hit(phase::acquire_answered);
    if (renewing)
        hit(phase::renewal_in_flight);
    if (releasing)
        hit(phase::release_in_flight);
    if (s.held > 0)
        hit(phase::holding);
    if (s.waiting > 0 && !acquiring && !acquired)
        hit(phase::waiting);
    if (p.closing)
        hit(phase::closing);
    if (met.none() && s.waiting == 0)
        hit(phase::idle);
    return met;
}

effects::incident& effects::begin(const fault& f, process& p)
{
    const bool waited_for = std::any_of(
        trial_.actors.begin(), trial_.actors.end(), [&](const actor& a) {
            return a.client == &p && a.waits && a.op->name == f.name % trial_.scenario.names;
        });
    const testing::host& h = *p.host;
    return incidents_.emplace_back(
        incident{&f,
                 &p,
                 phases_of(p),
                 {},
                 h.mishaps(),
                 p.locks->stats(),
                 p.served,
                 trial_.now(),
                 h.now(),
                 h.wall_clock(),
                 trial_.server_of(f).time(),
                 waited_for,
                 p.closing,
                 trial_.cluster == nullptr ? 0 : trial_.cluster->stale_answers()});
}

void effects::applied(incident& i, bool changed, milliseconds how_long)
{
    i.happened = i.happened || changed;
    if (lasts(i.what->what))
        return;
    switch (i.what->what) {
    case fault_kind::wall_clock_step:
    case fault_kind::server_clock_forward:
    case fault_kind::server_clock_back:
    case fault_kind::shutdown:
    case fault_kind::crash:
    case fault_kind::flush_all:
    case fault_kind::key_deleted: return evaluate(i);
    // Detected a moment later.
    case fault_kind::false_wakeup:
    case fault_kind::reset:
    case fault_kind::cancel: how_long = 100ms; break;
    case fault_kind::flush_scripts: how_long = 2000ms; break;
    case fault_kind::restart_kept:
    case fault_kind::restart_lost:
    case fault_kind::restart_second_lost:
    case fault_kind::fail_over:
    case fault_kind::machine_dies:
    case fault_kind::shard_down: how_long += 100ms; break;
    case fault_kind::switch_over: how_long = 2000ms; break;
    default: break;
    }
    // A moment before the end of the fault, because waiting requests are served at the end.
    trial_.world.after(std::max<clock::duration>(how_long - 1us, 1us), [this, &i] { evaluate(i); });
}

void effects::step(process& p)
{
    for (incident& i : incidents_) {
        if (i.client != &p || !lasts(i.what->what))
            continue;
        const mishaps now = p.host->mishaps();
        const met_phases here = phases_of(p);
        const fault_kind kind = i.what->what;
        if (requests(kind, now) != requests(kind, i.before))
            i.counted |= here;
        if (replies(kind, now) != replies(kind, i.before))
            i.counted |= i.met;
        i.before = now;
        i.met = here; // its phase until the next step
    }
}

bool effects::changed_something(const incident& i) const
{
    const mishaps now = i.client->host->mishaps();
    const mishaps& was = i.before;
    const bool connection_lost = now.connections_lost != was.connections_lost;
    const bool unconnected = connection_lost || now.connects_failed != was.connects_failed;
    const bool lost_or_late = now.requests_lost != was.requests_lost ||
                              now.replies_lost != was.replies_lost || now.late != was.late ||
                              now.wakeups_lost != was.wakeups_lost;
    const bool served = i.client->served != i.served;
    switch (i.what->what) {
    case fault_kind::cut_both:
    case fault_kind::cut_to_server:
    case fault_kind::cut_from_server: return lost_or_late || unconnected;
    case fault_kind::reset: return connection_lost;
    case fault_kind::lost_wakeups: return now.wakeups_lost != was.wakeups_lost;
    case fault_kind::false_wakeup: return now.wakeups != was.wakeups && i.waited_for;
    case fault_kind::slow_server:
    case fault_kind::refusing_server:
    case fault_kind::denying_server: return served;
    case fault_kind::stalled_server: {
        const process& p = *i.client;
        const bool waits = p.sent[0] > p.ran[0] || p.sent[1] > p.ran[1] || p.sent[2] > p.ran[2];
        return waits || connection_lost;
    }
    case fault_kind::failing_renewals:
        return i.client->locks->stats().renewals_failed != i.stats.renewals_failed;
    case fault_kind::unsent: return now.requests_unsent != was.requests_unsent;
    case fault_kind::restart_kept: return unconnected;
    case fault_kind::restart_lost:
    case fault_kind::restart_second_lost:
    case fault_kind::shard_down:
    case fault_kind::fail_over: return i.happened && unconnected;
    case fault_kind::machine_dies: return i.happened && (unconnected || lost_or_late);
    case fault_kind::master_cut_off:
    case fault_kind::switch_over:
    case fault_kind::slot_moves: return i.happened && now.redirected != was.redirected;
    case fault_kind::stale_map: return trial_.cluster->stale_answers() != i.stale_answers;
    case fault_kind::flush_scripts: return now.scripts_missing != was.scripts_missing;
    case fault_kind::key_overwritten:
    case fault_kind::key_seized: return i.happened || served;
    case fault_kind::pause:
    case fault_kind::suspend: return now.tasks_held_up != was.tasks_held_up;
    case fault_kind::drift_within:
    case fault_kind::drift_beyond: return i.client->host->now() - i.shown != trial_.now() - i.when;
    case fault_kind::server_drift: {
        const auto shown = trial_.server_of(*i.what).time() - i.server_time;
        const auto off = shown - std::chrono::duration_cast<std::chrono::microseconds>(
                                     trial_.now() - i.when);
        return off > 1us || off < -1us;
    }
    case fault_kind::wall_clock_step: return i.client->host->wall_clock() != i.wall;
    case fault_kind::server_clock_forward:
    case fault_kind::server_clock_back: return trial_.server_of(*i.what).time() != i.server_time;
    case fault_kind::shutdown: return i.client->closing && !i.was_closing;
    case fault_kind::crash: return i.client->host->is_crashed();
    default: return i.happened;
    }
}

void effects::evaluate(incident& i)
{
    if (changed_something(i))
        count(*i.what, i.met);
}

void effects::end()
{
    for (const incident& i : incidents_)
        if (lasts(i.what->what))
            count(*i.what, i.counted);
}

void effects::count(const fault& f, const met_phases& met)
{
    auto& row = trial_.counted.met[static_cast<std::size_t>(f.what)];
    for (std::size_t i = 0; i < phases; ++i)
        row[i] += met.test(i) ? 1 : 0;
}

} // namespace leasehold::test::sim
