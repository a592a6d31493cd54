#include "sim/plan.hpp"

#include "testing/time/random.hpp"

#include <algorithm>
#include <array>

namespace leasehold::test::sim {
namespace {

using testing::step;
using testing::impl::generator;
using namespace std::chrono_literals;

constexpr std::array<const char*, static_cast<std::size_t>(fault_kind::count_)> kind_names = {
    "cut both ways",
    "cut to server",
    "cut from server",
    "connection reset",
    "hints lost",
    "false hint",
    "slow server",
    "stalled server",
    "refusing",
    "restart, kept",
    "restart, empty",
    "restart, 1 s lost",
    "fail-over",
    "FLUSHALL",
    "SCRIPT FLUSH",
    "DEL",
    "SET",
    "seized",
    "pause",
    "suspend",
    "crash",
    "drift within",
    "drift beyond",
    "server drift",
    "wall clock step",
    "server clock +",
    "server clock -",
    "shutdown",
    "loss",
    "duplication",
    "reordering",
    "resets",
    "delay",
    "cancellation",
    "permission denied",
    "renewals fail",
    "unsent",
    "shard down",
    "master cut off",
    "switch-over",
    "slot moves",
    "stale map",
    "machine dies"};

/// The faults of one server.
constexpr auto plain_faults = static_cast<std::uint64_t>(fault_kind::shard_down);

template <class T, std::size_t N>
T one_of(generator& random, const std::array<T, N>& all)
{
    return all[static_cast<std::size_t>(random.below(N))];
}

milliseconds ms_between(generator& random, milliseconds low, milliseconds high)
{
    return milliseconds(random.between(low.count(), high.count()));
}

lock_options make_options(generator& random)
{
    lock_options o;
    o.lease_time = one_of(random, std::array{500ms, 1000ms, 2000ms, 5000ms, 10'000ms});
    o.renew = random.below(8) != 0;
    if (random.below(6) == 0)
        o.longest_hold = 3000ms;
    o.backoff_floor = 20ms;
    o.backoff_ceiling = one_of(random, std::array{200ms, 500ms, 1000ms});
    o.handoff_time = one_of(random, std::array{0ms, 20ms, 200ms, 1000ms});
    return o;
}

/// Valid values that are far from the usual ones.
lock_options make_odd_options(generator& random)
{
    lock_options o = make_options(random);
    o.lease_time = one_of(random, std::array{200ms, 500ms, 1000ms, 2000ms, 5000ms, 10'000ms});
    if (o.renew && random.below(3) == 0)
        o.renew_interval = o.lease_time / one_of(random, std::array{2, 4, 10});
    if (random.below(6) == 0)
        o.longest_hold = one_of(random, std::array{50ms, 400ms, 3000ms});
    return o;
}

/// The times of waits and holds, which may differ between handles that take over from each other.
void vary_waiting(generator& random, lock_options& o)
{
    if (random.below(4) == 0)
        o.wait_limit = one_of(random, std::array{0ms, 30ms, 300ms, 3000ms});
    o.backoff_floor = one_of(random, std::array{1ms, 5ms, 20ms, 100ms});
    o.backoff_ceiling = std::max(o.backoff_floor,
                                 one_of(random, std::array{20ms, 200ms, 1000ms, 3000ms}));
    o.handoff_time = one_of(random, std::array{0ms, 20ms, 200ms, 1000ms, 5000ms});
    constexpr std::array<std::uint32_t, 6> counts = {0, 1, 3, 1000, 10'000, 1'000'000};
    o.handoff_count = one_of(random, counts);
}

/// The options of each client: the same for all in a third of the plans.
std::vector<std::vector<std::size_t>> make_all_options(generator& random, plan& p)
{
    std::vector<std::vector<std::size_t>> of_client(p.clients);
    const auto add = [&](std::size_t client, const lock_options& o) {
        of_client[client].push_back(p.options.size());
        p.options.push_back(o);
    };
    if (random.below(3) == 0) {
        p.options.push_back(make_options(random));
        of_client.assign(p.clients, {0});
        return of_client;
    }
    for (std::size_t client = 0; client < p.clients; ++client) {
        lock_options o = client == 0 || random.below(2) != 0 ? make_odd_options(random)
                                                             : p.options.front();
        vary_waiting(random, o);
        add(client, o);
        for (auto more = random.below(3); more > 0; --more) {
            lock_options other = random.below(3) == 0 ? make_odd_options(random) : o;
            vary_waiting(random, other);
            add(client, other);
        }
    }
    return of_client;
}

operation make_operation(generator& random, const plan& p,
                         const std::vector<std::vector<std::size_t>>& options, milliseconds around)
{
    operation op{};
    const auto kind = random.below(20);
    op.what = kind < 9    ? verb::lock
              : kind < 11 ? verb::try_once
              : kind < 14 ? verb::try_for
              : kind < 16 ? verb::guarded
              : kind < 17 ? verb::guarded_stubborn
                          : verb::reenter;
    op.at = around + ms_between(random, 0ms, 300ms);
    op.client = static_cast<std::size_t>(random.below(p.clients));
    op.name = static_cast<std::size_t>(random.below(p.names));
    op.other = static_cast<std::size_t>(random.below(p.clients));
    const auto& own = options[op.client];
    const auto& others = options[op.other];
    op.options = own[static_cast<std::size_t>(random.below(own.size()))];
    op.other_options = others[static_cast<std::size_t>(random.below(others.size()))];
    op.hold = random.below(4) != 0 ? ms_between(random, 0ms, 60ms)
                                   : ms_between(random, 100ms, p.longest_lease() * 2);
    op.limit = ms_between(random, 1ms, 4000ms);
    if (random.below(7) == 0)
        op.cancel_after = random.below(2) != 0 ? ms_between(random, 0ms, 6ms)
                                               : ms_between(random, 0ms, 3000ms);
    op.let_go = random.below(6) == 0;
    op.own_executor = random.below(3) == 0;
    op.ignores_loss = random.below(5) == 0;
    return op;
}

fault make_fault(generator& random, const plan& p, fault_kind kind)
{
    fault f{};
    f.what = kind;
    // Mostly close to an operation.
    const operation& near =
        p.operations[static_cast<std::size_t>(random.below(p.operations.size()))];
    f.client = random.below(4) != 0 ? near.client
                                    : static_cast<std::size_t>(random.below(p.clients));
    f.name = near.name;
    f.at = std::min(near.at + ms_between(random, 0ms, 200ms), p.heals - 1ms);
    // Mostly at short moments.
    constexpr std::array moments = {
        step::acquire_sent,     step::acquire_sent, step::acquire_sent, step::acquire_ran,
        step::acquire_answered, step::renewal_sent, step::renewal_sent, step::renewal_ran,
        step::renewal_answered, step::release_sent, step::release_ran,  step::release_sent,
        step::release_answered, step::connected,    step::disconnected};
    if (random.below(5) < 3)
        f.trigger = one_of(random, moments);
    f.how_long = random.below(3) == 0 ? ms_between(random, 1ms, 200ms)
                                      : ms_between(random, 100ms, p.longest_lease() * 2);
    f.how_long = std::min(f.how_long, 8000ms);
    switch (kind) {
    case fault_kind::refusing_server:
        f.amount = random.between(0, 6); // the reason
        if (static_cast<testing::server::trouble>(f.amount) == testing::server::trouble::read_only)
            f.how_long = ms_between(random, 1000ms, 20'000ms);
        break;
    case fault_kind::restart_kept: f.amount = random.between(0, 1500); break; // ms of loading
    case fault_kind::flush_scripts: f.amount = random.between(0, 1); break;   // once, or repeatedly
    case fault_kind::slow_server: f.amount = random.between(1, 400); break;   // ms per command
    case fault_kind::machine_dies:
    case fault_kind::fail_over: f.amount = random.between(1, 3000); break; // ms of lag
    case fault_kind::drift_within:
    case fault_kind::server_drift: f.amount = random.between(0, 8000) - 4000; break;
    case fault_kind::drift_beyond:
        f.amount = random.below(2) != 0 ? random.between(20'000, 200'000)
                                        : -random.between(20'000, 200'000);
        break;
    case fault_kind::server_clock_forward: f.amount = random.between(1, 20'000); break;
    case fault_kind::server_clock_back: f.amount = random.between(1, 3000); break;
    case fault_kind::lossy:
    case fault_kind::duplicating:
    case fault_kind::reordering:
    case fault_kind::resetting: f.amount = random.between(1, 25); break;        // percent
    case fault_kind::delaying: f.amount = random.between(10, 3000); break;      // ms
    case fault_kind::master_cut_off: f.amount = random.between(1, 1500); break; // ms until noticed
    case fault_kind::slot_moves: f.amount = random.between(0, 3); break;        // target
    default: break;
    }
    return f;
}

/// Mostly a connection of the store, otherwise one of the application.
testing::connecting make_connection(generator& random)
{
    testing::connecting how = usual_connection();
    how.limits.reconnect = one_of(random, std::array{20ms, 100ms, 250ms});
    how.shared = random.below(4) == 0;
    how.wakeups = random.below(3) != 0;
    if (random.below(4) == 0)
        how.acquires = 1 + static_cast<std::size_t>(random.below(3));
    return how;
}

void choose_layout(generator& random, plan& p, std::optional<redis_config::key_layout> wanted)
{
    using product = testing::server::product;
    const bool native = random.below(2) == 0;
    if (wanted ? *wanted != redis_config::key_layout::native : !native)
        return;
    p.layout = redis_config::key_layout::native;
    p.product = one_of(random, std::array{product::redis_7, product::redis_7, product::redis_6,
                                          product::redis_8_4, product::valkey_9});
    p.may_kill = random.below(8) != 0;
}

/// For some plans. Most of them fail over.
void replicate(plan& p)
{
    generator random(p.seed + 3'000'000'019);
    if (random.below(8) != 0)
        return;
    p.replicated = true;
    for (lock_options& each : p.options)
        each.replica_acks = 1;
    for (testing::connecting& each : p.connections)
        each.wakeups = true; // confirmations use a separate connection
    if (p.is_quiet() || random.below(4) == 0)
        return;
    for (auto times = random.between(1, 3); times > 0; --times)
        p.faults.push_back(make_fault(random, p, fault_kind::fail_over));
}

/// For some plans of the layout that supports it: most or all leases have heartbeats.
void promise(plan& p)
{
    generator random(p.seed + 7'000'000'033);
    if (!p.is_native() || p.replicated || random.below(4) != 0)
        return;
    const bool all = random.below(2) == 0;
    for (lock_options& each : p.options) {
        const auto grace = one_of(random, std::array{100ms, 300ms, 1000ms, 2000ms});
        if (grace < each.lease_time && (all || random.below(4) != 0))
            each.dead_holder_grace = grace;
    }
    if (p.is_quiet() || random.below(2) != 0)
        return;
    // The purpose: a client that has just acquired a lock becomes silent.
    for (auto times = random.between(1, 3); times > 0; --times) {
        constexpr std::array ends = {fault_kind::crash, fault_kind::crash, fault_kind::pause,
                                     fault_kind::cut_both};
        fault f = make_fault(random, p, one_of(random, ends));
        f.trigger = step::acquire_answered;
        p.faults.push_back(f);
    }
}

/// For queues only: claims, and free times for external clients.
void vary_line(plan& p)
{
    generator random(p.seed + 4'000'000'007);
    // An owner without a notification would never be in time.
    const bool all_hear = std::none_of(p.connections.begin(), p.connections.end(),
                                       [](auto& how) { return how.shared && !how.wakeups; });
    for (lock_options& each : p.options)
        if (random.below(5) == 0 && all_hear)
            each.claim_time = one_of(random, std::array{300ms, 5000ms});
    if (random.below(4) != 0)
        return;
    constexpr std::array<std::uint32_t, 4> percents = {1, 10, 50, 100};
    const auto percent = one_of(random, percents);
    for (lock_options& each : p.options)
        each.external_share = percent;
    if (p.replicated || random.below(2) == 0)
        return;
    p.external_clients.push_back({.name = static_cast<std::size_t>(random.below(p.names)),
                                  .every = one_of(random, std::array{5ms, 20ms, 50ms}),
                                  .hold = ms_between(random, 0ms, 40ms),
                                  .lease = one_of(random, std::array{200ms, 1000ms, 5000ms})});
}

} // namespace

const char* name_of(fault_kind kind) noexcept
{
    return kind_names[static_cast<std::size_t>(kind)];
}

bool breaks_exclusion(fault_kind kind) noexcept
{
    switch (kind) {
    case fault_kind::restart_lost:
    case fault_kind::restart_second_lost:
    case fault_kind::fail_over:
    case fault_kind::flush_all:
    case fault_kind::key_deleted:
    case fault_kind::key_overwritten:
    case fault_kind::key_seized:
    case fault_kind::drift_beyond:
    case fault_kind::server_clock_forward: return true;
    default: return false;
    }
}

bool is_forgetting(fault_kind kind) noexcept
{
    switch (kind) {
    case fault_kind::restart_kept:
    case fault_kind::restart_lost:
    case fault_kind::restart_second_lost:
    case fault_kind::fail_over:
    case fault_kind::flush_all: return true;
    default: return false;
    }
}

bool is_of_server(fault_kind kind) noexcept
{
    switch (kind) {
    case fault_kind::slow_server:
    case fault_kind::stalled_server:
    case fault_kind::refusing_server:
    case fault_kind::denying_server:
    case fault_kind::restart_kept:
    case fault_kind::restart_lost:
    case fault_kind::restart_second_lost:
    case fault_kind::flush_all:
    case fault_kind::flush_scripts:
    case fault_kind::key_deleted:
    case fault_kind::server_drift:
    case fault_kind::server_clock_forward:
    case fault_kind::server_clock_back:
    case fault_kind::failing_renewals: return true;
    default: return false;
    }
}

bool is_of_way(fault_kind kind) noexcept
{
    switch (kind) {
    case fault_kind::cut_both:
    case fault_kind::cut_to_server:
    case fault_kind::cut_from_server:
    case fault_kind::reset: return true;
    default: return lasts(kind);
    }
}

bool is_of_client(fault_kind kind) noexcept
{
    switch (kind) {
    case fault_kind::lost_wakeups:
    case fault_kind::false_wakeup:
    case fault_kind::pause:
    case fault_kind::suspend:
    case fault_kind::crash:
    case fault_kind::drift_within:
    case fault_kind::drift_beyond:
    case fault_kind::wall_clock_step:
    case fault_kind::shutdown:
    case fault_kind::cancel:
    case fault_kind::unsent: return true;
    default: return is_of_way(kind);
    }
}

bool lasts(fault_kind kind) noexcept
{
    switch (kind) {
    case fault_kind::lossy:
    case fault_kind::duplicating:
    case fault_kind::reordering:
    case fault_kind::resetting:
    case fault_kind::delaying: return true;
    default: return false;
    }
}

bool is_mild(fault_kind kind) noexcept
{
    switch (kind) {
    case fault_kind::reset:
    case fault_kind::restart_kept: return true;
    default: return is_unnoticed(kind);
    }
}

bool is_unnoticed(fault_kind kind) noexcept
{
    switch (kind) {
    case fault_kind::lost_wakeups:
    case fault_kind::false_wakeup:
    case fault_kind::flush_scripts:
    case fault_kind::shutdown:
    case fault_kind::cancel: return true;
    default: return false;
    }
}

milliseconds plan::longest_lease() const noexcept
{
    milliseconds longest{};
    for (const lock_options& each : options)
        longest = std::max(longest, each.lease_time);
    return longest;
}

bool plan::leaves_free() const noexcept
{
    return !external_clients.empty() || std::any_of(options.begin(), options.end(), [](auto& each) {
        return each.external_share != 0;
    });
}

testing::connecting usual_connection()
{
    testing::connecting how;
    how.limits.timeout = 2000ms;
    how.limits.health_check = 1500ms;
    return how;
}

namespace {

/// In bursts, so that some operations wait.
void add_operations(generator& random, plan& p,
                    const std::vector<std::vector<std::size_t>>& options)
{
    for (auto bursts = random.between(2, 7); bursts > 0; --bursts) {
        const auto around = ms_between(random, 100ms, p.heals - 500ms);
        for (auto left = random.between(1, 6); left > 0; --left)
            p.operations.push_back(make_operation(random, p, options, around));
    }
}

/// For stores with separate connections, and wake-ups for every release.
void add_own_connections(generator& random, plan& p)
{
    for (std::size_t i = 0; i < p.clients; ++i) {
        p.connections.push_back(make_connection(random));
        p.connections.back().shared = false;
        p.connections.back().wakeups = true;
    }
}

/// A shutdown takes only a moment, so its faults are placed there.
void close_in_trouble(generator& random, plan& p)
{
    if (random.below(5) < 2) {
        const fault& other = p.faults.front();
        if (other.what != fault_kind::shutdown) {
            fault during = other;
            during.when_closing = true;
            during.trigger.reset();
            p.faults.push_back(during);
            fault stop = make_fault(random, p, fault_kind::shutdown);
            stop.client = during.client;
            if (random.below(3) != 0)
                stop.trigger = random.below(2) == 0 ? step::acquire_answered : step::release_sent;
            p.faults.push_back(stop);
        }
    }
}

plan make_plain_plan(std::uint64_t seed, std::optional<redis_config::key_layout> layout)
{
    generator random(seed);
    plan p;
    p.seed = seed;
    generator of_layout(seed + 2'000'000'011);
    choose_layout(of_layout, p, layout);
    p.clients = 1 + static_cast<std::size_t>(random.below(4));
    p.names = 1 + static_cast<std::size_t>(random.below(3));
    // A client that releases several locks at once sends them as a group.
    p.ends_together = seed % 4 == 3;
    if (p.ends_together) {
        p.names += 4;
        p.clients = 1 + p.clients % 2;
    }
    const auto options = make_all_options(random, p);
    p.heals = 45'000ms - p.longest_lease();
    generator of_connections(seed + 1'000'000'007);
    for (std::size_t i = 0; i < p.clients; ++i)
        p.connections.push_back(make_connection(of_connections));
    add_operations(random, p, options);
    if (p.ends_together)
        for (operation& each : p.operations)
            each.hold += 300ms; // the holds of a burst overlap
    if (random.below(5) == 0)
        return p;
    // Few kinds per run, so that none hides the effects of another.
    const auto kinds = random.between(1, 3);
    for (auto left = kinds; left > 0; --left) {
        const auto kind = static_cast<fault_kind>(random.below(plain_faults));
        for (auto times = random.between(1, 3); times > 0; --times)
            p.faults.push_back(make_fault(random, p, kind));
    }
    close_in_trouble(random, p);
    return p;
}

} // namespace

plan make_plan(std::uint64_t seed, std::optional<redis_config::key_layout> layout)
{
    plan p = make_plain_plan(seed, layout);
    replicate(p);
    promise(p);
    vary_line(p);
    return p;
}

namespace {

constexpr std::array quorum_faults = {
    fault_kind::cut_both,
    fault_kind::cut_to_server,
    fault_kind::cut_from_server,
    fault_kind::reset,
    fault_kind::lost_wakeups,
    fault_kind::false_wakeup,
    fault_kind::slow_server,
    fault_kind::stalled_server,
    fault_kind::refusing_server,
    fault_kind::restart_kept,
    fault_kind::restart_lost,
    fault_kind::restart_second_lost,
    fault_kind::fail_over,
    fault_kind::flush_all,
    fault_kind::flush_scripts,
    fault_kind::key_deleted,
    fault_kind::pause,
    fault_kind::suspend,
    fault_kind::crash,
    fault_kind::drift_within,
    fault_kind::server_drift,
    fault_kind::wall_clock_step,
    fault_kind::server_clock_forward,
    fault_kind::server_clock_back,
    fault_kind::shutdown,
    fault_kind::lossy,
    fault_kind::duplicating,
    fault_kind::reordering,
    fault_kind::resetting,
    fault_kind::delaying,
    fault_kind::cancel,
    fault_kind::failing_renewals,
    fault_kind::unsent,
};

/// Faults that may affect all members at once without a loss of data.
bool may_befall_all(fault_kind kind) noexcept
{
    switch (kind) {
    case fault_kind::slow_server:
    case fault_kind::stalled_server:
    case fault_kind::refusing_server:
    case fault_kind::restart_kept:
    case fault_kind::flush_scripts:
    case fault_kind::failing_renewals: return true;
    default: return false;
    }
}

void befall_members(generator& random, plan& p, fault_kind kind)
{
    fault f = make_fault(random, p, kind);
    if (may_befall_all(kind) && random.below(5) == 0) {
        f.together = true;
        f.trigger.reset();
        for (std::size_t each = 0; each < p.members; ++each) {
            f.member = each;
            p.faults.push_back(f);
        }
        return;
    }
    // The faults of a network or a process, mostly of one member.
    if (random.below(4) != 0)
        f.member = static_cast<std::size_t>(random.below(p.members));
    p.faults.push_back(f);
}

} // namespace

plan make_quorum_plan(std::uint64_t seed)
{
    generator random(seed + 5'000'000'029);
    plan p;
    p.seed = seed;
    p.members = random.below(3) == 0 ? 5 : 3;
    const std::size_t majority = p.members / 2 + 1;
    p.grants = random.below(3) == 0 ? majority + static_cast<std::size_t>(random.below(majority))
                                    : majority;
    p.may_kill = random.below(8) != 0;
    p.clients = 1 + static_cast<std::size_t>(random.below(4));
    p.names = 1 + static_cast<std::size_t>(random.below(3));
    const auto options = make_all_options(random, p);
    p.heals = 45'000ms - p.longest_lease();
    p.ends = 80'000ms; // members are silent for a lease time
    add_own_connections(random, p);
    add_operations(random, p, options);
    if (random.below(8) == 0)
        return p;
    for (auto kinds = random.between(1, 4); kinds > 0; --kinds) {
        const auto kind = one_of(random, quorum_faults);
        for (auto times = random.between(1, 4); times > 0; --times)
            befall_members(random, p, kind);
    }
    return p;
}

namespace {

// Cluster faults more often than others.
constexpr std::array cluster_faults = {
    fault_kind::fail_over,
    fault_kind::fail_over,
    fault_kind::fail_over,
    fault_kind::machine_dies,
    fault_kind::machine_dies,
    fault_kind::shard_down,
    fault_kind::shard_down,
    fault_kind::master_cut_off,
    fault_kind::master_cut_off,
    fault_kind::switch_over,
    fault_kind::switch_over,
    fault_kind::slot_moves,
    fault_kind::slot_moves,
    fault_kind::slot_moves,
    fault_kind::slot_moves,
    fault_kind::stale_map,
    fault_kind::stale_map,
    fault_kind::cut_both,
    fault_kind::cut_to_server,
    fault_kind::cut_from_server,
    fault_kind::reset,
    fault_kind::lost_wakeups,
    fault_kind::false_wakeup,
    fault_kind::slow_server,
    fault_kind::stalled_server,
    fault_kind::refusing_server,
    fault_kind::restart_kept,
    fault_kind::restart_lost,
    fault_kind::restart_second_lost,
    fault_kind::flush_all,
    fault_kind::flush_scripts,
    fault_kind::key_deleted,
    fault_kind::pause,
    fault_kind::suspend,
    fault_kind::crash,
    fault_kind::drift_within,
    fault_kind::wall_clock_step,
    fault_kind::shutdown,
    fault_kind::lossy,
    fault_kind::duplicating,
    fault_kind::reordering,
    fault_kind::resetting,
    fault_kind::delaying,
    fault_kind::cancel,
    fault_kind::failing_renewals,
    fault_kind::unsent,
};

/// An outdated node has an effect only if there is a change that it does not know.
fault make_change(generator& random, const plan& p, fault& stale)
{
    fault f = make_fault(random, p,
                         one_of(random, std::array{fault_kind::fail_over, fault_kind::switch_over,
                                                   fault_kind::slot_moves}));
    stale.trigger.reset();
    f.trigger.reset();
    f.at = std::min(stale.at + 50ms, p.heals - 1ms);
    return f;
}

} // namespace

bool occurs_in_clusters(fault_kind kind) noexcept
{
    return std::find(cluster_faults.begin(), cluster_faults.end(), kind) != cluster_faults.end();
}

plan make_cluster_plan(std::uint64_t seed, std::optional<redis_config::key_layout> layout)
{
    using product = testing::server::product;
    generator random(seed + 7'000'000'003);
    plan p;
    p.seed = seed;
    choose_layout(random, p, layout);
    p.product = one_of(random, std::array{product::redis_7, product::redis_7, product::valkey_8,
                                          product::redis_6, product::redis_8_4, product::valkey_9});
    p.shards = 2 + static_cast<std::size_t>(random.below(2));
    p.replicas = random.below(4) == 0 ? 2 : 1;
    p.full_coverage = random.below(4) == 0;
    p.one_slot = random.below(3) == 0;
    p.clients = 1 + static_cast<std::size_t>(random.below(4));
    p.names = 1 + static_cast<std::size_t>(random.below(3));
    const auto options = make_all_options(random, p);
    p.heals = 45'000ms - p.longest_lease();
    add_own_connections(random, p);
    add_operations(random, p, options);
    if (random.below(6) == 0) {
        p.replicated = true;
        for (lock_options& each : p.options)
            each.replica_acks = 1;
    }
    if (random.below(8) == 0)
        return p;
    const std::size_t nodes = p.shards * (p.replicas + 1);
    for (auto kinds = random.between(1, 4); kinds > 0; --kinds) {
        const auto kind = one_of(random, cluster_faults);
        for (auto times = random.between(1, 4); times > 0; --times) {
            fault f = make_fault(random, p, kind);
            const bool of_node = kind == fault_kind::stale_map ||
                                 (is_of_server(kind) && random.below(4) == 0) ||
                                 (is_of_way(kind) && random.below(2) == 0);
            if (of_node)
                f.member = static_cast<std::size_t>(random.below(nodes));
            p.faults.push_back(f);
            if (kind == fault_kind::stale_map)
                p.faults.push_back(make_change(random, p, p.faults.back()));
        }
    }
    close_in_trouble(random, p);
    return p;
}

} // namespace leasehold::test::sim
