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

BOOST_AUTO_TEST_CASE(what_is_asked_and_what_is_given)
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
    BOOST_TEST(held.owner().id() == asked.owner);
    BOOST_TEST(e.stats().held == 1u);
    BOOST_TEST(e.stats().waiting == 0u);
    BOOST_TEST(e.seen->count(kind::acquired) == 1u);
    e.release(std::move(held));
    BOOST_TEST(e.last_release().owner == asked.owner);
    e.say_freed();
    check_idle(e);
}

BOOST_AUTO_TEST_CASE(no_budget_is_longer_than_the_lease)
{
    core_fixture e;
    e.lock(e.spec("a", short_lease));
    BOOST_TEST((e.last_acquire().budget == 1s));
}

BOOST_AUTO_TEST_CASE(fences_are_reserved_only_for_handing_over)
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
BOOST_AUTO_TEST_CASE(row16_a_grant_after_the_deadline_is_given_back)
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

BOOST_AUTO_TEST_CASE(row16_a_grant_just_before_the_deadline_is_a_lease_until_then)
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

// F2, row 23: it is unknown whether it was executed. A possible grant is released, and the
// waiter asks again under another owner.
BOOST_AUTO_TEST_CASE(F2_a_reply_that_is_lost_is_made_up_for)
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
    // It is not in yet; the acquire may still run.
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

// The connection that carried the acquire has ended at the server, too.
BOOST_AUTO_TEST_CASE(an_orphan_that_cannot_run_any_more_is_released_once_more_at_once)
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

BOOST_AUTO_TEST_CASE(an_orphan_that_was_found_is_done_with)
{
    core_fixture e;
    const auto op = e.lock("a");
    e.fail_acquire(errc::outcome_unknown);
    e.say_freed();
    BOOST_TEST(e.stats().orphans == 0u);
    BOOST_TEST(!op->done());
}

// Of several servers some may have taken it, though the request as a whole was refused.
BOOST_AUTO_TEST_CASE(a_late_refusal_that_may_have_taken_something_ends_no_orphan)
{
    for (const bool may_hold : {false, true}) {
        core_fixture e;
        const auto op = e.lock("a");
        e.advance(5s); // there is no waiter for the reply any longer
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

BOOST_AUTO_TEST_CASE(an_unknown_error_of_a_store_is_an_unknown_outcome)
{
    core_fixture e;
    const auto op = e.lock("a");
    e.fail_acquire(asio::error::connection_reset);
    BOOST_TEST(e.stats().orphans == 1u);
    BOOST_TEST(!op->done());
}

BOOST_AUTO_TEST_CASE(a_reply_that_never_comes_is_not_waited_for)
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
    // It arrives in the end, without a waiter.
    e.store->grant(0, 5);
    e.poll();
    BOOST_TEST(!op->done());
    e.grant();
    BOOST_TEST(code(*op) == error_code());
    e.say_freed();
    BOOST_TEST(e.stats().orphans == 0u);
}

BOOST_AUTO_TEST_CASE(not_executed_leaves_nothing_behind)
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

BOOST_AUTO_TEST_CASE(what_cannot_be_served_fails_all_who_wait)
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
        // The next one may be served.
        const auto later = e.lock("a");
        e.grant();
        BOOST_TEST(code(*later) == error_code());
    }
}

// The owner of an acquire was never there before, so this says nothing of it.
BOOST_AUTO_TEST_CASE(an_answer_to_something_else_is_no_answer)
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

BOOST_AUTO_TEST_CASE(late_is_asked_again)
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

BOOST_AUTO_TEST_CASE(a_waiter_sleeps_no_longer_than_the_holder_has)
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

BOOST_AUTO_TEST_CASE(a_hint_wakes_and_is_not_trusted)
{
    core_fixture e;
    const auto op = e.lock("a");
    e.say_held();
    BOOST_TEST(e.store->watched().contains("a"));
    BOOST_TEST(e.stats().watched == 1u);
    e.store->hint("a");
    e.store->hint("a");
    e.store->hint("never heard of");
    e.poll();
    BOOST_TEST(e.store->acquire_count() == 2u);
    e.say_held(); // answers the first wake-up; the second came while it was outstanding
    BOOST_TEST(e.store->acquire_count() == 3u);
    e.say_held();
    BOOST_TEST(e.store->acquire_count() == 3u);
    BOOST_TEST(!op->done());
}

BOOST_AUTO_TEST_CASE(hints_are_ignored_while_holding)
{
    core_fixture e;
    const lease held = e.taken(e.spec("a"));
    const auto waits = e.lock("a");
    for (int i = 0; i < 10; ++i)
        e.store->hint("a");
    e.poll();
    BOOST_TEST(e.store->acquire_count() == 1u);
    BOOST_TEST(held.valid());
    BOOST_TEST(!waits->done());
}

// P2: the subscription ends when there is no waiter any more.
BOOST_AUTO_TEST_CASE(P2_the_watch_ends_some_time_after_the_last_use)
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

BOOST_AUTO_TEST_CASE(P2_a_name_that_is_wanted_again_is_watched_on)
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
    // Ten seconds: the pauses reach their ceiling of one.
    BOOST_TEST(e.stats().acquires_sent < 100u);
    BOOST_TEST(e.time.wakes() - wakes < 100u);
    // One handoff costs two commands, however many wait.
    const auto sent = e.stats().acquires_sent;
    e.store->hint("a");
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

BOOST_AUTO_TEST_CASE(the_store_that_grants_to_nobody_gets_it_back)
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

// The subscription may be there again before the connection for commands is.
BOOST_AUTO_TEST_CASE(hints_while_the_store_cannot_be_reached_are_no_failures)
{
    core_fixture e;
    const auto op = e.lock(e.spec("a", {.backoff_floor = 30s, .backoff_ceiling = 30s}));
    e.say_held();
    e.disconnect();
    for (int i = 0; i < 3; ++i) {
        e.store->hint("a");
        e.poll();
    }
    BOOST_TEST(e.store->acquire_count() == 1u);
    e.connect();
    BOOST_TEST_REQUIRE(e.store->acquire_count() == 2u);
    e.grant();
    BOOST_TEST(code(*op) == error_code());
}

BOOST_AUTO_TEST_CASE(W8_what_a_cancelled_waiter_asked_for_goes_to_the_next)
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

BOOST_AUTO_TEST_CASE(W8_a_wake_up_is_not_lost_with_the_one_who_was_woken)
{
    core_fixture e;
    const auto one = e.lock("a");
    e.say_held();
    const auto two = e.lock("a");
    e.store->hint("a");
    e.poll();
    one->cancel();
    e.poll();
    e.grant();
    BOOST_TEST(code(*one) == aborted);
    BOOST_TEST(code(*two) == error_code());
}

BOOST_AUTO_TEST_CASE(a_waiter_with_other_options_is_not_given_what_they_do_not_say)
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

BOOST_AUTO_TEST_CASE(a_clock_of_the_server_that_went_back_is_told_of)
{
    core_fixture e;
    const auto op = e.lock("a");
    e.say_held(100h);
    BOOST_TEST(e.seen->count(kind::suspect_expiry) == 1u);
    e.advance(1s);
    e.say_held(5s);
    BOOST_TEST(e.seen->count(kind::suspect_expiry) == 1u);
    e.advance(1s);
    e.say_held(5s); // is stopped
    BOOST_TEST(e.seen->count(kind::suspect_expiry) == 2u);
    // Two polls in a row see the same.
    e.store->hint("a");
    e.poll();
    e.say_held(5s);
    BOOST_TEST(e.seen->count(kind::suspect_expiry) == 2u);
    BOOST_TEST(e.seen->count(kind::waiting) == 4u);
    BOOST_TEST(!op->done());
}

BOOST_AUTO_TEST_SUITE_END()
