#include <boost/test/unit_test.hpp>

#include "fsm/lease/keep_alive.hpp"
#include "support/print.hpp"

using namespace leasehold;
using namespace std::chrono_literals;
using fsm::keep_alive;
using action = keep_alive::action;

namespace {

constexpr clock::time_point start{1000s};
constexpr auto never = clock::time_point::max();
constexpr clock::duration lease_time = 30s;
constexpr clock::duration margin = 302ms;

keep_alive fresh(clock::time_point ends = never, clock::duration interval = lease_time / 3)
{
    return {start, lease_time, interval, ends};
}

} // namespace

BOOST_AUTO_TEST_SUITE(keep_alive_fsm)

BOOST_AUTO_TEST_CASE(drift_margin_is_a_hundredth_and_two_milliseconds)
{
    BOOST_TEST((fsm::drift_margin(30s) == 302ms));
    BOOST_TEST((fsm::drift_margin(10ms) == 2100us));
}

// R5: the time of sending counts, not the time of the reply.
BOOST_AUTO_TEST_CASE(R5_deadline_counts_from_the_send)
{
    keep_alive life = fresh();
    BOOST_TEST((life.deadline() == start + lease_time - margin));
    const auto sent = start + 10s;
    life.sent();
    BOOST_TEST((life.confirmed(sent, sent + 5s) == action::wait));
    BOOST_TEST((life.deadline() == sent + lease_time - margin));
}

BOOST_AUTO_TEST_CASE(lease_is_renewed_after_the_interval_on_a_common_grid)
{
    keep_alive life = fresh();
    const auto due = life.next();
    BOOST_TEST((due <= start + 10s));
    BOOST_TEST((due >= start + 10s - lease_time / 64));
    BOOST_TEST((life.due(due - 1ns) == action::wait));
    BOOST_TEST((life.due(due) == action::renew));

    // Acquired within one step of the grid: renewed at the same moment.
    const auto grid = lease_time / 64;
    const clock::time_point step = start - start.time_since_epoch() % grid;
    const keep_alive one(step + 1ms, lease_time, 10 * grid, never);
    const keep_alive other(step + 400ms, lease_time, 10 * grid, never);
    BOOST_TEST((one.next() == other.next()));
}

BOOST_AUTO_TEST_CASE(short_lease_is_not_renewed_in_a_loop)
{
    for (const auto begun : {start, start + 999us}) { // and at the end of a step of the grid
        for (const clock::duration interval : {1ms, 2ms, 5ms}) {
            const keep_alive life(begun, 10ms, interval, never);
            BOOST_TEST((life.next() >= begun + interval / 2));
            BOOST_TEST((life.next() <= begun + interval));
        }
    }
}

BOOST_AUTO_TEST_CASE(lease_has_one_outstanding_renewal_at_a_time)
{
    keep_alive life = fresh();
    BOOST_TEST((life.due(start + 10s) == action::renew));
    life.sent();
    BOOST_TEST(life.in_flight());
    BOOST_TEST((life.next() == life.deadline()));
    BOOST_TEST((life.due(start + 15s) == action::wait));
    life.confirmed(start + 10s, start + 16s);
    BOOST_TEST(!life.in_flight());
    BOOST_TEST((life.next() > start + 19s));
}

// R2: one failure ends neither the renewals nor the lease.
BOOST_AUTO_TEST_CASE(R2_failed_renewal_is_retried_until_the_deadline)
{
    keep_alive life = fresh();
    auto now = life.next();
    int tries = 0;
    while (life.due(now) == action::renew) {
        life.sent();
        ++tries;
        life.failed(now + 1ms);
        BOOST_TEST((life.next() > now));
        BOOST_TEST((life.next() <= now + 1ms + 2500ms));
        now = life.next();
    }
    BOOST_TEST(tries >= 8);
    BOOST_TEST((now == life.deadline()));
    BOOST_TEST(life.ended());
    BOOST_TEST(life.reason() == errc::expired);
}

BOOST_AUTO_TEST_CASE(lease_expires_at_its_deadline_and_not_before)
{
    for (const bool in_flight : {false, true}) {
        keep_alive life = fresh();
        if (in_flight)
            life.sent();
        BOOST_TEST((life.due(life.deadline() - 1ns) != action::end));
        BOOST_TEST((life.due(life.deadline()) == action::end));
        BOOST_TEST(life.reason() == errc::expired);
    }
}

BOOST_AUTO_TEST_CASE(confirmation_after_the_deadline_does_not_revive_the_lease)
{
    keep_alive life = fresh();
    life.sent();
    const auto before = life.deadline();
    BOOST_TEST((life.confirmed(before - 1s, before) == action::end));
    BOOST_TEST(life.reason() == errc::expired);
    BOOST_TEST((life.deadline() == before));
}

BOOST_AUTO_TEST_CASE(lost_lease_stays_lost)
{
    const auto lose = [](keep_alive& life, int how) {
        switch (how) {
        case 0: return life.gone();
        case 1: return life.due(life.deadline());
        case 2: return life.end(errc::shut_down);
        default: return life.end({});
        }
    };
    for (int how = 0; how < 4; ++how) {
        keep_alive life = fresh();
        life.sent();
        BOOST_TEST((lose(life, how) == action::end));
        const error_code why = life.reason();
        const auto deadline = life.deadline();
        BOOST_TEST((life.confirmed(start + 29s, start + 29s) == action::wait));
        BOOST_TEST((life.gone() == action::wait));
        BOOST_TEST((life.due(start + 100s) == action::wait));
        life.connected(start + 29s);
        life.failed(start + 29s);
        BOOST_TEST((life.due(start + 29s) == action::wait));
        BOOST_TEST(life.ended());
        BOOST_TEST(life.reason() == why);
        BOOST_TEST((life.deadline() == deadline));
    }
}

BOOST_AUTO_TEST_CASE(gone_lease_ends_at_once)
{
    keep_alive life = fresh();
    life.sent();
    BOOST_TEST((life.gone() == action::end));
    BOOST_TEST(life.reason() == errc::lost);
    BOOST_TEST(!life.in_flight());
}

// A late confirmation belongs to a request that was given up. It still extends the lease, but only
// from its own send.
BOOST_AUTO_TEST_CASE(late_confirmation_never_shortens_the_lease)
{
    keep_alive life = fresh();
    life.sent();
    life.failed(start + 15s);
    life.sent();
    life.confirmed(start + 17s, start + 18s);
    const auto deadline = life.deadline();
    BOOST_TEST((deadline == start + 17s + lease_time - margin));
    life.confirmed(start + 10s, start + 19s);
    BOOST_TEST((life.deadline() == deadline));
}

BOOST_AUTO_TEST_CASE(new_connection_renews_at_once)
{
    keep_alive life = fresh();
    life.sent(); // over a connection that has ended
    life.connected(start + 12s);
    BOOST_TEST((life.next() == start + 12s));
    BOOST_TEST((life.due(start + 12s) == action::renew));
}

// The server may execute the renewal at any later time, and extend a lock that is already released
// here.
BOOST_AUTO_TEST_CASE(renewal_without_a_reply_leaves_the_lease_in_doubt)
{
    keep_alive answered = fresh();
    BOOST_TEST(!answered.doubtful());
    answered.sent();
    answered.confirmed(start + 10s, start + 11s);
    answered.failed(start + 20s); // without a connection to send it
    answered.connected(start + 21s);
    answered.end({});
    BOOST_TEST(!answered.doubtful());

    const auto leave = [](keep_alive& life, int how) {
        switch (how) {
        case 0: life.failed(start + 11s); break;
        case 1: life.connected(start + 11s); break;
        default: life.end({});
        }
    };
    for (int how = 0; how < 3; ++how) {
        keep_alive life = fresh();
        life.sent();
        BOOST_TEST(!life.doubtful());
        leave(life, how);
        BOOST_TEST(life.doubtful());
        if (!life.ended())
            life.sent();
        life.confirmed(start + 12s, start + 13s); // the reply to the earlier renewal may still come
        BOOST_TEST(life.doubtful());
    }
}

BOOST_AUTO_TEST_CASE(lease_without_renewal_expires_after_its_lease_time)
{
    keep_alive life = fresh(never, 0s);
    BOOST_TEST((life.next() == life.deadline()));
    BOOST_TEST((life.due(start + 20s) == action::wait));
    life.connected(start + 21s);
    BOOST_TEST((life.due(start + 21s) == action::wait));
    BOOST_TEST((life.next() == life.deadline()));
    BOOST_TEST((life.due(life.deadline()) == action::end));
    BOOST_TEST(life.reason() == errc::expired);
}

BOOST_AUTO_TEST_CASE(longest_hold_ends_a_renewed_lease)
{
    const auto ends = start + 45s;
    keep_alive life = fresh(ends);
    auto now = life.next();
    for (action due = life.due(now); due != action::end; due = life.due(now)) {
        if (due == action::renew) {
            life.sent();
            life.confirmed(now, now + 1ms);
        }
        BOOST_TEST((life.deadline() <= ends));
        now = life.next();
    }
    BOOST_TEST((now == ends));
    BOOST_TEST(life.reason() == errc::hold_limit);
}

// Even if it is detected late, the earlier reason counts.
BOOST_AUTO_TEST_CASE(lease_expired_before_its_longest_hold_reports_expired)
{
    keep_alive life = fresh(start + 45s);
    BOOST_TEST((life.due(start + 60s) == action::end));
    BOOST_TEST(life.reason() == errc::expired);
}

BOOST_AUTO_TEST_CASE(longest_hold_below_the_lease_time_is_the_deadline)
{
    keep_alive life = fresh(start + 5s);
    BOOST_TEST((life.deadline() == start + 5s));
    BOOST_TEST((life.next() == start + 5s));
    BOOST_TEST((life.due(start + 5s) == action::end));
    BOOST_TEST(life.reason() == errc::hold_limit);
}

BOOST_AUTO_TEST_CASE(next_holder_has_its_own_longest_hold)
{
    keep_alive life = fresh(start + 40s);
    life.sent();
    life.confirmed(start + 10s, start + 10s);
    life.sent();
    life.confirmed(start + 19s, start + 19s);
    BOOST_TEST((life.deadline() == start + 40s));
    life.extend(start + 60s);
    BOOST_TEST((life.deadline() == start + 40s)); // not before the store has confirmed
    BOOST_TEST((life.due(start + 29s) == action::renew));
    life.sent();
    life.confirmed(start + 29s, start + 29s);
    BOOST_TEST((life.deadline() == start + 29s + lease_time - margin));
}

BOOST_AUTO_TEST_CASE(lease_ends_without_a_confirmed_heartbeat)
{
    constexpr clock::duration grace = 2s;
    constexpr clock::duration silence = grace - 22ms; // the drift margin
    keep_alive life = fresh();
    life.promise(start, grace);
    BOOST_TEST(life.silent());
    BOOST_TEST((life.deadline() == start + silence));
    // The time at which a heartbeat was sent counts.
    const auto sent = start + 500ms;
    BOOST_TEST((life.alive(sent, grace, sent + 1s) == action::wait));
    BOOST_TEST((life.deadline() == sent + silence));
    BOOST_TEST((life.alive(start, grace, sent + 1s) == action::wait));
    BOOST_TEST((life.deadline() == sent + silence));
    BOOST_TEST((life.next() == sent + silence));
    BOOST_TEST((life.due(sent + silence - 1ns) == action::wait));
    // A waiter may have superseded the holder: a heartbeat that is confirmed now is too late.
    BOOST_TEST((life.alive(sent + 1s, grace, sent + silence) == action::end));
    BOOST_TEST((life.reason() == errc::silent));
    BOOST_TEST(life.ended());
    BOOST_TEST((life.alive(sent + 2s, grace, sent + 2s) == action::wait));
}

BOOST_AUTO_TEST_CASE(grace_does_not_extend_the_lease)
{
    keep_alive life = fresh();
    life.promise(start, 20s);
    for (auto at = start + 5s; at < start + 29s; at += 5s)
        BOOST_TEST((life.alive(at, 20s, at) == action::wait));
    BOOST_TEST((life.deadline() == start + lease_time - margin));
    BOOST_TEST(!life.silent());
}

BOOST_AUTO_TEST_SUITE_END()
