// How a lease ends between this client and the store: what is given back, repeated, remembered and
// counted when answers are late or do not come.
#include <boost/test/unit_test.hpp>

#include "support/core_fixture.hpp"

#include <string>
#include <utility>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;

namespace {

template <class Operation>
error_code told(const Operation& op)
{
    return op->template value<0>();
}

} // namespace

BOOST_AUTO_TEST_SUITE(ending_test)

// Nobody is left who could release it.
BOOST_AUTO_TEST_CASE(a_lease_that_reached_its_hold_limit_is_given_back_when_it_is_destroyed)
{
    core_fixture e;
    e.renew_all_when_asked = true;
    lease held = e.taken(e.spec("a", {.longest_hold = 5s}));
    const std::string who = e.last_acquire().owner;
    const auto lost = e.wait_lost(held);
    e.advance(5s);
    BOOST_TEST_REQUIRE(lost->done());
    BOOST_TEST(told(lost) == errc::hold_limit);
    held = lease();
    e.poll();
    BOOST_TEST_REQUIRE(e.store->release_count() == 1u);
    BOOST_TEST(e.last_release().owner == who);
    e.say_freed();
}

// Until then an entry that was sent before the loss could still prolong it in the store.
BOOST_AUTO_TEST_CASE(an_owner_that_was_lost_is_refused_for_two_lease_times)
{
    core_fixture e;
    const auto spec = e.spec("a", {.lease_time = 10s});
    lease held = e.taken(spec);
    const owner who = held.owner();
    e.advance(4s);
    e.renew_all(renewal_result::gone);
    BOOST_TEST(!held.valid());
    e.advance(19s);
    const auto asked = e.store->acquire_count();
    const auto op = e.lock(spec, clock::duration::max(), who);
    BOOST_TEST_REQUIRE(op->done());
    BOOST_TEST(told(op) == errc::lost);
    BOOST_TEST(e.store->acquire_count() == asked);
}

// It was given up and sent again: what the first one says does not end the second.
BOOST_AUTO_TEST_CASE(a_late_not_owner_of_an_earlier_release_does_not_end_the_later_one)
{
    core_fixture e;
    e.renew_all_when_asked = true;
    lease held = e.taken(e.spec("a"));
    const auto op = e.release(std::move(held));
    BOOST_TEST_REQUIRE(e.store->release_count() == 1u);
    e.advance(6s);
    BOOST_TEST_REQUIRE(e.store->release_count() == 2u);
    e.store->complete_release(0, {}, {.result = release_reply::outcome::not_owner, .receivers = 0});
    e.poll();
    BOOST_TEST(!op->done());
    e.say_freed();
    BOOST_TEST_REQUIRE(op->done());
    BOOST_TEST(told(op) == error_code());
    BOOST_TEST(e.store->release_count() == 2u);
}

BOOST_AUTO_TEST_CASE(a_renewal_that_fails_late_is_counted_once)
{
    core_fixture e;
    const lease held = e.taken(e.spec("a"));
    e.advance(10s);
    BOOST_TEST_REQUIRE(e.store->renew_count() == 1u);
    e.advance(5s); // it is not waited for any longer
    BOOST_TEST(e.stats().renewals_failed == 1u);
    e.store->complete_renew(0, errc::store_refused);
    e.poll();
    BOOST_TEST(e.stats().renewals_failed == 1u);
    BOOST_TEST(held.valid());
}

BOOST_AUTO_TEST_SUITE_END()
