// When a lease passes to the next waiter of this client without the store.
#include <boost/test/unit_test.hpp>

#include "support/core_checks.hpp"

#include <memory>
#include <utility>
#include <vector>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(core_handoff)

BOOST_AUTO_TEST_CASE(next_waiter_gets_the_lease_with_a_larger_fence)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"), 1001);
    std::vector<std::shared_ptr<core_fixture::locking>> waiters;
    for (int i = 0; i < 5; ++i)
        waiters.push_back(e.lock("a"));
    std::uint64_t fence = held.fence();
    for (const auto& each : waiters) {
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
    BOOST_TEST(e.stats().handed_off == 5u);
    e.release(std::move(held));
    BOOST_TEST(e.store->release_count() == 1u);
}

BOOST_AUTO_TEST_CASE(handoff_time_limits_the_handoffs)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"), 1001);
    const auto next = e.lock("a");
    e.advance(20ms);
    e.release(std::move(held));
    BOOST_TEST(!next->done());
    BOOST_TEST(e.store->release_count() == 1u);
}

BOOST_AUTO_TEST_CASE(handoff_count_limits_the_handoffs)
{
    core_fixture e;
    const auto spec = e.spec("a", {.handoff_count = 2});
    BOOST_TEST(spec->options.handoff_count == 2u);
    lease held = e.taken(spec, 1001); // more fences are reserved
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

BOOST_AUTO_TEST_CASE(reserved_fences_limit_the_handoffs)
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

// A lease is subject to the limits of its own handle, and to those of the handle that acquired the
// lock from the store.
BOOST_AUTO_TEST_CASE(handle_without_handoffs_releases_to_the_store)
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

BOOST_AUTO_TEST_CASE(handoff_respects_the_limits_of_the_handle_and_of_the_first_lease)
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
    e.release(std::move(two->value<1>())); // within the time, and the third handoff
    BOOST_TEST_REQUIRE(three->done());
    e.release(std::move(three->value<1>()));
    BOOST_TEST(!four->done());
    BOOST_TEST(e.store->release_count() == 1u);
}

// The request continues for the next waiter. The limits of that waiter count, and not those that
// the request was sent with.
BOOST_AUTO_TEST_CASE(timed_out_waiter_does_not_set_the_handoff_limits)
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

// A block of fences must not be far ahead of the clock of the store, for any number of handoffs.
BOOST_AUTO_TEST_CASE(acquire_reserves_at_most_ten_thousand_fences)
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
    // The next waiter sends a new request.
    const auto next = e.lock(spec);
    e.release(std::move(held));
    BOOST_TEST(!next->done());
    e.say_freed();
    BOOST_TEST_REQUIRE(e.store->acquire_count() == 2u);
    BOOST_TEST(e.last_acquire().fences == 10'000u);
    e.grant(10'000);
    BOOST_TEST(code(*next) == error_code());
}

BOOST_AUTO_TEST_CASE(lease_whose_owner_token_was_read_is_not_handed_off)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"), 1001);
    BOOST_TEST(!held.share_owner().empty());
    const auto next = e.lock("a");
    e.release(std::move(held));
    BOOST_TEST(!next->done());
    BOOST_TEST(e.store->release_count() == 1u);
}

BOOST_AUTO_TEST_CASE(lease_with_little_time_left_is_not_handed_off)
{
    core_fixture e;
    lease held = e.taken(e.spec("a", {.handoff_time = 60s}), 1001);
    const auto next = e.lock(e.spec("a", {.handoff_time = 60s}));
    e.advance(15s); // the renewal has no reply
    e.release(std::move(held));
    BOOST_TEST(!next->done());
}

// A lease has the options of its own call: the lease time, renewal and its interval, and the
// longest hold.
constexpr lock_options others[] = {
    {.lease_time = 60s}, {.renew = false}, {.renew_interval = 1s}, {.longest_hold = 1h}};

BOOST_AUTO_TEST_CASE(waiter_with_other_lease_options_gets_no_handoff)
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

BOOST_AUTO_TEST_CASE(waiter_with_other_wait_options_gets_the_handoff)
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

BOOST_AUTO_TEST_CASE(destroyed_lease_is_handed_off_to_the_next_waiter)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"), 1001);
    const auto next = e.lock("a");
    held = lease();
    e.poll();
    BOOST_TEST(code(*next) == error_code());
}

BOOST_AUTO_TEST_CASE(handed_off_lease_is_renewed_and_lost_like_any_other)
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

// The store may have lost the lock before the handoff. The new holder gets the report no later than
// the previous one would have.
BOOST_AUTO_TEST_CASE(handoff_does_not_postpone_the_renewal)
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

BOOST_AUTO_TEST_CASE(outstanding_renewal_reports_a_loss_to_the_new_holder)
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

BOOST_AUTO_TEST_CASE(longest_hold_starts_again_with_each_holder)
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
