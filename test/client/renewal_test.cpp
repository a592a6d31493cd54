// When leases are renewed, in which batches, and when they are lost.
#include <boost/test/unit_test.hpp>

#include "support/core_checks.hpp"

#include "fsm/lease/keep_alive.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using kind = recording_observer::kind;

BOOST_AUTO_TEST_SUITE(core_renewal)

BOOST_AUTO_TEST_CASE(lease_is_renewed_a_third_of_its_time_after_the_last_confirmation)
{
    core_fixture e;
    const lease held = e.taken(e.spec("a"));
    const auto begun = e.time.now();
    e.advance(10s);
    BOOST_TEST_REQUIRE(e.store->renew_count() == 1u);
    const auto call = e.store->renewals()[0];
    BOOST_TEST_REQUIRE(call.locks.size() == 1u);
    BOOST_TEST(call.locks[0].name == "a");
    BOOST_TEST(call.locks[0].owner == e.last_acquire().owner);
    BOOST_TEST((call.locks[0].lease == 30s));
    e.renew_all();
    // Counted from the send, which was at most a 64th early.
    BOOST_TEST((held.deadline() > begun + 9s + 30s - fsm::drift_margin(30s)));
    BOOST_TEST((held.deadline() <= begun + 10s + 30s - fsm::drift_margin(30s)));
    BOOST_TEST(e.stats().renewed == 1u);
    BOOST_TEST(e.seen->count(kind::renewed) == 1u);
    e.advance(5s);
    BOOST_TEST(e.store->renew_count() == 1u);
}

// R4: bounded batches, no recursion.
BOOST_AUTO_TEST_CASE(R4_ten_thousand_leases_are_renewed_in_bounded_batches)
{
    core_fixture e;
    constexpr std::size_t many = 10'000;
    std::vector<std::shared_ptr<core_fixture::locking>> held;
    for (std::size_t i = 0; i < many; ++i) {
        const auto spec = e.spec("name " + std::to_string(i), {.handoff_count = 0});
        held.push_back(e.make<core_fixture::locking>());
        held.back()->start([&](auto handler) { e.async_lock(spec, std::move(handler)); });
    }
    e.poll();
    for (std::size_t i = 0; i < many; ++i) {
        if (i == e.store->acquire_count())
            e.poll(); // no more could be outstanding at once
        e.store->grant(i, i + 1);
    }
    e.poll();
    BOOST_TEST(e.stats().held == many);
    const auto requests = e.time.requests();
    for (int round = 0; round < 3; ++round) {
        const auto before = e.store->renew_count();
        e.advance(10s);
        const auto calls = e.store->renewals();
        std::set<std::string> names;
        std::size_t locks = 0;
        for (std::size_t i = before; i < calls.size(); ++i) {
            BOOST_TEST(calls[i].locks.size() <= 256u);
            locks += calls[i].locks.size();
            for (const auto& each : calls[i].locks)
                names.insert(each.name);
            e.store->renew_all(i);
        }
        e.poll();
        BOOST_TEST(locks == many);
        BOOST_TEST(names.size() == many);
        BOOST_TEST(calls.size() - before <= 2 * many / 256 + 2);
    }
    BOOST_TEST(e.stats().renewed == 3 * many);
    BOOST_TEST(e.stats().lost == 0u);
    // One timer for all.
    BOOST_TEST(e.time.requests() - requests < 1000u);
}

BOOST_AUTO_TEST_CASE(R2_failed_renewal_is_retried_until_the_deadline)
{
    for (const errc each : {errc::store_unavailable, errc::store_refused, errc::outcome_unknown}) {
        core_fixture e;
        lease held = e.taken(e.spec("a"));
        const auto lost = e.wait_lost(held);
        const auto deadline = held.deadline();
        while (e.time.now() < deadline - 10ms) {
            e.advance(10ms);
            if (e.store->pending() > 0)
                e.fail_renew(each);
            BOOST_TEST_REQUIRE(!lost->done());
            BOOST_TEST_REQUIRE(held.valid());
        }
        BOOST_TEST(e.store->renew_count() >= 8u);
        BOOST_TEST(e.store->renew_count() <= 12u);
        BOOST_TEST(e.seen->count(kind::renewal_late) == e.store->renew_count());
        e.advance(deadline - e.time.now());
        BOOST_TEST(code(*lost) == errc::expired);
        BOOST_TEST(!held.valid());
        BOOST_TEST(e.stats().lost == 1u);
        BOOST_TEST(e.stats().held == 0u);
        BOOST_TEST(e.seen->count(kind::lost) == 1u);
    }
}

BOOST_AUTO_TEST_CASE(R2_successful_renewal_extends_the_lease_after_failed_ones)
{
    core_fixture e;
    const lease held = e.taken(e.spec("a"));
    const auto deadline = held.deadline();
    e.advance(10s);
    e.fail_renew(errc::outcome_unknown);
    e.advance(2500ms);
    BOOST_TEST_REQUIRE(e.store->renew_count() == 2u);
    e.renew_all(renewal_result::failed);
    e.advance(2500ms);
    BOOST_TEST_REQUIRE(e.store->renew_count() == 3u);
    e.renew_all();
    BOOST_TEST((held.deadline() > deadline + 10s));
    e.advance(deadline - e.time.now() + 1ms);
    BOOST_TEST(held.valid());
}

BOOST_AUTO_TEST_CASE(lease_is_lost_at_once_if_the_store_reports_it_gone)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"));
    const auto lost = e.wait_lost(held);
    e.advance(10s);
    e.renew_all(renewal_result::gone);
    BOOST_TEST(code(*lost) == errc::lost);
    BOOST_TEST(!held.valid());
    // A later call reports the same.
    BOOST_TEST(code(*e.wait_lost(held)) == errc::lost);
    e.advance(60s);
    BOOST_TEST(e.store->renew_count() == 1u);
    // No lock of another owner is released.
    BOOST_TEST(code(*e.release(std::move(held))) == errc::lost);
    BOOST_TEST(e.store->release_count() == 0u);
    check_idle(e);
}

BOOST_AUTO_TEST_CASE(gone_lease_does_not_end_the_others_of_its_batch)
{
    core_fixture e;
    lease a = e.taken(e.spec("a"));
    lease b = e.taken(e.spec("b"));
    e.advance(10s);
    BOOST_TEST_REQUIRE(e.store->renew_count() == 1u);
    const bool a_first = e.store->renewals()[0].locks[0].name == "a";
    std::vector<renewal_result> results{renewal_result::gone, renewal_result::renewed};
    if (!a_first)
        std::swap(results[0], results[1]);
    e.store->complete_renew(0, {}, results);
    e.poll();
    BOOST_TEST(!a.valid());
    BOOST_TEST(b.valid());
}

BOOST_AUTO_TEST_CASE(renewal_reply_with_too_few_results_is_no_confirmation)
{
    core_fixture e;
    const lease held = e.taken(e.spec("a"));
    const auto deadline = held.deadline();
    e.advance(10s);
    e.store->complete_renew(0, {}, {});
    e.poll();
    BOOST_TEST((held.deadline() == deadline));
    BOOST_TEST(held.valid());
    BOOST_TEST(e.stats().renewals_failed == 1u);
}

BOOST_AUTO_TEST_CASE(late_confirmation_extends_the_lease_from_its_own_send)
{
    core_fixture e;
    const lease held = e.taken(e.spec("a"));
    const auto before = held.deadline();
    e.advance(10s);
    BOOST_TEST_REQUIRE(e.store->renew_count() == 1u);
    e.advance(5s); // the renewal is given up, and retried later
    BOOST_TEST(e.stats().renewals_failed == 1u);
    e.advance(3s);
    BOOST_TEST(e.store->renew_count() == 2u);
    e.store->renew_all(0);
    e.poll();
    BOOST_TEST((held.deadline() > before + 9s));
    BOOST_TEST((held.deadline() <= before + 10s));
    const auto deadline = held.deadline();
    e.store->renew_all(1);
    e.poll();
    BOOST_TEST((held.deadline() > deadline));
}

// R9: the process was paused for longer than the lease.
BOOST_AUTO_TEST_CASE(R9_confirmation_after_the_deadline_does_not_revive_the_lease)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"));
    const auto lost = e.wait_lost(held);
    e.advance(10s);
    const auto deadline = held.deadline();
    e.time.set(deadline + 5s);
    BOOST_TEST(!held.valid()); // before the client has run
    e.renew_all();
    BOOST_TEST(!held.valid());
    BOOST_TEST(code(*lost) == errc::expired);
    BOOST_TEST((held.deadline() == deadline));
}

BOOST_AUTO_TEST_CASE(R9_confirmation_and_reconnection_do_not_revive_a_lost_lease)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"));
    e.advance(10s);
    e.skip(60s);
    const auto lost = e.wait_lost(held);
    BOOST_TEST(code(*lost) == errc::expired);
    e.renew_all();
    e.disconnect();
    e.connect();
    BOOST_TEST(!held.valid());
    BOOST_TEST(e.store->renew_count() == 1u);
}

// R1: the renewal is cancelled before the release is sent.
BOOST_AUTO_TEST_CASE(R1_no_renewal_is_sent_after_the_release)
{
    core_fixture e;
    // With an outstanding renewal, with one due in the same turn, and with none.
    for (const clock::duration wait : {10s + 0ms, 9999ms, 5000ms}) {
        lease held = e.taken(e.spec("name " + std::to_string(wait.count()), {.handoff_count = 0}));
        e.advance(wait);
        const auto renewals = e.store->renew_count();
        const auto op = e.release(std::move(held));
        e.advance(60s);
        BOOST_TEST(e.store->renew_count() == renewals);
        BOOST_TEST(code(*op) == errc::outcome_unknown);
        for (std::size_t i = 0; i < renewals; ++i)
            if (!e.store->renewals()[i].answered)
                e.store->renew_all(i);
        e.say_freed(); // a request after an outstanding renewal waits for its reply
    }
    check_idle(e);
    BOOST_TEST((e.time.wake_at() == clock::time_point::max()));
}

BOOST_AUTO_TEST_CASE(R1_release_cancels_a_renewal_due_in_the_same_turn)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"));
    e.time.set(e.time.now() + 10s); // the renewal is due, and the timer runs after the release
    auto op = e.make<core_fixture::waiting>();
    op->start([&](auto handler) { held.async_release(std::move(handler)); });
    e.poll();
    BOOST_TEST(e.store->renew_count() == 0u);
    BOOST_TEST(e.store->release_count() == 1u);
}

BOOST_AUTO_TEST_CASE(reconnection_renews_all_leases_at_once)
{
    core_fixture e;
    lease a = e.taken(e.spec("a"));
    lease b = e.taken(e.spec("b"));
    const lease unrenewed = e.taken(e.spec("c", fixed));
    e.disconnect();
    e.advance(100ms);
    BOOST_TEST(e.store->renew_count() == 0u);
    e.connect();
    BOOST_TEST_REQUIRE(e.store->renew_count() == 1u);
    BOOST_TEST(e.store->renewals()[0].locks.size() == 2u);
    // The store is empty: both leases are lost.
    e.renew_all(renewal_result::gone);
    BOOST_TEST(!a.valid());
    BOOST_TEST(!b.valid());
    BOOST_TEST(unrenewed.valid());
}

BOOST_AUTO_TEST_CASE(lease_outlasts_a_shorter_outage)
{
    core_fixture e;
    const lease held = e.taken(e.spec("a"));
    e.advance(9s);
    e.disconnect();
    e.advance(20s);
    BOOST_TEST(held.valid());
    BOOST_TEST(e.store->renew_count() == 0u);
    e.connect();
    e.renew_all();
    e.advance(5s);
    BOOST_TEST(held.valid());
}

BOOST_AUTO_TEST_CASE(R10_lease_ends_at_its_longest_hold)
{
    core_fixture e;
    lease held = e.taken(e.spec("a", {.longest_hold = 45s}));
    const auto lost = e.wait_lost(held);
    e.renew_all_when_asked = true;
    e.advance(44999ms);
    BOOST_TEST(held.valid());
    e.advance(1ms);
    BOOST_TEST(code(*lost) == errc::hold_limit);
    // The holder keeps the object and does nothing, and the key is still deleted.
    BOOST_TEST_REQUIRE(e.store->release_count() == 1u);
    BOOST_TEST(e.last_release().owner == e.last_acquire().owner);
    e.fail_release(errc::outcome_unknown); // the release is repeated until its outcome is known
    e.advance(500ms);
    BOOST_TEST_REQUIRE(e.store->release_count() == 2u);
    e.say_freed();
    BOOST_TEST(code(*e.release(std::move(held))) == errc::hold_limit);
    e.advance(10s);
    BOOST_TEST(e.store->release_count() == 2u);
    check_idle(e);
}

BOOST_AUTO_TEST_CASE(R10_next_waiter_contends_after_the_release_at_the_limit)
{
    core_fixture e;
    const auto spec = e.spec("a", {.longest_hold = 5s});
    lease held = e.taken(spec);
    const auto next = e.lock(spec);
    e.advance(5s);
    BOOST_TEST(!held.valid());
    BOOST_TEST_REQUIRE(e.store->release_count() == 1u);
    BOOST_TEST(e.store->acquire_count() == 1u);
    e.say_freed();
    BOOST_TEST_REQUIRE(e.store->acquire_count() == 2u);
    e.grant();
    BOOST_TEST(code(*next) == error_code());
}

BOOST_AUTO_TEST_CASE(R10_lock_is_freed_if_its_lease_is_destroyed_at_the_limit)
{
    for (const bool seen : {true, false}) { // before it is destroyed
        core_fixture e;
        lease held = e.taken(e.spec("a", {.longest_hold = 5s}));
        const std::string owner = e.last_acquire().owner;
        e.time.set(held.deadline());
        if (seen)
            e.poll();
        held = lease();
        e.poll();
        BOOST_TEST_REQUIRE(e.store->release_count() == 1u);
        BOOST_TEST(e.last_release().owner == owner);
        e.say_freed();
        BOOST_TEST(e.stats().lost == 1u);
        check_idle(e);
    }
}

// The store may have extended the lock without a reply. The lock would then be orphaned for long.
BOOST_AUTO_TEST_CASE(lease_that_expires_during_a_renewal_is_released)
{
    for (const bool destroyed : {false, true}) {
        core_fixture e;
        lease held = e.taken(e.spec("a", short_lease));
        const auto lost = e.wait_lost(held);
        e.advance(400ms);
        BOOST_TEST_REQUIRE(e.store->renew_count() == 1u); // never answered
        e.time.set(held.deadline());
        if (destroyed)
            held = lease();
        e.poll();
        BOOST_TEST(code(*lost) == errc::expired);
        BOOST_TEST_REQUIRE(e.store->release_count() == 1u);
        BOOST_TEST(e.last_release().owner == e.last_acquire().owner);
        if (!destroyed)
            BOOST_TEST(code(*e.release(std::move(held))) == errc::expired);
        e.fail_release(errc::outcome_unknown);
        e.advance(10s); // longer than the TTL of the acquire
        BOOST_TEST_REQUIRE(e.store->release_count() >= 2u);
        e.say_freed();
        check_idle(e);
    }
}

// A short lease must not make the renewals of long ones late.
BOOST_AUTO_TEST_CASE(each_renewal_of_a_batch_has_the_timeout_of_its_lease)
{
    core_fixture e;
    const lease brief = e.taken(e.spec("a", {.lease_time = 2s}));
    const lease longer = e.taken(e.spec("b"));
    e.disconnect();
    e.connect(); // all are renewed at once
    BOOST_TEST_REQUIRE(e.store->renew_count() == 1u);
    BOOST_TEST_REQUIRE(e.store->renewals().front().locks.size() == 2u);
    e.advance(4999ms);
    const auto is_longer = [](const auto& each) { return each.name == "b"; };
    auto late = e.seen->events(kind::renewal_late);
    BOOST_TEST(late.size() >= 2u); // the brief one, until it is lost
    BOOST_TEST(std::ranges::count_if(late, is_longer) == 0);
    e.advance(1ms);
    late = e.seen->events(kind::renewal_late);
    BOOST_TEST(std::ranges::count_if(late, is_longer) == 1);
    BOOST_TEST(!brief.valid());
    BOOST_TEST(longer.valid());
}

BOOST_AUTO_TEST_CASE(failed_renewal_is_counted_once)
{
    core_fixture e;
    const lease held = e.taken(e.spec("a", {.lease_time = 8s, .renew_interval = 2s}));
    while (e.store->renew_count() == 0)
        e.advance(10ms);
    e.advance(2s); // a quarter of the lease time, after which the renewal is given up
    BOOST_TEST(e.stats().renewals_failed == 1u);
    e.store->complete_renew(0, errc::outcome_unknown);
    e.poll();
    BOOST_TEST(e.stats().renewals_failed == 1u);
    BOOST_TEST(e.seen->count(kind::renewal_late) == 1u);
    BOOST_TEST(held.valid());
}

BOOST_AUTO_TEST_CASE(lease_without_renewal_expires_after_its_lease_time)
{
    core_fixture e;
    lease held = e.taken(e.spec("a", fixed));
    const auto lost = e.wait_lost(held);
    e.advance(1s - fsm::drift_margin(1s) - 1ns);
    BOOST_TEST(held.valid());
    e.advance(1ns);
    BOOST_TEST(code(*lost) == errc::expired);
    BOOST_TEST(e.store->renew_count() == 0u);
}

BOOST_AUTO_TEST_CASE(waiter_behind_a_lost_lease_contends)
{
    core_fixture e;
    const lease held = e.taken(e.spec("a"));
    const auto next = e.lock("a");
    e.advance(10s);
    e.renew_all(renewal_result::gone);
    BOOST_TEST_REQUIRE(e.store->acquire_count() == 2u);
    e.grant();
    BOOST_TEST(code(*next) == error_code());
}

BOOST_AUTO_TEST_SUITE_END()
