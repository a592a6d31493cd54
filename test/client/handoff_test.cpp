// When a lease goes to the next waiter of this client without the store.
#include <boost/test/unit_test.hpp>

#include "support/core_checks.hpp"

#include <memory>
#include <utility>
#include <vector>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(core_handoff)

BOOST_AUTO_TEST_CASE(a_lease_goes_to_the_next_in_line_with_a_larger_fence)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"), 1001);
    std::vector<std::shared_ptr<core_fixture::locking>> line;
    for (int i = 0; i < 5; ++i)
        line.push_back(e.lock("a"));
    std::uint64_t fence = held.fence();
    for (const auto& each : line) {
        const auto op = e.release(std::move(held));
        BOOST_TEST(code(*op) == error_code());
        BOOST_TEST(code(*each) == error_code());
        held = std::move(each->value<1>());
        BOOST_TEST(held.fence() == fence + 1);
        BOOST_TEST(held.valid());
        fence = held.fence();
    }
    BOOST_TEST(e.store->acquire_count() == 1u);
    BOOST_TEST(e.store->release_count() == 0u);
    BOOST_TEST(e.stats().handed_over == 5u);
    e.release(std::move(held));
    BOOST_TEST(e.store->release_count() == 1u);
}

BOOST_AUTO_TEST_CASE(not_for_longer_than_the_options_say)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"), 1001);
    const auto next = e.lock("a");
    e.advance(20ms);
    e.release(std::move(held));
    BOOST_TEST(!next->done());
    BOOST_TEST(e.store->release_count() == 1u);
}

BOOST_AUTO_TEST_CASE(not_more_often_than_the_options_say)
{
    core_fixture e;
    const auto spec = e.spec("a", {.handoff_count = 2});
    BOOST_TEST(spec->options.handoff_count == 2u);
    lease held = e.taken(spec, 1001); // fences are there for more
    for (int i = 0; i < 2; ++i) {
        const auto next = e.lock(spec);
        e.release(std::move(held));
        BOOST_TEST_REQUIRE(next->done());
        held = std::move(next->value<1>());
    }
    const auto third = e.lock(spec);
    e.release(std::move(held));
    BOOST_TEST(!third->done());
    BOOST_TEST(e.store->release_count() == 1u);
}

BOOST_AUTO_TEST_CASE(not_more_often_than_fences_were_reserved)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"), 2);
    const auto one = e.lock("a");
    e.release(std::move(held));
    BOOST_TEST_REQUIRE(one->done());
    const auto two = e.lock("a");
    e.release(std::move(one->value<1>()));
    BOOST_TEST(!two->done());
}

// A lease has the limits of its own handle, within those of the handle that took the lock from the
// store.
BOOST_AUTO_TEST_CASE(not_by_a_handle_that_does_not_hand_over)
{
    constexpr lock_options generous{.handoff_time = 60s, .handoff_count = 1'000'000};
    for (const lock_options& never :
         {lock_options{.handoff_count = 0}, lock_options{.handoff_time = 0ms}}) {
        core_fixture e;
        lease held = e.taken(e.spec("a", generous), 10'000);
        const auto b = e.lock(e.spec("a", never));
        const auto c = e.lock(e.spec("a", generous));
        e.release(std::move(held));
        BOOST_TEST_REQUIRE(b->done());
        e.release(std::move(b->value<1>()));
        BOOST_TEST(!c->done());
        BOOST_TEST(e.store->release_count() == 1u);
    }
}

BOOST_AUTO_TEST_CASE(each_lease_within_the_limits_of_its_handle_and_of_the_tenure)
{
    core_fixture e;
    const auto generous = e.spec("a", {.handoff_time = 60s, .handoff_count = 3});
    const auto hasty = e.spec("a", {.handoff_time = 20ms, .handoff_count = 1'000'000});
    lease held = e.taken(generous, 4);
    const auto one = e.lock(hasty);
    const auto two = e.lock(generous);
    const auto three = e.lock(hasty);
    const auto four = e.lock(hasty);
    e.advance(10ms);
    e.release(std::move(held));
    BOOST_TEST_REQUIRE(one->done());
    e.release(std::move(one->value<1>()));
    BOOST_TEST_REQUIRE(two->done());
    e.advance(100ms);
    e.release(std::move(two->value<1>())); // has time, and is not the fourth
    BOOST_TEST_REQUIRE(three->done());
    e.release(std::move(three->value<1>()));
    BOOST_TEST(!four->done());
    BOOST_TEST(e.store->release_count() == 1u);
}

// The request continues for the next waiter, whose limits count, and not those that the request was
// sent with.
BOOST_AUTO_TEST_CASE(the_tenure_is_that_of_the_first_lease_and_not_of_who_gave_up)
{
    core_fixture e;
    const auto generous = e.spec("a", {.handoff_time = 60s});
    const auto hasty = e.spec("a", {.handoff_time = 20ms});
    const auto gives_up = e.lock(generous, 10ms);
    const auto one = e.lock(hasty);
    const auto two = e.lock(generous);
    const auto three = e.lock(hasty);
    e.advance(10ms);
    BOOST_TEST_REQUIRE(gives_up->done());
    e.grant(1001);
    BOOST_TEST_REQUIRE(one->done());
    e.release(std::move(one->value<1>()));
    BOOST_TEST_REQUIRE(two->done());
    e.advance(100ms);
    e.release(std::move(two->value<1>()));
    BOOST_TEST(!three->done());
    BOOST_TEST(e.store->release_count() == 1u);
}

// However often it may be handed over: a block of fences must not be far ahead of the store's
// clock.
BOOST_AUTO_TEST_CASE(fences_for_ten_thousand_at_a_time)
{
    core_fixture e;
    const auto spec = e.spec("a", {.handoff_time = 60s, .handoff_count = 1'000'000});
    lease held = e.taken(spec, 10'000);
    BOOST_TEST(e.last_acquire().fences == 10'000u);
    std::uint64_t fence = held.fence();
    for (int i = 1; i < 10'000; ++i) {
        const auto next = e.lock(spec);
        e.release(std::move(held));
        BOOST_TEST_REQUIRE(next->done());
        held = std::move(next->value<1>());
        BOOST_TEST_REQUIRE(held.fence() == ++fence);
    }
    // Then it is requested again.
    const auto next = e.lock(spec);
    e.release(std::move(held));
    BOOST_TEST(!next->done());
    e.say_freed();
    BOOST_TEST_REQUIRE(e.store->acquire_count() == 2u);
    BOOST_TEST(e.last_acquire().fences == 10'000u);
    e.grant(10'000);
    BOOST_TEST(code(*next) == error_code());
}

BOOST_AUTO_TEST_CASE(not_when_somebody_may_have_entered_under_its_owner)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"), 1001);
    BOOST_TEST(!held.owner().empty());
    const auto next = e.lock("a");
    e.release(std::move(held));
    BOOST_TEST(!next->done());
    BOOST_TEST(e.store->release_count() == 1u);
}

BOOST_AUTO_TEST_CASE(not_with_little_time_left)
{
    core_fixture e;
    lease held = e.taken(e.spec("a", {.handoff_time = 60s}), 1001);
    const auto next = e.lock(e.spec("a", {.handoff_time = 60s}));
    e.advance(15s); // its renewal is not answered
    e.release(std::move(held));
    BOOST_TEST(!next->done());
}

// A lease has the options of its own call: how long it lasts, whether and when it is renewed, and
// for how long at most.
constexpr lock_options others[] = {
    {.lease_time = 60s}, {.renew = false}, {.renew_interval = 1s}, {.longest_hold = 1h}};

BOOST_AUTO_TEST_CASE(not_to_a_handle_with_other_options)
{
    for (const lock_options& asked : others) {
        core_fixture e;
        lease held = e.taken(e.spec("a"), 1001);
        const auto next = e.lock(e.spec("a", asked));
        e.release(std::move(held));
        BOOST_TEST(!next->done());
        BOOST_TEST(e.store->release_count() == 1u);

        lease other = e.taken(e.spec("b", asked), 1001);
        const auto usual = e.lock("b");
        e.release(std::move(other));
        BOOST_TEST(!usual->done());
    }
}

BOOST_AUTO_TEST_CASE(to_a_handle_that_waits_in_another_way)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"), 1001);
    const auto next = e.lock(e.spec("a", {.wait_limit = 1s,
                                          .backoff_floor = 1ms,
                                          .backoff_ceiling = 2ms,
                                          .handoff_time = 1ms,
                                          .handoff_count = 1}));
    e.release(std::move(held));
    BOOST_TEST(code(*next) == error_code());
}

BOOST_AUTO_TEST_CASE(a_lease_that_is_destroyed_is_handed_over_as_well)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"), 1001);
    const auto next = e.lock("a");
    held = lease();
    e.poll();
    BOOST_TEST(code(*next) == error_code());
}

BOOST_AUTO_TEST_CASE(what_was_handed_over_is_renewed_and_lost_as_its_own)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"), 1001);
    const auto next = e.lock("a");
    const auto lost_first = e.wait_lost(held);
    e.release(std::move(held));
    BOOST_TEST(code(*lost_first) == aborted);
    const auto lost = e.wait_lost(next->value<1>());
    e.advance(10s);
    BOOST_TEST_REQUIRE(e.store->renew_count() == 1u);
    e.renew_all(renewal_result::gone);
    BOOST_TEST(code(*lost) == errc::lost);
}

// The store may have lost it before the handoff: the new holder learns that no later than the
// previous one would have.
BOOST_AUTO_TEST_CASE(a_handover_does_not_put_the_renewal_off)
{
    core_fixture e;
    const auto what = e.spec("a", {.handoff_time = 60s});
    lease held = e.taken(what, 1001);
    const auto next = e.lock(what);
    e.advance(9s);
    e.release(std::move(held));
    BOOST_TEST_REQUIRE(next->done());
    BOOST_TEST(e.store->renew_count() == 0u);
    e.advance(1s);
    BOOST_TEST_REQUIRE(e.store->renew_count() == 1u);
}

BOOST_AUTO_TEST_CASE(a_renewal_under_way_tells_who_has_it_by_then)
{
    core_fixture e;
    const auto what = e.spec("a", {.handoff_time = 60s});
    lease held = e.taken(what, 1001);
    const auto next = e.lock(what);
    e.advance(10s);
    BOOST_TEST_REQUIRE(e.store->renew_count() == 1u);
    e.release(std::move(held));
    BOOST_TEST_REQUIRE(next->done());
    const auto lost = e.wait_lost(next->value<1>());
    e.renew_all(renewal_result::gone);
    BOOST_TEST(code(*lost) == errc::lost);
}

BOOST_AUTO_TEST_CASE(each_holder_has_the_longest_hold_for_itself)
{
    core_fixture e;
    const auto spec = e.spec("a", {.longest_hold = 25s, .handoff_time = 60s});
    lease held = e.taken(spec, 1001);
    const auto next = e.lock(spec);
    e.renew_all_when_asked = true;
    e.advance(5s);
    e.release(std::move(held));
    BOOST_TEST_REQUIRE(next->done());
    const auto lost = e.wait_lost(next->value<1>());
    e.advance(24999ms);
    BOOST_TEST(!lost->done());
    e.advance(1ms);
    BOOST_TEST(code(*lost) == errc::hold_limit);
}

BOOST_AUTO_TEST_SUITE_END()
