// The limits of waits, including a single try, and the error at the end of a wait without a lease.
#include <boost/test/unit_test.hpp>

#include "support/core_checks.hpp"

#include <utility>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using kind = recording_observer::kind;

BOOST_AUTO_TEST_SUITE(core_wait_limits)

BOOST_AUTO_TEST_CASE(try_of_a_lock_of_another_client_fails_with_held)
{
    core_fixture e;
    const auto op = e.lock(e.spec("a"), 0s);
    e.say_held();
    BOOST_TEST(code(*op) == errc::held);
    BOOST_TEST(e.store->watches().empty());
    check_idle(e);
}

BOOST_AUTO_TEST_CASE(try_of_a_lock_that_this_client_uses_fails_without_a_request)
{
    core_fixture e;
    const lease held = e.taken(e.spec("a"));
    const auto mine = e.lock(e.spec("a"), 0s);
    BOOST_TEST(code(*mine) == errc::held);
    const auto waits = e.lock("b");
    e.say_held();
    const auto behind = e.lock(e.spec("b"), 0s);
    BOOST_TEST(code(*behind) == errc::held);
    BOOST_TEST(e.store->acquire_count() == 2u);
}

BOOST_AUTO_TEST_CASE(second_try_waits_for_the_reply_to_the_first)
{
    core_fixture e;
    const auto one = e.lock(e.spec("a"), 0s);
    const auto two = e.lock(e.spec("a"), 0s);
    BOOST_TEST(!two->done());
    e.grant();
    BOOST_TEST(code(*one) == error_code());
    BOOST_TEST(code(*two) == errc::held);
}

BOOST_AUTO_TEST_CASE(wait_for_a_lock_of_another_client_times_out)
{
    core_fixture e;
    const auto op = e.lock(e.spec("a"), 3s);
    e.say_held();
    while (e.time.now() < clock::time_point(1h + 2999ms)) {
        e.advance(1ms);
        if (e.store->pending() > 0)
            e.say_held();
        BOOST_TEST_REQUIRE(!op->done());
    }
    e.advance(1ms);
    BOOST_TEST(code(*op) == errc::timed_out);
}

// The name stays subscribed for a while without a waiter. Earlier failures do not count for a new
// one.
BOOST_AUTO_TEST_CASE(failure_before_a_new_wait_is_not_its_error)
{
    core_fixture e;
    const auto before = e.lock("a");
    e.say_held_and_wait(10s);
    BOOST_TEST_REQUIRE(e.store->acquire_count() == 2u);
    e.fail_acquire(errc::store_refused);
    before->cancel();
    e.poll();
    BOOST_TEST(code(*before) == aborted);
    BOOST_TEST_REQUIRE(e.store->watched().contains("a"));

    const auto op = e.lock(e.spec("a"), 100ms);
    BOOST_TEST(e.store->acquire_count() == 3u);
    e.advance(100ms);
    BOOST_TEST(code(*op) == errc::timed_out); // as in the last reply of the store
}

// And not when the client processes the call, because its strand may be busy.
BOOST_AUTO_TEST_CASE(wait_limit_starts_with_the_call)
{
    for (const owner& under : {owner(), owner("11111111-1111-1111-1111-111111111111:1", 7)}) {
        core_fixture e;
        const auto op = e.make<core_fixture::locking>();
        op->start([&](auto handler) { e.async_lock(e.spec("a"), 3s, under, std::move(handler)); });
        e.skip(2s);
        BOOST_TEST(e.store->acquire_count() == 1u);
        e.advance(999ms);
        BOOST_TEST(!op->done());
        e.advance(1ms);
        BOOST_TEST(code(*op) == errc::outcome_unknown);
        BOOST_TEST((e.seen->events(kind::not_acquired).back().time == 3s));
    }
}

BOOST_AUTO_TEST_CASE(timeout_of_a_try_starts_with_the_call)
{
    for (const owner& under : {owner(), owner("11111111-1111-1111-1111-111111111111:1", 7)}) {
        core_fixture e;
        const auto op = e.make<core_fixture::locking>();
        op->start([&](auto handler) { e.async_lock(e.spec("a"), 0s, under, std::move(handler)); });
        e.skip(2s);
        e.advance(2999ms);
        BOOST_TEST(!op->done());
        e.advance(1ms);
        BOOST_TEST(code(*op) == errc::outcome_unknown);
    }
}

BOOST_AUTO_TEST_CASE(wait_for_a_lock_of_this_client_times_out)
{
    core_fixture e;
    const lease held = e.taken(e.spec("a"));
    const auto op = e.lock(e.spec("a"), 3s);
    e.advance(3s);
    BOOST_TEST(code(*op) == errc::timed_out);
}

// C6: the limit includes connecting.
BOOST_AUTO_TEST_CASE(C6_wait_limit_includes_connecting)
{
    core_fixture e(false);
    e.run();
    const auto op = e.lock(e.spec("a"), 3s);
    e.advance(2999ms);
    BOOST_TEST(!op->done());
    e.advance(1ms);
    BOOST_TEST(code(*op) == errc::store_unavailable);
    BOOST_TEST(e.store->acquire_count() == 0u);
}

BOOST_AUTO_TEST_CASE(C6_try_waits_at_most_five_seconds_for_the_first_connection)
{
    core_fixture e(false);
    e.run();
    const auto op = e.lock(e.spec("a"), 0s);
    e.advance(1s);
    e.connect();
    e.grant();
    BOOST_TEST(code(*op) == error_code());

    core_fixture never(false);
    never.run();
    const auto other = never.lock(never.spec("a"), 0s);
    never.advance(5s);
    BOOST_TEST(code(*other) == errc::store_unavailable);
}

BOOST_AUTO_TEST_CASE(try_without_a_connection_fails_at_once)
{
    core_fixture e;
    e.disconnect(errc::store_unavailable);
    const auto op = e.lock(e.spec("a"), 0s);
    BOOST_TEST(code(*op) == errc::store_unavailable);
}

BOOST_AUTO_TEST_CASE(wait_on_a_rejecting_store_ends_with_its_error)
{
    core_fixture e;
    const auto op = e.lock(e.spec("a"), 1s);
    const auto end = e.time.now() + 1s;
    while (e.time.now() < end) {
        if (e.store->pending() > 0)
            e.fail_acquire(errc::store_refused);
        e.advance(1ms);
    }
    BOOST_TEST(code(*op) == errc::store_refused);
    // The pauses grow.
    BOOST_TEST(e.store->acquire_count() < 40u);
}

BOOST_AUTO_TEST_CASE(try_ends_with_the_error_of_the_store)
{
    for (const errc each : {errc::store_refused, errc::store_unavailable, errc::outcome_unknown}) {
        core_fixture e;
        const auto op = e.lock(e.spec("a"), 0s);
        e.fail_acquire(each);
        BOOST_TEST(code(*op) == each);
    }
}

BOOST_AUTO_TEST_CASE(wait_without_a_reply_ends_with_unknown_outcome)
{
    core_fixture e;
    const auto op = e.lock(e.spec("a"), 1s);
    e.advance(1s);
    // No reply has named another holder.
    BOOST_TEST(code(*op) == errc::outcome_unknown);
    e.advance(4s);
    BOOST_TEST(e.stats().orphans == 1u);
}

// The last reply has named another holder, and the store is available.
BOOST_AUTO_TEST_CASE(limit_below_the_round_trip_time_ends_with_the_last_known_state)
{
    core_fixture e;
    const auto first = e.lock(e.spec("a"), 50ms);
    e.say_held();
    e.advance(50ms);
    BOOST_TEST(code(*first) == errc::timed_out);
    e.say_held(); // the waiter has timed out
    const auto asked = e.store->acquire_count();
    const auto next = e.lock(e.spec("a"), 1ms);
    BOOST_TEST(e.store->acquire_count() == asked + 1);
    e.advance(1ms);
    BOOST_TEST(code(*next) == errc::timed_out);
}

BOOST_AUTO_TEST_CASE(second_missing_reply_makes_the_outcome_unknown)
{
    // Both end at the limit, and a request has the timeout of the lease time.
    for (const auto& [limit, expected] :
         {std::pair(110ms, errc::timed_out), std::pair(1000ms, errc::outcome_unknown)}) {
        core_fixture e;
        const auto op = e.lock(
            e.spec("a", {.lease_time = 100ms, .backoff_floor = 1ms, .backoff_ceiling = 1ms}),
            limit);
        e.say_held();
        e.advance(limit);
        BOOST_TEST(code(*op) == expected);
    }
}

// Only consecutive missing replies cast doubt on the earlier reply.
BOOST_AUTO_TEST_CASE(missing_replies_with_a_reply_between_them_keep_timed_out)
{
    core_fixture e;
    const auto op = e.lock(e.spec("a"), 4s);
    e.say_held();
    for (int i = 0; i < 2; ++i) {
        e.store->wakeup("a");
        e.poll();
        e.fail_acquire(errc::outcome_unknown);
        e.store->wakeup("a");
        e.poll();
        if (i == 0)
            e.say_held();
    }
    BOOST_TEST(e.store->acquire_count() == 5u);
    e.advance(4s);
    BOOST_TEST(code(*op) == errc::timed_out);
}

// A grant counts as a reply.
BOOST_AUTO_TEST_CASE(missing_replies_with_a_grant_between_them_keep_timed_out)
{
    core_fixture e;
    const auto first = e.lock("a");
    const auto op = e.lock(e.spec("a", {.lease_time = 60s}), 4s);
    e.say_held();
    e.store->wakeup("a");
    e.poll();
    e.fail_acquire(errc::outcome_unknown);
    e.store->wakeup("a");
    e.poll();
    e.grant();
    e.release(std::move(first->value<1>()));
    e.say_freed(1);
    e.fail_acquire(errc::outcome_unknown);
    e.advance(4s);
    BOOST_TEST(code(*op) == errc::timed_out);
}

// A missing reply of a lost connection always makes the outcome unknown.
BOOST_AUTO_TEST_CASE(missing_reply_of_a_lost_connection_makes_the_outcome_unknown)
{
    core_fixture e;
    const auto op = e.lock(e.spec("a"), 4s);
    e.say_held();
    e.store->wakeup("a");
    e.poll();
    e.disconnect();
    e.fail_acquire(errc::outcome_unknown);
    e.advance(4s);
    BOOST_TEST(code(*op) == errc::outcome_unknown);
}

// If the lock was free at the last reply, there is no known holder.
BOOST_AUTO_TEST_CASE(missing_reply_after_an_own_release_makes_the_outcome_unknown)
{
    core_fixture e;
    const auto first = e.lock(e.spec("a"));
    e.say_held();
    e.store->wakeup("a");
    e.poll();
    e.grant();
    e.release(std::move(first->value<1>()));
    e.say_freed(1);
    const auto op = e.lock(e.spec("a"), 1s);
    e.advance(1s);
    BOOST_TEST(code(*op) == errc::outcome_unknown);
}

BOOST_AUTO_TEST_CASE(try_without_a_reply_ends_with_unknown_outcome)
{
    core_fixture e;
    const auto op = e.lock(e.spec("a"), 0s);
    e.advance(5s);
    BOOST_TEST(code(*op) == errc::outcome_unknown);
}

// A try has to find out whether the lock is free now: an earlier reply does not count.
BOOST_AUTO_TEST_CASE(try_without_a_reply_does_not_reuse_an_earlier_reply)
{
    core_fixture e;
    const auto before = e.lock("a");
    e.say_held();
    before->cancel();
    e.poll();
    const auto op = e.lock(e.spec("a"), 0s);
    BOOST_TEST(e.store->acquire_count() == 2u);
    e.advance(5s);
    BOOST_TEST(code(*op) == errc::outcome_unknown);
}

// The request may still be executed: its reply decides, and not the connection.
BOOST_AUTO_TEST_CASE(reply_decides_an_outstanding_try_after_a_disconnection)
{
    for (const owner& under : {owner(), owner("11111111-1111-1111-1111-111111111111:1", 7)}) {
        const auto after = [&](auto answer) {
            core_fixture e;
            const auto op = e.lock(e.spec("a"), 0s, under);
            e.disconnect();
            BOOST_TEST_REQUIRE(!op->done());
            answer(e);
            return code(*op);
        };
        BOOST_TEST(after([](core_fixture& e) { e.grant(); }) == error_code());
        BOOST_TEST(after([](core_fixture& e) { e.fail_acquire(errc::outcome_unknown); }) ==
                   errc::outcome_unknown);
        BOOST_TEST(after([](core_fixture& e) { e.fail_acquire(errc::store_refused); }) ==
                   errc::store_refused);
    }
}

BOOST_AUTO_TEST_CASE(silent_store_gets_a_bounded_number_of_requests)
{
    core_fixture e;
    const auto op = e.lock("a");
    e.advance(60s);
    BOOST_TEST(!op->done());
    BOOST_TEST(e.stats().acquires_sent <= 13u);
    // Each request may still have been executed, so each is released, with retries, until its TTL
    // has passed.
    BOOST_TEST(e.stats().orphans <= 8u);
    BOOST_TEST(e.stats().releases_sent <= 100u);
    BOOST_TEST(e.time.wakes() < 400u);
    op->cancel();
    e.poll();
    e.advance(60s);
    check_idle(e);
    BOOST_TEST((e.time.wake_at() == clock::time_point::max()));
}

// A failure before the last connection does not explain later events.
BOOST_AUTO_TEST_CASE(failure_before_the_last_connection_is_not_reported)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"));
    const auto limited = e.lock(e.spec("a"), 3s);
    e.disconnect();
    e.connect();
    e.renew_all();
    const auto once = e.lock(e.spec("a"), 0s);
    BOOST_TEST(code(*once) == errc::held);
    e.advance(3s);
    BOOST_TEST(code(*limited) == errc::timed_out);
}

BOOST_AUTO_TEST_CASE(waiter_sends_its_next_request_after_the_reconnection)
{
    core_fixture e;
    const auto waits = e.lock("a");
    e.say_held();
    e.disconnect();
    BOOST_TEST(!waits->done());
    e.advance(30s);
    BOOST_TEST(e.store->acquire_count() == 1u); // nothing is sent without a connection
    e.connect();
    BOOST_TEST(e.store->acquire_count() == 2u);
    e.grant();
    BOOST_TEST(code(*waits) == error_code());
}

// After a lost connection, the request is repeated at once. From the second loss in a row on, each
// causes a growing pause, and no new connection shortens it.
BOOST_AUTO_TEST_CASE(flapping_connection_does_not_cause_a_request_each_time)
{
    for (const owner& under : {owner(), owner("11111111-1111-1111-1111-111111111111:1", 7)}) {
        core_fixture e;
        const auto waits = e.lock(e.spec("a"), clock::duration::max(), under);
        for (int i = 0; i < 200; ++i) {
            if (e.store->pending() > 0)
                e.fail_acquire(errc::store_unavailable);
            e.disconnect();
            e.advance(25ms);
            e.connect();
            e.advance(25ms);
        }
        BOOST_TEST(!waits->done());
        BOOST_TEST(e.store->acquire_count() >= 10u);
        BOOST_TEST(e.store->acquire_count() <= 40u);
        e.advance(1s);
        e.grant();
        BOOST_TEST(code(*waits) == error_code());
    }
}

constexpr lock_options patient{.backoff_floor = 60s, .backoff_ceiling = 60s};

void fail_with_its_connection(core_fixture& e, errc why)
{
    e.fail_acquire(why);
    e.disconnect();
    e.connect();
}

// A store that publishes a release can answer requests.
BOOST_AUTO_TEST_CASE(wake_up_ends_a_pause_after_failures)
{
    core_fixture e;
    const auto waits = e.lock(e.spec("a", patient));
    for (unsigned asked = 1; asked <= 2; ++asked) {
        fail_with_its_connection(e, errc::store_refused);
    }
    BOOST_TEST(e.store->acquire_count() == 2u);
    e.store->wakeup("a");
    e.poll();
    BOOST_TEST(e.store->acquire_count() == 3u);
    e.grant();
    BOOST_TEST(code(*waits) == error_code());
}

BOOST_AUTO_TEST_CASE(wait_over_a_flapping_connection_ends_with_store_unavailable)
{
    core_fixture e;
    const auto limited = e.lock(e.spec("a", patient), 1s);
    for (unsigned asked = 1; asked <= 2; ++asked) {
        BOOST_TEST(e.store->acquire_count() == asked);
        fail_with_its_connection(e, errc::store_unavailable);
    }
    BOOST_TEST(e.store->acquire_count() == 2u);
    e.advance(1s);
    BOOST_TEST(e.store->acquire_count() == 2u);
    BOOST_TEST(code(*limited) == errc::store_unavailable);
}

BOOST_AUTO_TEST_CASE(rejected_credentials_end_the_wait)
{
    core_fixture e(false);
    e.run();
    const auto waits = e.lock("a");
    e.disconnect(errc::permission_denied);
    BOOST_TEST(code(*waits) == errc::permission_denied);
}

// The store reports the rejection once. Later calls must not wait for the next report.
BOOST_AUTO_TEST_CASE(earlier_rejected_credentials_fail_a_new_lock)
{
    core_fixture e(false);
    e.run();
    e.disconnect(errc::permission_denied);
    BOOST_TEST(code(*e.lock("a")) == errc::permission_denied);
    const owner shared("11111111-1111-1111-1111-111111111111:1", 7);
    BOOST_TEST(code(*e.lock(e.spec("a"), clock::duration::max(), shared)) ==
               errc::permission_denied);
    e.connect();
    const auto op = e.lock("a");
    e.grant();
    BOOST_TEST(code(*op) == error_code());
}

BOOST_AUTO_TEST_CASE(lock_fails_before_the_run_and_after_the_shutdown)
{
    core_fixture e(false);
    BOOST_TEST(code(*e.lock("a")) == errc::not_running);
    e.run();
    e.connect();
    e.shutdown();
    BOOST_TEST(code(*e.lock("a")) == errc::shut_down);
    BOOST_TEST(e.store->acquire_count() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
