#include "sim/trial.hpp"

#include "core/core.hpp"
#include "testing/random.hpp"

#include <leasehold/client.hpp>
#include <leasehold/lease.hpp>
#include <leasehold/mutex.hpp>
#include <leasehold/with_lock.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/dispatch.hpp>

#include <algorithm>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace leasehold::test::sim {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using testing::step;

// A client gives a request up after 2 s and connects again within another; then it has caught up with whatever happened.
constexpr clock::duration to_notice = 4s;
// From the sending of a request to the last moment at which its answer may make a lease.
constexpr clock::duration longest_request = 10s;
constexpr clock::duration at_once = 2ms;

class trial;
struct process;

/// A handler that has to be called exactly once.
struct duty
{
    bool called = false;
};

/// A grant as the server made it.
struct record
{
    std::string owner;
    std::uint64_t first;
    std::uint32_t count;
    clock::time_point when;
    bool repeated = false; ///< Another answer gave the last fence of the block.
};

struct actor
{
    const operation* what = nullptr;
    process* where = nullptr;
    process* entered_from = nullptr;
    std::size_t index = 0;
    clock::time_point started{};
    leasehold::lease held;
    leasehold::lease inner;
    std::optional<testing::timer> hold;
    std::optional<testing::timer> cancelling;
    asio::cancellation_signal signal;
    asio::cancellation_signal leaving;
    std::string owner;
    int due = 0;        ///< Handlers on this client that are to be called.
    int inner_due = 0;
    bool told = false;
    error_code reason; ///< What it was told.
    bool ended = false; ///< Its lease was given up or lost.
    bool entering = false;
    bool unreleased = false; ///< Whoever left was told that the store does not know it.
};

/// A lease that somebody has.
struct possession
{
    actor* who;
    leasehold::lease* held;
    process* where;
    std::size_t name;
    clock::time_point since;
    bool seen_invalid = false;
};

struct process
{
    testing::host* where = nullptr;
    std::unique_ptr<leasehold::client> locks;
    std::vector<leasehold::mutex> names;
    std::weak_ptr<leasehold::detail::core> core;
    bool dead = false;
    bool closing = false;
    bool closed = false;
    bool run_ended = false;
    int sent[3]{}, ran[3]{}, answered[3]{};
    clock::time_point stopped_until{}; ///< It may be late until here.
    std::vector<const fault*> armed;
    std::size_t client = 0;

    /// A process that was stopped cannot be blamed for being late.
    [[nodiscard]] bool was_stopped(clock::time_point now) const noexcept { return now <= stopped_until; }
};

struct name_state
{
    std::string text;
    std::vector<record> grants;
    std::uint64_t highest = 0;       ///< Fence that was possessed.
    const actor* highest_by = nullptr;
    std::uint64_t highest_granted = 0;
    clock::time_point broken{};      ///< When the data was last not to be relied upon.
    clock::time_point freed{};
    clock::time_point left{};
};

class trial
{
public:
    trial(const plan& what, coverage& counted) : plan_(what), counted_(counted) {}

    verdict run(const std::function<void(std::string_view)>& trace);

private:
    static constexpr clock::time_point never{}; // worlds begin later

    void wrong(const std::string& what)
    {
        if (!wrong_.empty())
            return;
        wrong_ = what;
        if (owned_world_)
            world_.note("WRONG " + what);
    }

    [[nodiscard]] clock::time_point now() const { return world_.now(); }
    [[nodiscard]] clock::time_point time(milliseconds since) const { return began_ + since; }
    [[nodiscard]] bool healed() const { return now() >= time(plan_.heals); }
    /// Nobody holds for long when all is well again: others want to get in.
    [[nodiscard]] clock::duration hold_for(clock::duration wanted) const
    {
        return std::min(wanted, std::max<clock::duration>(time(plan_.heals) + 1s - now(), clock::duration::zero()));
    }
    [[nodiscard]] bool excused(const possession& p) const;
    [[nodiscard]] bool untroubled() const { return troubled_until_ + plan_.options.lease_time + to_notice < now(); }
    void note(const process& where, const std::string& text) { if (traced_) world_.note(where.where->name() + " " + text); }
    void note(const actor& a, const std::string& text) { if (traced_) note(*a.where, "[" + std::to_string(a.index) + "] " + text); }

    process& start_process(std::size_t client, testing::host& where);
    void on_step(process& p, step what);

    template <class Handler>
    auto bound(actor& a, Handler handler);
    template <class F>
    auto once(actor& a, process& where, int actor::*due, F f);

    void begin(actor& a);
    void lock(actor& a);
    void guard(actor& a);
    void got(actor& a, error_code failed, leasehold::lease held);
    void work(actor& a);
    void watch_loss(actor& a, leasehold::lease& held, process& where, int actor::*due);
    void enter(actor& a);
    void finish(actor& a);
    void leave(actor& a, leasehold::lease& held, process& where, int actor::*due, const char* which);

    void possess(actor& a, leasehold::lease& held, process& where, bool entered);
    void dispossess(const leasehold::lease& held);
    void told_lost(actor& a, leasehold::lease& held, process& where, error_code reason);
    void probe();
    void probe_regularly();
    const record* find_grant(const name_state& n, std::uint64_t fence);
    void check_order(actor& a, name_state& n, std::uint64_t fence);
    void check_handover(const actor& a, const record& from, const leasehold::lease& held);
    void check_wait(actor& a, name_state& n);

    static void cancel(actor& a)
    {
        a.signal.emit(asio::cancellation_type::terminal);
        a.leaving.emit(asio::cancellation_type::partial);
    }
    void apply(const fault& f, process& at);
    void apply_when_due(const fault& f);
    void count(const fault& f, const process& p);
    void heal();
    void look_for_orphans();
    void close(process& p, bool again);
    void check_end();
    void check_commands();
    void end_world();

    const plan& plan_;
    coverage& counted_;
    std::string wrong_;
    std::uint64_t outcomes_ = 0;
    std::deque<process> processes_;
    std::vector<process*> clients_; ///< The current process of each.
    std::deque<actor> actors_;
    std::vector<possession> possessions_;
    std::vector<name_state> names_;
    std::vector<const fault*> fired_;
    clock::time_point troubled_until_ = never;
    bool clocks_beyond_ = false;
    bool stepped_back_ = false;
    bool duplicates_ = false;
    bool gave_up_ = false; ///< A shutdown ended without the store: the time to live does the rest.
    bool traced_ = false;
    std::uint64_t grants_ = 0;
    std::unique_ptr<testing::world> owned_world_ = std::make_unique<testing::world>(plan_.seed);
    testing::world& world_ = *owned_world_;
    testing::server& server_ = world_.make_server();
    const clock::time_point began_ = world_.now();
};

bool trial::excused(const possession& p) const
{
    if (clocks_beyond_)
        return true;
    const auto broken = names_[p.name].broken;
    return broken != never && broken > p.since - longest_request && now() <= broken + plan_.options.lease_time + plan_.options.lease_time / 20 + 100ms;
}

process& trial::start_process(std::size_t client, testing::host& where)
{
    processes_.emplace_back();
    process& p = processes_.back();
    p.client = client;
    p.where = &where;
    p.locks.reset(new leasehold::client(where.make_client(server_)));
    p.core = p.locks->core();
    for (const name_state& each : names_)
        p.names.emplace_back(*p.locks, each.text, plan_.options);
    where.on_step([this, &p](step what) { on_step(p, what); });
    p.locks->async_run([this, &p](error_code) {
        if (std::exchange(p.run_ended, true))
            wrong("handler called twice: async_run");
    });
    for (const fault& each : plan_.faults)
        if (each.trigger && each.client % plan_.clients == client && std::find(fired_.begin(), fired_.end(), &each) == fired_.end())
            p.armed.push_back(&each);
    return p;
}

void trial::on_step(process& p, step what)
{
    const auto i = static_cast<std::size_t>(what);
    if (i < 9) {
        int(&counter)[3] = i % 3 == 0 ? p.sent : i % 3 == 1 ? p.ran : p.answered;
        ++counter[i / 3];
    }
    else {
        for (std::size_t k = 0; k < 3; ++k)
            p.ran[k] = p.answered[k] = p.sent[k];
    }
    if (p.armed.empty() || healed() || p.dead)
        return;
    for (auto each = p.armed.begin(); each != p.armed.end(); ++each) {
        if ((*each)->trigger == what && now() >= time((*each)->at)) {
            const fault& f = **each;
            p.armed.erase(each);
            fired_.push_back(&f);
            for (process& other : processes_)
                if (&other != &p)
                    std::erase(other.armed, &f);
            world_.after(clock::duration::zero(), [this, &f, &p] { apply(f, p); });
            return;
        }
    }
}

template <class Handler>
auto trial::bound(actor& a, Handler handler)
{
    const asio::any_io_executor where = a.what->own_executor ? asio::any_io_executor(a.where->where->get_executor()) : a.where->locks->get_executor();
    return asio::bind_cancellation_slot(a.signal.slot(), asio::bind_executor(where, std::move(handler)));
}

template <class F>
auto trial::once(actor& a, process& where, int actor::*due, F f)
{
    ++(a.*due);
    return [this, &a, &where, due, f = std::move(f), one = duty()](auto&&... results) mutable {
        if (std::exchange(one.called, true))
            wrong("handler called twice");
        if (where.dead)
            wrong("handler called in a dead process");
        --(a.*due);
        f(std::forward<decltype(results)>(results)...);
    };
}

void trial::begin(actor& a)
{
    process& p = *clients_[a.what->client];
    if (p.dead || p.where->is_crashed())
        return;
    a.where = &p;
    asio::post(p.where->get_executor(), [this, &a] {
        if (a.where->dead || a.where->closed)
            return;
        a.started = now();
        ++counted_.operations;
        note(a, "begins");
        if (a.what->cancel_after) {
            a.cancelling.emplace(*a.where->where);
            a.cancelling->expires_after(*a.what->cancel_after);
            a.cancelling->async_wait([&a](error_code aborted) {
                if (!aborted)
                    a.signal.emit(a.index % 2 == 0 ? asio::cancellation_type::terminal : asio::cancellation_type::total);
            });
        }
        if (a.what->what == verb::guarded || a.what->what == verb::guarded_stubborn)
            guard(a);
        else
            lock(a);
    });
}

void trial::lock(actor& a)
{
    const leasehold::mutex& m = a.where->names[a.what->name];
    auto handler = bound(a, once(a, *a.where, &actor::due, [this, &a](error_code failed, leasehold::lease held) { got(a, failed, std::move(held)); }));
    switch (a.what->what) {
    case verb::try_once: m.async_try_lock(std::move(handler)); break;
    case verb::try_for: m.async_try_lock_for(a.what->limit, std::move(handler)); break;
    default: m.async_lock(std::move(handler)); break;
    }
}

void trial::guard(actor& a)
{
    const leasehold::mutex& m = a.where->names[a.what->name];
    const auto work_under_lock = [this, &a](leasehold::lease& held) {
        possess(a, held, *a.where, false);
        watch_loss(a, held, *a.where, &actor::due);
        a.hold.emplace(*a.where->where);
        a.hold->expires_after(hold_for(a.what->hold));
        const bool deaf = a.what->what == verb::guarded_stubborn;
        return asio::async_initiate<const asio::deferred_t, void(error_code)>(
            [this, &a, deaf](auto handler) {
                const auto where = asio::get_associated_executor(handler);
                const auto slot = deaf ? asio::cancellation_slot() : asio::cancellation_slot(asio::get_associated_cancellation_slot(handler));
                auto done = [this, &a, handler = std::move(handler)](error_code e) mutable {
                    // The lease is an object of `with_lock`, and not to be looked at when that has ended.
                    probe();
                    std::erase_if(possessions_, [&](const possession& each) { return each.who == &a; });
                    std::move(handler)(e);
                };
                a.hold->async_wait(asio::bind_cancellation_slot(slot, asio::bind_executor(where, std::move(done))));
            },
            asio::deferred);
    };
    leasehold::with_lock(m, work_under_lock, bound(a, once(a, *a.where, &actor::due, [this, &a](error_code failed) {
        outcomes_ = outcomes_ * 31 + static_cast<std::uint64_t>(failed.value());
        note(a, "with_lock: " + (failed ? failed.message() : std::string("done")));
        probe();
        names_[a.what->name].left = now();
        a.ended = true;
        if (a.told && !failed)
            wrong("loss not reported: with_lock succeeded after its lease was lost");
    })));
}

void trial::got(actor& a, error_code failed, leasehold::lease held)
{
    outcomes_ = outcomes_ * 31 + static_cast<std::uint64_t>(failed.value()) + held.fence();
    if (static_cast<bool>(held) == static_cast<bool>(failed))
        wrong("lease and error: both or neither");
    if (failed) {
        note(a, "not acquired: " + failed.message());
        if (plan_.is_quiet() && failed == condition::store_fault && a.what->what != verb::try_for)
            wrong("store blamed: " + failed.message() + " though nothing happened");
        return;
    }
    a.held = std::move(held);
    possess(a, a.held, *a.where, false);
    watch_loss(a, a.held, *a.where, &actor::due);
    work(a);
}

void trial::work(actor& a)
{
    a.hold.emplace(*a.where->where);
    a.hold->expires_after(hold_for(a.what->hold));
    a.hold->async_wait(asio::bind_executor(a.where->locks->get_executor(), once(a, *a.where, &actor::due, [this, &a](error_code) { finish(a); })));
    if (a.what->what == verb::enter && a.held.valid())
        enter(a);
}

void trial::enter(actor& a)
{
    process& p = *clients_[a.what->other];
    if (p.dead || p.closed || p.where->is_crashed())
        return;
    a.entered_from = &p;
    a.entering = true;
    const leasehold::owner who = a.held.owner();
    note(a, "enters again from " + p.where->name());
    const auto where = asio::any_io_executor(p.where->get_executor());
    asio::post(where, [this, &a, &p, who] {
        if (p.dead || p.closed)
            return;
        p.names[a.what->name].async_lock(who, asio::bind_cancellation_slot(a.signal.slot(), asio::bind_executor(p.where->get_executor(),
            once(a, p, &actor::inner_due, [this, &a, &p](error_code failed, leasehold::lease held) {
                note(a, failed ? "not entered: " + failed.message() : "entered");
                if (failed)
                    return;
                a.inner = std::move(held);
                possess(a, a.inner, p, true);
                // Leaves last, every other time.
                a.cancelling.emplace(*p.where);
                a.cancelling->expires_after(hold_for(a.index % 2 == 0 ? a.what->hold / 2 : milliseconds(a.what->hold + 5ms)));
                a.cancelling->async_wait(asio::bind_executor(p.where->get_executor(), once(a, p, &actor::inner_due, [this, &a, &p](error_code) {
                    leave(a, a.inner, p, &actor::inner_due, "inner");
                })));
            }))));
    });
}

void trial::watch_loss(actor& a, leasehold::lease& held, process& where, int actor::*due)
{
    held.async_wait_lost(asio::bind_executor(where.locks->get_executor(), once(a, where, due, [this, &a, &held, &where](error_code reason) {
        if (reason == asio::error::operation_aborted) {
            if (a.what->what != verb::guarded && a.what->what != verb::guarded_stubborn && !a.ended && held)
                wrong("loss not told: the wait was aborted though the lease goes on");
            return;
        }
        told_lost(a, held, where, reason);
    })));
}

void trial::told_lost(actor& a, leasehold::lease& held, process& where, error_code reason)
{
    ++counted_.losses;
    outcomes_ = outcomes_ * 31 + static_cast<std::uint64_t>(reason.value());
    note(a, "is told that it lost the lease: " + reason.message());
    a.told = true;
    a.reason = reason;
    const auto here = std::find_if(possessions_.begin(), possessions_.end(), [&](const possession& p) { return p.held == &held; });
    if (a.ended || here == possessions_.end())
        return;
    if (held.valid())
        wrong("told of a loss, and valid: " + reason.message());
    const bool excuse = excused(*here);
    if (reason == errc::lost && !excuse && !a.owner.empty() && server_.holder(names_[a.what->name].text) == a.owner)
        wrong("unfounded loss: the store has the owner still");
    if (reason == errc::expired) {
        const auto late = where.where->now() - held.deadline();
        if (late > at_once && !where.was_stopped(now()))
            wrong("loss told late: " + std::to_string(late / 1us) + " us after the deadline");
        if (plan_.options.renew && troubled_until_ + to_notice + plan_.options.lease_time / 4 < now())
            wrong("unfounded loss: it expired though the store could be reached");
    }
    else if (reason == errc::lost && untroubled() && !clocks_beyond_ && (names_[a.what->name].broken == never || !excuse) && plan_.options.renew) {
        wrong("unfounded loss: nothing happened to the data");
    }
    if (!a.what->ignores_loss && a.hold && a.what->what != verb::guarded && a.what->what != verb::guarded_stubborn)
        a.hold->cancel();
}

void trial::finish(actor& a)
{
    if (a.ended)
        return;
    probe();
    leave(a, a.held, *a.where, &actor::due, "");
}

void trial::leave(actor& a, leasehold::lease& held, process& where, int actor::*due, const char* which)
{
    if (!held)
        return;
    const bool outer = &held == &a.held;
    const bool was_valid = held.valid();
    dispossess(held);
    if (outer)
        a.ended = true;
    names_[a.what->name].left = now();
    note(a, std::string("leaves ") + which + (was_valid ? "" : " (not valid)"));
    if (a.what->let_go) {
        a.unreleased = a.unreleased || a.entering; // nobody is told whether it went well
        held = leasehold::lease();
        return;
    }
    const bool told = outer && a.told;
    auto handler = once(a, where, due, [this, &a, told, was_valid, outer](error_code failed) {
        outcomes_ = outcomes_ * 31 + static_cast<std::uint64_t>(failed.value());
        note(a, "left: " + (failed ? failed.message() : std::string("done")));
        a.unreleased = a.unreleased || failed == condition::store_fault || (failed && !outer); // an entry that was lost stays in, too
        if (told && !failed)
            wrong("loss not reported: a lost lease was released without an error");
        if (was_valid && failed && failed != asio::error::operation_aborted && plan_.is_quiet())
            wrong("release failed: " + failed.message() + " though nothing happened");
    });
    auto on_host = asio::bind_executor(where.where->get_executor(), std::move(handler));
    if (outer)
        held.async_release(asio::bind_cancellation_slot(a.leaving.slot(), std::move(on_host)));
    else
        held.async_release(std::move(on_host));
}

/// Whose block has the fence.
const record* trial::find_grant(const name_state& n, std::uint64_t fence)
{
    for (auto i = n.grants.rbegin(); i != n.grants.rend(); ++i) {
        if (fence >= i->first && fence < i->first + i->count)
            return &*i;
    }
    // More fences than the store reserved.
    if (!n.grants.empty() && !stepped_back_)
        wrong("fence: " + std::to_string(fence) + " was never granted by the store");
    return nullptr;
}

void trial::possess(actor& a, leasehold::lease& held, process& where, bool entered)
{
    name_state& n = names_[a.what->name];
    const auto fence = held.fence();
    ++counted_.leases;
    const bool valid = held.valid();
    const record* const granted = entered ? nullptr : find_grant(n, fence);
    if (granted != nullptr)
        a.owner = granted->owner;
    note(a, (entered ? "is in again, fence " : "has the lock, fence ") + std::to_string(fence % 1'000'000'000) + (valid ? "" : ", NOT VALID"));
    if (!valid && !where.was_stopped(now()) && !where.closing && !where.dead)
        wrong("no time left: a lease that is not valid was given out");
    if (held.deadline() > where.where->now() + plan_.options.lease_time)
        wrong("deadline: later than a lease time from now");
    if (entered && fence != a.held.fence() && a.held)
        wrong("fence: entering again gave another one");
    if (valid) {
        for (const possession& each : possessions_) {
            if (each.name != a.what->name || each.who == &a || !each.held->valid())
                continue;
            if (excused(each)) {
                ++counted_.overlaps_excused;
                continue;
            }
            wrong("two holders: [" + std::to_string(each.who->index) + "] and [" + std::to_string(a.index) + "] of " + n.text);
        }
        if (!entered) {
            check_order(a, n, fence);
            if (granted != nullptr)
                check_handover(a, *granted, held);
            check_wait(a, n);
        }
    }
    possessions_.push_back({&a, &held, &where, a.what->name, now(), !valid});
    probe();
}

void trial::check_order(actor& a, name_state& n, std::uint64_t fence)
{
    const bool doubtful = n.broken != never && now() <= n.broken + longest_request;
    if (fence == n.highest && !(stepped_back_ && n.broken != never))
        wrong("fence: the same for two leases");
    else if (fence < n.highest && !doubtful && !clocks_beyond_ && !(stepped_back_ && n.broken != never))
        wrong("fence: " + std::to_string(fence) + " after " + std::to_string(n.highest));
    if (fence > n.highest) {
        n.highest = fence;
        n.highest_by = &a;
    }
}

void trial::check_handover(const actor& a, const record& from, const leasehold::lease& held)
{
    if (held.fence() == from.first || a.where->was_stopped(now()))
        return;
    if (from.repeated && held.fence() == from.first + from.count - 1)
        return; // not handed over, but told twice
    ++counted_.handed_over;
    const auto drift = clock::duration(plan_.options.handoff_time) / 4;
    if (now() - from.when > clock::duration(plan_.options.handoff_time) + drift + at_once)
        wrong("handoff: local waiters are served for longer than the option allows");
    if (held.deadline() - a.where->where->now() < clock::duration(plan_.options.lease_time) / 2 - at_once)
        wrong("handoff: a lease that is about to end was handed over");
}

void trial::check_wait(actor& a, name_state& n)
{
    if (!plan_.is_quiet() || !plan_.options.renew || plan_.options.longest_hold != no_limit)
        return;
    const auto since = std::max({a.started, n.freed, n.left});
    const bool handed_over = !n.grants.empty() && n.grants.back().first != n.highest;
    if (now() - since > 100ms && !handed_over)
        wrong("wake-up: waited " + std::to_string((now() - since) / 1ms) + " ms for a lock that was free");
}

void trial::dispossess(const leasehold::lease& held)
{
    std::erase_if(possessions_, [&](const possession& each) { return each.held == &held; });
}

void trial::probe()
{
    for (possession& each : possessions_) {
        if (each.where->dead)
            continue;
        const bool valid = each.held->valid();
        if (!valid) {
            each.seen_invalid = true;
            const auto late = each.where->where->now() - each.held->deadline();
            if (late > at_once && each.held == &each.who->held && !each.who->told && !each.where->was_stopped(now()) && !each.where->closing)
                wrong("loss not told: " + std::to_string(late / 1us) + " us after the deadline");
            continue;
        }
        if (each.seen_invalid)
            wrong("valid again: a lease that had ended");
        if (each.where->where->now() >= each.held->deadline())
            wrong("valid past its deadline");
        if (!each.who->owner.empty() && !excused(each) && server_.holder(names_[each.name].text) != each.who->owner)
            wrong("valid, and the store does not have it: " + names_[each.name].text);
    }
}

void trial::probe_regularly()
{
    probe();
    if (now() < time(plan_.ends))
        world_.after(500ms, [this] { probe_regularly(); });
}

void trial::apply_when_due(const fault& f)
{
    process& p = *clients_[f.client % plan_.clients];
    if (!p.dead)
        apply(f, p);
}

void trial::count(const fault& f, const process& p)
{
    auto& row = counted_.met[static_cast<std::size_t>(f.what)];
    const auto hit = [&](phase which) { ++row[static_cast<std::size_t>(which)]; };
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
    if (!acquiring && !acquired && !renewing && !releasing && s.held == 0 && s.waiting == 0 && !p.closing)
        hit(phase::idle);
}

void trial::apply(const fault& f, process& p)
{
    if (healed() || p.dead || p.where->is_crashed())
        return;
    count(f, p);
    const auto left = std::chrono::duration_cast<milliseconds>(time(plan_.heals) - now());
    const milliseconds how_long = std::min(f.how_long, left);
    name_state& n = names_[f.name % plan_.names];
    testing::host& h = *p.where;
    note(p, std::string("FAULT ") + name_of(f.what) + " " + std::to_string(how_long.count()) + " ms");
    auto trouble = how_long;
    if (breaks_exclusion(f.what)) {
        const bool one_name = f.what == fault_kind::key_deleted || f.what == fault_kind::key_overwritten || f.what == fault_kind::key_seized;
        if (one_name)
            n.broken = now();
        else
            for (name_state& each : names_)
                each.broken = now();
    }
    testing::conditions net = h.network();
    const auto percent = static_cast<std::uint32_t>(f.amount) * 10'000;
    switch (f.what) {
    case fault_kind::cut_both: h.cut_off(testing::direction::both, how_long); break;
    case fault_kind::cut_to_server: h.cut_off(testing::direction::to_server, how_long); break;
    case fault_kind::cut_from_server: h.cut_off(testing::direction::from_server, how_long); break;
    case fault_kind::reset: h.reset_connections(); break;
    case fault_kind::lost_hints: h.lose_hints(how_long); break;
    case fault_kind::false_hint: h.false_hint(n.text); break;
    case fault_kind::slow_server:
        server_.slow(milliseconds(f.amount));
        trouble = left;
        world_.after(how_long, [this] { server_.slow({}); });
        break;
    case fault_kind::stalled_server: server_.stall(how_long); break;
    case fault_kind::refusing_server: server_.refuse(how_long); break;
    case fault_kind::restart_kept: server_.restart(testing::server::data::kept, how_long); break;
    case fault_kind::restart_lost: server_.restart(testing::server::data::lost, how_long); break;
    case fault_kind::restart_second_lost: server_.restart(testing::server::data::last_second_lost, how_long); break;
    case fault_kind::fail_over: server_.fail_over(milliseconds(f.amount), how_long); break;
    case fault_kind::flush_all: server_.flush_all(); break;
    case fault_kind::flush_scripts: server_.flush_scripts(); break;
    case fault_kind::key_deleted: server_.erase(n.text); break;
    case fault_kind::key_overwritten:
        server_.overwrite(n.text);
        world_.after(how_long, [this, &n] {
            n.broken = now();
            server_.erase(n.text);
        });
        break;
    case fault_kind::key_seized: server_.seize(n.text, std::max(how_long, 1ms)); break;
    case fault_kind::pause:
        h.pause(how_long);
        p.stopped_until = std::max(p.stopped_until, now() + how_long + at_once);
        break;
    case fault_kind::suspend:
        h.suspend(how_long);
        p.stopped_until = std::max(p.stopped_until, now() + how_long) + 1100ms;
        break;
    case fault_kind::crash:
        for (process& each : processes_)
            if (each.where == p.where)
                each.dead = true; // earlier clients of this host too
        std::erase_if(possessions_, [&](const possession& each) { return each.where->dead; });
        h.crash();
        world_.after(how_long, [this, client = p.client] {
            clients_[client] = &start_process(client, world_.make_host("h" + std::to_string(client) + "'"));
        });
        break;
    case fault_kind::drift_beyond:
        clocks_beyond_ = true;
        h.drift(f.amount);
        break;
    case fault_kind::drift_within: h.drift(f.amount); break;
    case fault_kind::server_drift: server_.drift(f.amount); break;
    case fault_kind::wall_clock_step: h.step_wall_clock(std::chrono::hours(24 * 365 * 10) * (f.amount < 0 ? -1 : 1)); break;
    case fault_kind::server_clock_forward: server_.step_clock(milliseconds(f.amount)); break;
    case fault_kind::server_clock_back:
        stepped_back_ = true;
        server_.step_clock(milliseconds(-f.amount));
        break;
    case fault_kind::shutdown:
        if (!p.closing)
            close(p, true);
        break;
    case fault_kind::lossy:
        net.loss = net.reply_loss = net.hint_loss = percent;
        trouble = left;
        break;
    case fault_kind::duplicating:
        duplicates_ = true;
        net.duplication = net.hint_doubling = percent;
        break;
    case fault_kind::reordering:
        net.reordering = percent;
        trouble = left + 2s; // a message is late by a second
        break;
    case fault_kind::resetting:
        net.reset_before = net.reset_after = percent;
        trouble = left;
        break;
    case fault_kind::delaying:
        net.slow = 100'000;
        net.slow_delay = milliseconds(f.amount);
        trouble = left + 2 * milliseconds(f.amount); // what is under way, and its answer
        break;
    case fault_kind::cancel:
        for (actor& each : actors_)
            if (each.where == &p && each.due > 0 && each.what->name == f.name % plan_.names)
                cancel(each);
        break;
    case fault_kind::count_: break;
    }
    if (net != h.network())
        h.network(net);
    troubled_until_ = std::max(troubled_until_, now() + trouble);
}

void trial::heal()
{
    if (traced_)
        world_.note("HEALED");
    for (process& each : processes_)
        if (!each.dead)
            each.where->network(testing::conditions());
    server_.slow({});
    if (!plan_.is_quiet())
        world_.at(std::max(now(), troubled_until_) + to_notice, [this] { look_for_orphans(); });
}

void trial::look_for_orphans()
{
    for (name_state& n : names_) {
        const std::string owner = server_.holder(n.text);
        if (owner.empty() || owner.starts_with("foreigner"))
            continue;
        const auto granted = std::find_if(n.grants.rbegin(), n.grants.rend(), [&](const record& r) { return r.owner == owner; });
        if (granted == n.grants.rend() || granted->when > time(plan_.heals))
            continue;
        const bool wanted = std::any_of(actors_.begin(), actors_.end(), [&](const actor& a) { return a.owner == owner && (!a.ended || a.inner || a.inner_due > 0); });
        const bool crashed = std::any_of(processes_.begin(), processes_.end(), [](const process& p) { return p.dead; });
        // A lease that was lost is given back by its time to live alone.
        const bool lost = std::any_of(actors_.begin(), actors_.end(), [&](const actor& a) { return a.owner == owner && a.told; });
        // A request that runs again after it was answered "held" may be granted to nobody; its time to live bounds it.
        const bool had = std::any_of(actors_.begin(), actors_.end(), [&](const actor& a) { return a.owner == owner; });
        if (!wanted && !crashed && !lost && !gave_up_ && (had || !duplicates_) && n.broken == never && !stepped_back_ && !clocks_beyond_)
            wrong("orphan: " + n.text + " is held for nobody");
    }
}

void trial::close(process& p, bool again)
{
    p.closing = true;
    note(p, "shuts down");
    for (const fault& each : plan_.faults)
        if (each.when_closing && each.client % plan_.clients == p.client)
            world_.after(clock::duration(each.amount % 2 * 1'000'000), [this, &each, &p] {
                if (!p.closed)
                    apply(each, p);
            });
    p.locks->async_shutdown([this, &p, again, since = now(), troubled = troubled_until_](error_code failed) {
        if (std::exchange(p.closed, true))
            wrong("handler called twice: async_shutdown");
        note(p, "is shut down: " + (failed ? failed.message() : std::string("done")));
        gave_up_ = gave_up_ || failed;
        // In trouble the times to live may have done it, and not to the last millisecond.
        const bool by_time = now() > since + plan_.options.lease_time / 2 || troubled + to_notice > since;
        for (const actor& a : actors_) {
            // An owner goes from one lease to the next; others may be in under it, and the last one may have lost it.
            const bool else_told = std::any_of(actors_.begin(), actors_.end(), [&](const actor& b) {
                return b.owner == a.owner && (b.entering || b.unreleased || (b.told && b.reason != errc::shut_down));
            });
            const bool its_own = a.where == &p && !a.owner.empty() && !else_told;
            if (!failed && !by_time && its_own && names_[a.what->name].broken == never && server_.holder(names_[a.what->name].text) == a.owner)
                wrong("shutdown: it succeeded, and " + names_[a.what->name].text + " is held still");
        }
        if (!again || p.dead)
            return;
        world_.after(200ms, [this, &p] {
            if (!p.dead && clients_[p.client] == &p)
                clients_[p.client] = &start_process(p.client, *p.where);
        });
    });
}

void trial::check_commands()
{
    // Each look at a lock that another has is paid by a pause, a hint or a grant.
    const auto pause = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(plan_.options.backoff_ceiling.count()) / 4);
    const std::uint64_t looks = 60'000 / pause * plan_.names;
    for (const process& p : processes_) {
        const std::uint64_t most = 200 + looks + 8 * grants_ + 8 * plan_.operations.size();
        const client_stats s = p.locks->stats();
        if (s.acquires_sent > most)
            wrong("too many commands: " + std::to_string(s.acquires_sent) + " acquires, " + std::to_string(grants_) + " grants");
    }
}

void trial::check_end()
{
    for (const actor& a : actors_) {
        if (a.where != nullptr && !a.where->dead && a.due != 0)
            wrong("never called: a handler of [" + std::to_string(a.index) + "]");
        if (a.entered_from != nullptr && !a.entered_from->dead && a.inner_due != 0)
            wrong("never called: an inner handler of [" + std::to_string(a.index) + "]");
    }
    check_commands();
    for (process& p : processes_)
        if (!p.dead && !p.closing)
            close(p, false);
    const auto has_ended = [](const process& p) { return p.dead || (p.closed && p.run_ended); };
    if (!world_.run_until([&] { return std::all_of(processes_.begin(), processes_.end(), has_ended); }, 7s))
        wrong("shutdown: it did not end");
    for (const process& p : processes_) {
        if (p.dead)
            continue;
        const client_stats s = p.locks->stats();
        if (s.held != 0 || s.waiting != 0 || s.orphans != 0 || s.watched > plan_.names)
            wrong("left over in a client: " + std::to_string(s.held) + " held, " + std::to_string(s.waiting) + " waiting, " +
                  std::to_string(s.orphans) + " orphans");
    }
    if (wrong_.empty() && server_.locks() != 0)
        wrong("left over in the store: " + std::to_string(server_.locks()) + " lock(s)");
    if (server_.watches() != 0)
        wrong("left over in the store: watches");
}

verdict trial::run(const std::function<void(std::string_view)>& trace)
{
    world_.on_trace(trace);
    traced_ = static_cast<bool>(trace);
    for (std::size_t i = 0; i < plan_.names; ++i)
        names_.push_back({"name-" + std::to_string(i), {}, 0, nullptr, 0, never, {}, {}});
    server_.on_grant([this](const testing::server::grant& g) {
        ++grants_;
        name_state& n = names_[static_cast<std::size_t>(g.name.back() - '0')];
        if (!g.repeated && g.first_fence <= n.highest_granted && now() - n.broken > at_once && !(stepped_back_ && n.broken != never))
            wrong("fence: the store granted " + std::to_string(g.first_fence) + " after " + std::to_string(n.highest_granted));
        const auto budget = std::min<clock::duration>(leasehold::detail::runtime::request_limit, plan_.options.lease_time);
        if (g.age > budget + budget / 50 + 100ms && !stepped_back_ && !clocks_beyond_)
            wrong("late: the store granted a request that was " + std::to_string(g.age / 1ms) + " ms old");
        n.highest_granted = std::max(n.highest_granted, g.first_fence);
        if (!g.repeated || n.grants.empty() || n.grants.back().owner != g.owner)
            n.grants.push_back({std::string(g.owner), g.first_fence, g.fences, now()});
        else
            n.grants.back().repeated = true;
    });
    server_.on_free([this](std::string_view name) { names_[static_cast<std::size_t>(name.back() - '0')].freed = now(); });
    for (std::size_t i = 0; i < plan_.clients; ++i)
        clients_.push_back(&start_process(i, world_.make_host("h" + std::to_string(i))));
    for (const operation& each : plan_.operations) {
        actor& a = actors_.emplace_back();
        a.what = &each;
        a.index = actors_.size() - 1;
        world_.at(time(each.at), [this, &a] { begin(a); });
    }
    for (const fault& each : plan_.faults)
        if (!each.trigger && !each.when_closing)
            world_.at(time(each.at), [this, &each] { apply_when_due(each); });
    world_.at(time(plan_.heals), [this] { heal(); });
    probe_regularly();

    try {
        const auto end = time(plan_.ends);
        while (wrong_.empty() && world_.run_one(end)) {
        }
        if (wrong_.empty()) {
            world_.run_until(end);
            check_end();
        }
    }
    catch (const std::exception& failure) {
        wrong(std::string("exception: ") + failure.what());
    }
    counted_.simulated += world_.age();
    counted_.events += world_.events();
    counted_.commands += server_.commands();
    const auto hash = testing::impl::mix(world_.trace_hash() ^ outcomes_);
    end_world();
    return {wrong_, hash};
}

void trial::end_world()
{
    for (actor& a : actors_) {
        a.hold.reset();
        a.cancelling.reset();
        a.held = leasehold::lease();
        a.inner = leasehold::lease();
    }
    for (process& p : processes_) {
        p.names.clear();
        p.locks.reset();
    }
    owned_world_.reset();
    actors_.clear(); // a signal keeps what it could cancel
    for (const process& p : processes_)
        if (!p.core.expired())
            wrong("leak: a client outlives its world");
}

} // namespace

const char* name_of(phase which) noexcept
{
    constexpr std::array<const char*, static_cast<std::size_t>(phase::count_)> names = {
        "idle", "acq. sent", "acq. answ.", "holding", "renewing", "releasing", "waiting", "closing"};
    return names[static_cast<std::size_t>(which)];
}

verdict run(const plan& what, coverage& counted, const std::function<void(std::string_view)>& trace)
{
    trial one(what, counted);
    return one.run(trace);
}

} // namespace leasehold::test::sim
