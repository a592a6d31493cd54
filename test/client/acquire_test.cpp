// The requests to the store for a lock, and the effect of each reply.
#include <boost/test/unit_test.hpp>

#include "support/core_checks.hpp"

#include "fsm/lease/keep_alive.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using kind = recording_observer::kind;
using outcome = acquire_reply::outcome;
using left = release_reply::outcome;

BOOST_AUTO_TEST_SUITE(core_acquire)

BOOST_AUTO_TEST_CASE(request_carries_the_options_and_a_grant_becomes_a_lease)
{
    core_fixture e;
    const auto op = e.lock("stock");
    BOOST_TEST(!op->done());
    BOOST_TEST(e.stats().waiting == 1u);
    const auto sent = e.time.now();
    const auto asked = e.last_acquire();
    BOOST_TEST(asked.name == "stock");
    BOOST_TEST(asked.entry == "");
    BOOST_TEST((asked.lease == 30s));
    BOOST_TEST((asked.budget == 5s));
    BOOST_TEST(asked.fences == 1001u);
    // R5: the deadline counts from the send.
    e.advance(2s);
    e.fence = 77;
    e.grant(1001);
    BOOST_TEST(code(*op) == error_code());
    lease& held = op->value<1>();
    BOOST_TEST(held.valid());
    BOOST_TEST(held.fence() == 77u);
    BOOST_TEST(held.name() == "stock");
    BOOST_TEST((held.deadline() == sent + 30s - fsm::drift_margin(30s)));
    BOOST_TEST(held.share_owner().id() == asked.owner);
    BOOST_TEST(e.stats().held == 1u);
    BOOST_TEST(e.stats().waiting == 0u);
    BOOST_TEST(e.seen->count(kind::acquired) == 1u);
    e.release(std::move(held));
    BOOST_TEST(e.last_release().owner == asked.owner);
    e.say_freed();
    check_idle(e);
}

BOOST_AUTO_TEST_CASE(budget_of_a_request_is_at_most_the_lease_time)
{
    core_fixture e;
    e.lock(e.spec("a", short_lease));
    BOOST_TEST((e.last_acquire().budget == 1s));
}

BOOST_AUTO_TEST_CASE(fences_are_reserved_only_for_handoffs)
{
    core_fixture e;
    for (const lock_options& each :
         {lock_options{.renew = false}, lock_options{.handoff_time = 0ms},
          lock_options{.handoff_count = 0}}) {
        e.lock(e.spec("name " + std::to_string(e.store->acquire_count()), each));
        BOOST_TEST(e.last_acquire().fences == 1u);
    }
}

// Row 16: a reply that is later than the lease makes no lease.
BOOST_AUTO_TEST_CASE(row16_grant_after_the_deadline_is_released)
{
    core_fixture e;
    const auto op = e.lock(e.spec("a", short_lease));
    const auto owner = e.last_acquire().owner;
    e.time.set(e.time.now() + 1s - fsm::drift_margin(1s));
    e.grant();
    BOOST_TEST(!op->done());
    BOOST_TEST_REQUIRE(e.store->release_count() == 1u);
    BOOST_TEST(e.last_release().owner == owner);
    e.say_freed();
    e.advance(100ms);
    BOOST_TEST_REQUIRE(e.store->acquire_count() == 2u);
    BOOST_TEST(e.last_acquire().owner != owner);
    e.grant();
    BOOST_TEST(code(*op) == error_code());
    e.release(std::move(op->value<1>()));
    e.say_freed();
    check_idle(e);
}

BOOST_AUTO_TEST_CASE(row16_grant_just_before_the_deadline_is_valid_until_it)
{
    core_fixture e;
    const auto op = e.lock(e.spec("a", fixed));
    e.time.set(e.time.now() + 1s - fsm::drift_margin(1s) - 1ms);
    e.grant();
    BOOST_TEST(code(*op) == error_code());
    BOOST_TEST(op->value<1>().valid());
    const auto lost = e.wait_lost(op->value<1>());
    e.advance(1ms);
    BOOST_TEST(code(*lost) == errc::expired);
    BOOST_TEST(!op->value<1>().valid());
}

// F2, row 23: it is unknown whether the request was executed. A possible grant is released, and the
// waiter sends another request under another owner.
BOOST_AUTO_TEST_CASE(F2_lost_reply_releases_the_owner_and_retries_under_another)
{
    core_fixture e;
    const auto op = e.lock(e.spec("a", short_lease));
    const auto first = e.last_acquire();
    const auto sent = e.time.now();
    e.fail_acquire(errc::outcome_unknown);
    BOOST_TEST(!op->done());
    BOOST_TEST(e.stats().orphans == 1u);
    BOOST_TEST_REQUIRE(e.store->release_count() == 1u);
    BOOST_TEST(e.last_release().owner == first.owner);
    // The owner does not hold the lock yet. The acquire may still be executed.
    e.say_released(left::not_owner);
    BOOST_TEST(e.stats().orphans == 1u);
    e.advance(20ms);
    BOOST_TEST_REQUIRE(e.store->acquire_count() == 2u);
    BOOST_TEST(e.last_acquire().owner != first.owner); // F5, F6
    e.grant();
    BOOST_TEST(code(*op) == error_code());
    BOOST_TEST(op->value<1>().valid());
    e.renew_all_when_asked = true;
    e.advance(first.budget + 1ms - (e.time.now() - sent));
    BOOST_TEST(e.store->release_count() == 2u);
    BOOST_TEST(e.last_release().owner == first.owner);
    e.say_released(left::not_owner);
    BOOST_TEST(e.stats().orphans == 0u);
    BOOST_TEST(op->value<1>().valid());
    e.release(std::move(op->value<1>()));
    e.say_freed();
    check_idle(e);
}

// The server has ended the connection that carried the acquire, too.
BOOST_AUTO_TEST_CASE(orphan_of_an_ended_connection_is_released_at_once)
{
    for (const bool is_settled : {true, false}) {
        core_fixture e;
        const auto op = e.lock("a");
        const std::string owner = e.last_acquire().owner;
        e.fail_acquire(errc::outcome_unknown);
        e.say_released(left::not_owner);
        BOOST_TEST_REQUIRE(e.stats().orphans == 1u);
        e.disconnect();
        if (is_settled)
            e.store->settle();
        e.connect();
        BOOST_TEST_REQUIRE(e.store->release_count() == 2u);
        BOOST_TEST(e.last_release().owner == owner);
        e.say_released(left::not_owner);
        BOOST_TEST(e.stats().orphans == (is_settled ? 0u : 1u));
    }
}

BOOST_AUTO_TEST_CASE(orphan_that_its_release_frees_is_forgotten)
{
    core_fixture e;
    const auto op = e.lock("a");
    e.fail_acquire(errc::outcome_unknown);
    e.say_freed();
    BOOST_TEST(e.stats().orphans == 0u);
    BOOST_TEST(!op->done());
}

// Of several servers, some may have granted the lock although the request as a whole was rejected.
BOOST_AUTO_TEST_CASE(late_rejection_of_a_possibly_held_lock_keeps_the_orphan)
{
    for (const bool may_hold : {false, true}) {
        core_fixture e;
        const auto op = e.lock("a");
        e.advance(5s); // the waiter has reached its limit
        BOOST_TEST_REQUIRE(e.stats().orphans == 1u);
        acquire_reply reply;
        reply.may_hold = may_hold;
        e.store->complete_acquire(0, errc::store_refused, reply);
        e.poll();
        BOOST_TEST(e.stats().orphans == (may_hold ? 1u : 0u));
        e.say_freed();
        BOOST_TEST(e.stats().orphans == 0u);
    }
}

BOOST_AUTO_TEST_CASE(unknown_store_error_counts_as_unknown_outcome)
{
    core_fixture e;
    const auto op = e.lock("a");
    e.fail_acquire(asio::error::connection_reset);
    BOOST_TEST(e.stats().orphans == 1u);
    BOOST_TEST(!op->done());
}

BOOST_AUTO_TEST_CASE(missing_reply_is_given_up_after_the_budget)
{
    core_fixture e;
    const auto op = e.lock(e.spec("a"));
    e.advance(4999ms);
    BOOST_TEST(e.store->release_count() == 0u);
    e.advance(1ms);
    BOOST_TEST(e.stats().orphans == 1u);
    BOOST_TEST(e.store->release_count() == 1u);
    e.advance(20ms);
    BOOST_TEST(e.store->acquire_count() == 2u);
    // The reply arrives after all, without a waiter.
    e.store->grant(0, 5);
    e.poll();
    BOOST_TEST(!op->done());
    e.grant();
    BOOST_TEST(code(*op) == error_code());
    e.say_freed();
    BOOST_TEST(e.stats().orphans == 0u);
}

BOOST_AUTO_TEST_CASE(request_that_was_not_executed_leaves_no_orphan)
{
    for (const errc each : {errc::store_unavailable, errc::store_refused}) {
        core_fixture e;
        const auto op = e.lock("a");
        e.fail_acquire(each);
        BOOST_TEST(!op->done());
        BOOST_TEST(e.store->release_count() == 0u);
        e.advance(20ms);
        BOOST_TEST(e.store->acquire_count() == 2u);
        e.grant();
        BOOST_TEST(code(*op) == error_code());
    }
}

BOOST_AUTO_TEST_CASE(permanent_error_fails_all_waiters_of_the_name)
{
    for (const errc each : {errc::wrong_type, errc::permission_denied, errc::not_supported}) {
        core_fixture e;
        const auto one = e.lock("a");
        const auto two = e.lock("a");
        const auto elsewhere = e.lock("b");
        e.store->complete_acquire(0, each);
        e.poll();
        BOOST_TEST(code(*one) == each);
        BOOST_TEST(code(*two) == each);
        BOOST_TEST(!elsewhere->done());
        BOOST_TEST(e.store->release_count() == 0u);
        // A later operation may succeed.
        const auto later = e.lock("a");
        e.grant();
        BOOST_TEST(code(*later) == error_code());
    }
}

// The owner of an acquire is new, so the reply `gone` says nothing about it.
BOOST_AUTO_TEST_CASE(gone_reply_to_an_acquire_counts_as_rejection)
{
    for (const bool queues : {false, true}) {
        auto store = std::make_shared<fake_store>();
        store->can.queues = queues;
        core_fixture e(store);
        const auto once = e.lock(e.spec("a"), 0s);
        e.say(acquire_reply::outcome::gone);
        BOOST_TEST_REQUIRE(once->done());
        BOOST_TEST(code(*once) == errc::store_refused);
        const auto op = e.lock(e.spec("b"));
        const auto asked = e.store->acquire_count();
        e.say(acquire_reply::outcome::gone);
        BOOST_TEST(!op->done());
        e.advance(5s);
        BOOST_TEST_REQUIRE(e.store->acquire_count() > asked);
        e.grant();
        BOOST_TEST(code(*op) == error_code());
    }
}

BOOST_AUTO_TEST_CASE(late_reply_is_retried_once_at_once_and_then_after_a_pause)
{
    core_fixture e;
    const auto op = e.lock("a");
    e.say(outcome::late);
    e.say(outcome::late);
    BOOST_TEST(e.store->acquire_count() == 3u);
    e.say(outcome::late);
    BOOST_TEST(e.store->acquire_count() == 3u);
    e.advance(20ms);
    BOOST_TEST(e.store->acquire_count() == 4u);
    e.grant();
    BOOST_TEST(code(*op) == error_code());
    BOOST_TEST(e.store->release_count() == 0u);
}

BOOST_AUTO_TEST_CASE(waiter_polls_when_the_remaining_hold_has_passed)
{
    core_fixture e;
    const auto op = e.lock("a");
    for (int i = 0; i < 10; ++i)
        e.say_held_and_wait(10s);
    const auto asked = e.store->acquire_count();
    e.say_held(5ms);
    e.advance(8ms);
    BOOST_TEST(e.store->acquire_count() == asked + 1);
    e.grant();
    BOOST_TEST(code(*op) == error_code());
}

BOOST_AUTO_TEST_CASE(wake_up_causes_a_request_and_no_grant)
{
    core_fixture e;
    const auto op = e.lock("a");
    e.say_held();
    BOOST_TEST(e.store->watched().contains("a"));
    BOOST_TEST(e.stats().watched == 1u);
    e.store->wakeup("a");
    e.store->wakeup("a");
    e.store->wakeup("never heard of");
    e.poll();
    BOOST_TEST(e.store->acquire_count() == 2u);
    e.say_held(); // answers the first wake-up; the second came while it was outstanding
    BOOST_TEST(e.store->acquire_count() == 3u);
    e.say_held();
    BOOST_TEST(e.store->acquire_count() == 3u);
    BOOST_TEST(!op->done());
}

BOOST_AUTO_TEST_CASE(wake_ups_are_ignored_while_this_client_holds_the_lock)
{
    core_fixture e;
    const lease held = e.taken(e.spec("a"));
    const auto waits = e.lock("a");
    for (int i = 0; i < 10; ++i)
        e.store->wakeup("a");
    e.poll();
    BOOST_TEST(e.store->acquire_count() == 1u);
    BOOST_TEST(held.valid());
    BOOST_TEST(!waits->done());
}

// P2: the subscription ends some time after the last waiter.
BOOST_AUTO_TEST_CASE(P2_subscription_ends_some_time_after_the_last_use)
{
    core_fixture e;
    const auto op = e.lock("a");
    e.say_held();
    op->cancel();
    e.poll();
    BOOST_TEST(code(*op) == aborted);
    BOOST_TEST(e.stats().watched == 1u);
    e.advance(2s);
    BOOST_TEST(e.stats().watched == 0u);
    BOOST_TEST(e.store->watched().empty());
    BOOST_TEST((e.time.wake_at() == clock::time_point::max()));
}

BOOST_AUTO_TEST_CASE(P2_name_in_repeated_use_stays_subscribed)
{
    core_fixture e;
    for (int i = 0; i < 5; ++i) {
        const auto op = e.lock("a");
        e.say_held();
        op->cancel();
        e.poll();
        e.advance(900ms);
    }
    BOOST_TEST(e.store->watches().size() == 1u);
    e.advance(2s);
    BOOST_TEST(e.store->watches().size() == 2u);
}

BOOST_AUTO_TEST_CASE(P1_ten_thousand_waiters_send_a_handful_of_commands)
{
    core_fixture e;
    constexpr std::size_t many = 10'000;
    const auto spec = e.spec("a", {.handoff_time = 0ms});
    std::vector<std::shared_ptr<core_fixture::locking>> waiting;
    for (std::size_t i = 0; i < many; ++i) {
        waiting.push_back(e.make<core_fixture::locking>());
        waiting.back()->start([&](auto handler) { e.async_lock(spec, std::move(handler)); });
    }
    e.poll();
    BOOST_TEST(e.stats().waiting == many);
    BOOST_TEST(e.stats().acquires_sent == 1u);
    e.say_held(10s);
    BOOST_TEST(e.store->watches().size() == 1u);
    const auto wakes = e.time.wakes();
    for (int i = 0; i < 100; ++i) {
        e.advance(100ms);
        if (e.store->pending() > 0)
            e.say_held(10s);
    }
    // Within ten seconds, the pauses reach their ceiling of one second.
    BOOST_TEST(e.stats().acquires_sent < 100u);
    BOOST_TEST(e.time.wakes() - wakes < 100u);
    // A handoff costs two commands, whatever the number of waiters.
    const auto sent = e.stats().acquires_sent;
    e.store->wakeup("a");
    e.poll();
    e.grant();
    BOOST_TEST(waiting.front()->done());
    waiting.front()->value<1>() = lease();
    e.poll();
    e.say_freed(1);
    e.grant();
    BOOST_TEST(waiting[1]->done());
    BOOST_TEST(e.stats().acquires_sent <= sent + 2);
    BOOST_TEST(e.stats().waiting == many - 2);
}

BOOST_AUTO_TEST_CASE(grant_after_the_cancellation_is_released)
{
    core_fixture e;
    const auto op = e.lock("a");
    op->cancel();
    e.poll();
    BOOST_TEST(code(*op) == aborted);
    const auto owner = e.last_acquire().owner;
    e.grant();
    BOOST_TEST_REQUIRE(e.store->release_count() == 1u);
    BOOST_TEST(e.last_release().owner == owner);
    e.say_freed();
    check_idle(e);
}

// The subscription may be restored before the connection for commands.
BOOST_AUTO_TEST_CASE(wake_ups_without_a_connection_do_not_count_as_failures)
{
    core_fixture e;
    const auto op = e.lock(e.spec("a", {.backoff_floor = 30s, .backoff_ceiling = 30s}));
    e.say_held();
    e.disconnect();
    for (int i = 0; i < 3; ++i) {
        e.store->wakeup("a");
        e.poll();
    }
    BOOST_TEST(e.store->acquire_count() == 1u);
    e.connect();
    BOOST_TEST_REQUIRE(e.store->acquire_count() == 2u);
    e.grant();
    BOOST_TEST(code(*op) == error_code());
}

BOOST_AUTO_TEST_CASE(W8_grant_for_a_cancelled_waiter_serves_the_next)
{
    core_fixture e;
    const auto one = e.lock("a");
    const auto two = e.lock("a");
    one->cancel();
    e.poll();
    e.grant();
    BOOST_TEST(code(*one) == aborted);
    BOOST_TEST(code(*two) == error_code());
    BOOST_TEST(e.store->acquire_count() == 1u);
}

BOOST_AUTO_TEST_CASE(W8_wake_up_of_a_cancelled_waiter_serves_the_next)
{
    core_fixture e;
    const auto one = e.lock("a");
    e.say_held();
    const auto two = e.lock("a");
    e.store->wakeup("a");
    e.poll();
    one->cancel();
    e.poll();
    e.grant();
    BOOST_TEST(code(*one) == aborted);
    BOOST_TEST(code(*two) == error_code());
}

BOOST_AUTO_TEST_CASE(grant_under_other_options_is_released_and_requested_again)
{
    for (const lock_options& asked :
         {lock_options{.lease_time = 60s}, lock_options{.renew = false},
          lock_options{.renew_interval = 1s}, lock_options{.longest_hold = 1h}}) {
        core_fixture e;
        const auto one = e.lock(e.spec("a", asked));
        const auto two = e.lock("a");
        const auto owner = e.last_acquire().owner;
        BOOST_TEST((e.last_acquire().lease == asked.lease_time));
        one->cancel();
        e.poll();
        e.grant();
        BOOST_TEST(!two->done());
        BOOST_TEST_REQUIRE(e.store->release_count() == 1u);
        BOOST_TEST(e.last_release().owner == owner);
        e.say_freed();
        BOOST_TEST((e.last_acquire().lease == 30s));
        e.grant();
        BOOST_TEST(code(*two) == error_code());
    }
}

BOOST_AUTO_TEST_CASE(server_clock_that_steps_back_is_reported)
{
    core_fixture e;
    const auto op = e.lock("a");
    e.say_held(100h);
    BOOST_TEST(e.seen->count(kind::suspect_expiry) == 1u);
    e.advance(1s);
    e.say_held(5s);
    BOOST_TEST(e.seen->count(kind::suspect_expiry) == 1u);
    e.advance(1s);
    e.say_held(5s); // the server clock is stopped
    BOOST_TEST(e.seen->count(kind::suspect_expiry) == 2u);
    // Two polls in a row get the same reply.
    e.store->wakeup("a");
    e.poll();
    e.say_held(5s);
    BOOST_TEST(e.seen->count(kind::suspect_expiry) == 2u);
    BOOST_TEST(e.seen->count(kind::waiting) == 4u);
    BOOST_TEST(!op->done());
}

BOOST_AUTO_TEST_SUITE_END()
