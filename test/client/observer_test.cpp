// The notifications of an observer beside the results of operations: the source of metrics.
#include <boost/test/unit_test.hpp>

#include "support/core_checks.hpp"

#include <memory>
#include <string>
#include <utility>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using kind = recording_observer::kind;

BOOST_AUTO_TEST_SUITE(core_observer)

namespace {

/// Answers the latest acquire: this client holds the lock.
void say_held_by(core_fixture& e, const std::string& owner)
{
    const auto details = std::make_shared<diagnostics>();
    details->holder = owner;
    e.store->complete_acquire(
        e.store->acquire_count() - 1, {},
        {.result = acquire_reply::outcome::held, .remaining = 10s, .details = details});
    e.poll();
}

std::size_t ended(const core_fixture& e)
{
    return e.seen->count(kind::acquired) + e.seen->count(kind::not_acquired);
}

} // namespace

BOOST_AUTO_TEST_CASE(each_started_operation_is_reported_as_ended_once)
{
    core_fixture e;
    const auto spec = e.spec("a");
    lease held = e.taken(spec, 1001);
    BOOST_TEST(e.seen->count(kind::began) == 1u);
    // Rejected at once because the lock is held, without entering the queue.
    BOOST_TEST(code(*e.lock(spec, 0ms)) == errc::held);
    BOOST_TEST(e.seen->count(kind::began) == 2u);
    BOOST_TEST(ended(e) == 2u);
    BOOST_TEST((e.seen->events(kind::not_acquired).at(0).code == errc::held));
    // Operations behind the holder: one gets a handoff, one is cancelled, one reaches its limit.
    const auto next = e.lock(spec);
    const auto cancelled = e.lock(spec);
    const auto limited = e.lock(spec, 1s);
    BOOST_TEST(e.seen->count(kind::began) == 5u);
    BOOST_TEST(ended(e) == 2u);
    e.release(std::move(held));
    BOOST_TEST(next->done());
    BOOST_TEST(ended(e) == 3u);
    cancelled->cancel();
    e.poll();
    e.advance(1s);
    BOOST_TEST(limited->done());
    BOOST_TEST(ended(e) == 5u);
    // Reentrant acquisition.
    const auto reentered = e.lock(spec, clock::duration::max(), next->value<1>().share_owner());
    BOOST_TEST(e.seen->count(kind::began) == 6u);
    e.grant();
    BOOST_TEST(reentered->done());
    BOOST_TEST(ended(e) == 6u);
    // An operation that still waits when the client stops.
    const auto last = e.lock("b");
    e.shutdown();
    BOOST_TEST(e.seen->count(kind::began) == 7u);
    BOOST_TEST(ended(e) == 7u);
}

BOOST_AUTO_TEST_CASE(try_without_a_connection_is_reported_as_ended)
{
    core_fixture e;
    e.disconnect();
    BOOST_TEST(code(*e.lock(e.spec("a"), 0ms)) == errc::store_unavailable);
    BOOST_TEST(e.seen->count(kind::began) == 1u);
    BOOST_TEST(ended(e) == 1u);
}

BOOST_AUTO_TEST_CASE(contended_lock_is_reported_with_its_former_holder)
{
    core_fixture e;
    const auto waiting = e.lock("a");
    say_held_by(e, "0a1b2c3d-0000-4000-8000-000000000000:7");
    BOOST_TEST(e.seen->count(kind::contended) == 0u);
    const auto before = e.store->acquire_count();
    while (e.store->acquire_count() == before)
        e.advance(10ms);
    e.grant();
    BOOST_TEST(waiting->done());
    const auto events = e.seen->events(kind::contended);
    BOOST_TEST_REQUIRE(events.size() == 1u);
    BOOST_TEST(events[0].name == "a");
    BOOST_TEST(events[0].holder == "0a1b2c3d"); // the public part of the owner token only
    BOOST_TEST((events[0].time == e.seen->events(kind::acquired).at(0).time));
    BOOST_TEST((events[0].time > 0ms));
}

BOOST_AUTO_TEST_CASE(lock_that_was_free_is_not_reported_as_contended)
{
    core_fixture e;
    lease first = e.taken(e.spec("a"));
    const auto second = e.lock("a");
    e.advance(20ms); // longer than the handoff time
    e.release(std::move(first));
    e.say_freed();
    e.grant();
    BOOST_TEST(second->done());
    BOOST_TEST(e.seen->count(kind::contended) == 0u);
}

BOOST_AUTO_TEST_CASE(renewal_is_reported_with_the_time_left_without_it)
{
    core_fixture e;
    const lease held = e.taken(e.spec("a"));
    const auto deadline = held.deadline();
    e.advance(10s);
    BOOST_TEST_REQUIRE(e.store->renew_count() == 1u);
    e.advance(2s);
    e.renew_all();
    const auto events = e.seen->events(kind::renewed);
    BOOST_TEST_REQUIRE(events.size() == 1u);
    BOOST_TEST((events[0].left == deadline - e.time.now()));
    BOOST_TEST((events[0].time >= 2s));
}

BOOST_AUTO_TEST_CASE(every_reply_is_reported_with_its_time_and_outcome)
{
    core_fixture e;
    const auto waiting = e.lock(e.spec("a"), 1s);
    e.advance(1s);
    BOOST_TEST(waiting->done());
    BOOST_TEST(e.seen->count(kind::answered) == 0u);
    e.advance(1s);
    e.say_held();
    auto events = e.seen->events(kind::answered);
    BOOST_TEST_REQUIRE(events.size() == 1u);
    BOOST_TEST((events[0].request == store_request::acquire));
    BOOST_TEST((events[0].time == 2s));
    BOOST_TEST(!events[0].code);

    e.seen->clear();
    lease held = e.taken(e.spec("b"));
    e.advance(10s);
    e.fail_renew(errc::outcome_unknown);
    e.release(std::move(held));
    e.advance(30ms);
    e.say_freed();
    events = e.seen->events(kind::answered);
    BOOST_TEST_REQUIRE(events.size() == 3u);
    BOOST_TEST((events[0].request == store_request::acquire));
    BOOST_TEST((events[1].request == store_request::renew));
    BOOST_TEST((events[1].code == errc::outcome_unknown));
    BOOST_TEST((events[2].request == store_request::release));
    BOOST_TEST((events[2].time == 30ms));
    BOOST_TEST(!events[2].code);
}

BOOST_AUTO_TEST_CASE(lock_passed_to_another_client_of_the_queue_is_reported)
{
    core_fixture e;
    e.release(e.taken(e.spec("a")));
    e.say_released(release_reply::outcome::granted_next);
    BOOST_TEST(e.seen->count(kind::granted_next) == 1u);
    e.release(e.taken(e.spec("a")));
    e.say_freed();
    BOOST_TEST(e.seen->count(kind::granted_next) == 1u);
}

BOOST_AUTO_TEST_CASE(shutdown_reports_its_leases_as_lost_with_their_hold_time)
{
    core_fixture e;
    const lease held = e.taken(e.spec("a"));
    e.advance(3s);
    e.shutdown();
    const auto events = e.seen->events(kind::lost);
    BOOST_TEST_REQUIRE(events.size() == 1u);
    BOOST_TEST((events[0].code == errc::shut_down));
    BOOST_TEST((events[0].time == 3s));
    BOOST_TEST(e.seen->count(kind::released) == 0u);
    BOOST_TEST(e.stats().lost == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
