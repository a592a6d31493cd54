// A lease that is detached instead of released: its lock stays until the TTL ends.
#include <boost/test/unit_test.hpp>

#include "support/core_checks.hpp"

#include <chrono>
#include <utility>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using kind = recording_observer::kind;
using outcome = acquire_reply::outcome;

BOOST_AUTO_TEST_SUITE(core_detach)

BOOST_AUTO_TEST_CASE(detached_lease_is_neither_renewed_nor_released)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"));
    const auto lost = e.wait_lost(held);
    held.detach();
    BOOST_TEST(!held);
    BOOST_TEST(!held.valid());
    BOOST_TEST(held.fence() == 0u);
    e.poll();
    BOOST_TEST(code(*lost) == aborted);
    check_idle(e);
    e.advance(10min);
    BOOST_TEST(e.store->renew_count() == 0u);
    BOOST_TEST(e.store->release_count() == 0u);
    BOOST_TEST(e.stats().released == 1u);
    BOOST_TEST(e.stats().lost == 0u);
    BOOST_TEST(e.seen->count(kind::released) == 1u);
    BOOST_TEST(e.seen->count(kind::lost) == 0u);
    held.detach(); // no lease
    e.poll();
    BOOST_TEST(code(*e.release(std::move(held))) == errc::not_owner);
}

BOOST_AUTO_TEST_CASE(renewal_in_flight_is_the_last_one)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"));
    e.advance(10s);
    BOOST_TEST_REQUIRE(e.store->renew_count() == 1u);
    held.detach();
    e.poll();
    e.renew_all();
    e.advance(10min);
    BOOST_TEST(e.store->renew_count() == 1u);
    BOOST_TEST(e.store->release_count() == 0u);
    check_idle(e);
}

BOOST_AUTO_TEST_CASE(waiter_of_the_same_client_waits_for_the_store)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"), 8); // with fences for handoffs
    const auto next = e.lock("a");
    const auto asked = e.store->acquire_count();
    held.detach();
    e.poll();
    BOOST_TEST(!next->done());
    BOOST_TEST_REQUIRE(e.store->acquire_count() == asked + 1);
    e.say_held_and_wait(29s);
    BOOST_TEST(!next->done());
    e.grant();
    BOOST_TEST(code(*next) == error_code());
    BOOST_TEST(e.store->release_count() == 0u);
    BOOST_TEST(e.stats().held == 1u);
}

BOOST_AUTO_TEST_CASE(next_operation_on_the_name_asks_the_store)
{
    core_fixture e;
    e.taken(e.spec("a")).detach();
    e.poll();
    const auto once = e.lock(e.spec("a"), 0s);
    e.say_held();
    BOOST_TEST(code(*once) == errc::held);
    check_idle(e);
}

BOOST_AUTO_TEST_CASE(shutdown_does_not_release_a_detached_lease)
{
    core_fixture e;
    e.taken(e.spec("a")).detach();
    const auto done = e.shutdown();
    BOOST_TEST(code(*done) == error_code());
    BOOST_TEST(code(e.running) == error_code());
    BOOST_TEST(e.store->release_count() == 0u);
    check_idle(e);
}

// The client is cancelled before its strand has heard of the detached leases, one of them shared
// and one with a waiter.
BOOST_AUTO_TEST_CASE(cancelled_client_does_not_release_a_lease_that_was_detached_before)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"));
    lease other = e.taken(e.spec("b"));
    const auto waits = e.lock("a");
    const auto reenters = e.lock(e.spec("b"), clock::duration::max(), other.share_owner());
    e.say(outcome::granted);
    lease inner = std::move(reenters->value<1>());
    e.core->cancel();
    held.detach();
    inner.detach();
    other.detach();
    e.poll();
    BOOST_TEST(code(*waits) == errc::shut_down);
    BOOST_TEST(code(e.running) == aborted);
    BOOST_TEST(e.store->release_count() == 0u);
    BOOST_TEST(e.stats().released == 3u);
    check_idle(e);
}

BOOST_AUTO_TEST_CASE(reentrant_acquisition_may_be_detached_alone)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"));
    const auto reenters = e.lock(e.spec("a"), clock::duration::max(), held.share_owner());
    e.say(outcome::granted);
    reenters->value<1>().detach();
    e.poll();
    BOOST_TEST(held.valid());
    BOOST_TEST(e.stats().held == 1u);
    BOOST_TEST(e.store->release_count() == 0u);
    e.advance(10s);
    BOOST_TEST_REQUIRE(e.store->renew_count() == 1u);
    BOOST_TEST(e.store->renewals().back().locks.size() == 1u);
    const auto out = e.release(std::move(held));
    e.say_released(release_reply::outcome::still_held);
    BOOST_TEST(code(*out) == error_code());
    check_idle(e);
}

BOOST_AUTO_TEST_CASE(lost_lease_is_not_changed_by_detach)
{
    core_fixture e;
    lease held = e.taken(e.spec("a", short_lease));
    e.advance(1s);
    BOOST_TEST(!held.valid());
    const auto releases = e.store->release_count();
    held.detach();
    e.poll();
    BOOST_TEST(e.store->release_count() == releases);
    BOOST_TEST(e.stats().released == 0u);
    BOOST_TEST(e.stats().lost == 1u);
    BOOST_TEST(e.stats().held == 0u);
}

// The process was paused: the end of the lease is found by the detach itself.
BOOST_AUTO_TEST_CASE(lease_that_expired_unnoticed_is_lost)
{
    core_fixture e;
    lease held = e.taken(e.spec("a", short_lease));
    e.time.set(e.time.now() + 2s);
    held.detach();
    e.poll();
    BOOST_TEST(e.stats().lost == 1u);
    BOOST_TEST(e.stats().released == 0u);
    BOOST_TEST(e.stats().held == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
