// How a lease is released: once, with retries until the store answers, and without a caller.
#include <boost/test/unit_test.hpp>

#include "support/core_checks.hpp"
#include "support/run.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/system_executor.hpp>

#include <future>
#include <thread>
#include <utility>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using kind = recording_observer::kind;
using left = release_reply::outcome;

BOOST_AUTO_TEST_SUITE(core_release)

BOOST_AUTO_TEST_CASE(release_reports_the_reply_of_the_store)
{
    const struct
    {
        left answer;
        error_code expected;
    } table[] = {{left::freed, {}}, {left::still_held, {}}, {left::not_owner, errc::not_owner}};
    for (const auto& row : table) {
        core_fixture e;
        lease held = e.taken(e.spec("a"));
        const auto lost = e.wait_lost(held);
        const auto op = e.release(std::move(held));
        BOOST_TEST(!held);
        BOOST_TEST(!op->done());
        BOOST_TEST(code(*lost) == aborted);
        e.say_released(row.answer);
        BOOST_TEST(code(*op) == row.expected);
        check_idle(e);
        BOOST_TEST(e.stats().released == 1u);
        BOOST_TEST(e.seen->count(kind::released) == 1u);
    }
}

BOOST_AUTO_TEST_CASE(empty_lease_has_no_name_fence_or_owner)
{
    core_fixture e;
    lease nothing;
    BOOST_TEST(!nothing.valid());
    BOOST_TEST(nothing.fence() == 0u);
    BOOST_TEST(nothing.share_owner().empty());
    BOOST_TEST(nothing.name() == "");
    BOOST_TEST((nothing.deadline() == clock::time_point()));
    const auto lost = e.wait_lost(nothing);
    const auto out = e.release(std::move(nothing));
    run_until(e.context, [&] { return out->done() && lost->done(); });
    BOOST_TEST(code(*out) == errc::not_owner);
    BOOST_TEST(code(*lost) == errc::not_owner);
}

// A lease that was released, moved from or never made refers to no lock.
BOOST_AUTO_TEST_CASE(operation_on_an_empty_lease_completes_with_not_owner)
{
    static_assert(sizeof(lease) == sizeof(void*));
    core_fixture e;
    lease released = e.taken(e.spec("a"));
    const auto first = e.release(std::move(released));
    e.say_freed();
    BOOST_TEST(code(*first) == error_code());
    lease moved_from = e.taken(e.spec("b"));
    lease assigned_from = std::move(moved_from);
    lease held;
    held = std::move(assigned_from);
    BOOST_TEST(held.valid());
    lease never;
    lease made = std::move(never);
    lease* const all[] = {&released, &moved_from, &assigned_from, &never, &made};
    int completed = 0;
    bool on_executor = true;
    const auto told = asio::bind_executor(e.context.get_executor(), [&](error_code code) {
        ++completed;
        on_executor = on_executor && e.context.get_executor().running_in_this_thread();
        BOOST_TEST(code == errc::not_owner);
    });
    for (lease* const each : all) {
        BOOST_TEST(!*each);
        BOOST_TEST(!each->valid());
        BOOST_TEST(each->fence() == 0u);
        BOOST_TEST((each->get_executor() == asio::any_io_executor(asio::system_executor())));
        each->async_release(told);
        each->async_wait_lost(told);
        each->async_release(asio::cancel_after(1h, told));
    }
    BOOST_TEST(completed == 0);
    run_until(e.context, [&] { return completed == 15; });
    BOOST_TEST(on_executor);
    BOOST_TEST(held.valid());
    BOOST_TEST(e.store->release_count() == 1u);
}

BOOST_AUTO_TEST_CASE(empty_lease_calls_a_handler_without_executor_on_a_system_thread)
{
    std::promise<std::pair<error_code, std::thread::id>> told;
    lease().async_release(
        [&](error_code code) { told.set_value({code, std::this_thread::get_id()}); });
    const auto [code, thread] = told.get_future().get();
    BOOST_TEST(code == errc::not_owner);
    BOOST_TEST((thread != std::this_thread::get_id()));
}

// If another lease is assigned to the variable, the lock that it held is released once.
BOOST_AUTO_TEST_CASE(assignment_to_a_lease_releases_its_lock_once)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"));
    held = e.taken(e.spec("b"));
    e.poll();
    BOOST_TEST(e.store->release_count() == 1u);
    e.say_freed();
    BOOST_TEST(held.name() == "b");
    held = lease();
    e.poll();
    e.say_freed();
    BOOST_TEST(e.store->release_count() == 2u);
    check_idle(e);
}

// `not_owner` is final only for a release that was sent when the acquire could no longer be
// executed.
BOOST_AUTO_TEST_CASE(late_not_owner_of_an_earlier_release_keeps_the_orphan)
{
    core_fixture e;
    const auto op = e.lock("a");
    op->cancel();
    e.advance(1s);
    e.fail_acquire(errc::outcome_unknown);
    BOOST_TEST_REQUIRE(e.store->release_count() == 1u); // the acquire may still be executed for 4 s
    e.advance(5s + 500ms);
    BOOST_TEST_REQUIRE(e.store->release_count() == 2u);
    e.store->complete_release(0, {}, {.result = left::not_owner, .receivers = 0});
    e.poll();
    BOOST_TEST(e.stats().orphans == 1u);
    e.say_freed();
    check_idle(e);
}

// Nor does it end a later attempt of a release that a caller waits for.
BOOST_AUTO_TEST_CASE(late_reply_of_a_release_does_not_end_a_later_one)
{
    core_fixture e;
    const auto op = e.release(e.taken(e.spec("a")));
    BOOST_TEST_REQUIRE(e.store->release_count() == 1u);
    e.advance(6s);
    BOOST_TEST_REQUIRE(e.store->release_count() == 2u);
    e.store->complete_release(0, {}, {.result = left::not_owner, .receivers = 0});
    e.poll();
    BOOST_TEST(!op->done());
    e.say_freed();
    BOOST_TEST(code(*op) == error_code());
    BOOST_TEST(e.store->release_count() == 2u);
}

BOOST_AUTO_TEST_CASE(failed_release_is_repeated)
{
    for (const errc each : {errc::store_unavailable, errc::store_refused, errc::outcome_unknown}) {
        core_fixture e;
        const auto op = e.release(e.taken(e.spec("a")));
        e.fail_release(each);
        BOOST_TEST(!op->done());
        e.advance(500ms);
        BOOST_TEST_REQUIRE(e.store->release_count() == 2u);
        e.say_freed();
        BOOST_TEST(code(*op) == error_code());
        check_idle(e);
    }
}

BOOST_AUTO_TEST_CASE(repeated_release_that_finds_no_owner_succeeds)
{
    core_fixture e;
    const auto op = e.release(e.taken(e.spec("a")));
    e.fail_release(errc::outcome_unknown);
    e.advance(500ms);
    e.say_released(left::not_owner);
    BOOST_TEST(code(*op) == error_code());
}

BOOST_AUTO_TEST_CASE(release_without_a_reply_is_repeated_until_the_ttl_has_passed)
{
    core_fixture e;
    const auto op = e.release(e.taken(e.spec("a")));
    const auto wakes = e.time.wakes();
    e.advance(29999ms);
    BOOST_TEST(!op->done());
    BOOST_TEST(e.store->release_count() == 6u); // every five seconds
    BOOST_TEST(e.time.wakes() - wakes < 40u);
    e.advance(1ms);
    BOOST_TEST(code(*op) == errc::outcome_unknown);
    check_idle(e);
}

BOOST_AUTO_TEST_CASE(release_without_a_connection_waits_for_one)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"));
    e.disconnect();
    const auto op = e.release(std::move(held));
    e.advance(10s);
    BOOST_TEST(e.store->release_count() == 0u);
    e.connect();
    BOOST_TEST_REQUIRE(e.store->release_count() == 1u);
    e.say_freed();
    BOOST_TEST(code(*op) == error_code());
}

// The connection is lost, and the release reports that when the TTL has passed, not before.
void released_in_vain(core_fixture& e, lease held)
{
    e.disconnect();
    const auto op = e.release(std::move(held));
    e.advance(29999ms);
    BOOST_TEST(!op->done());
    e.advance(1ms);
    BOOST_TEST(code(*op) == errc::store_unavailable);
}

BOOST_AUTO_TEST_CASE(release_without_a_connection_ends_with_the_ttl)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"));
    released_in_vain(e, std::move(held));
    check_idle(e);
}

// Other leases may hold the lock under the same owner and extend the TTL without limit. If the
// release were dropped, the lock would never be freed.
BOOST_AUTO_TEST_CASE(release_of_a_shared_owner_is_repeated_until_it_has_a_reply)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"));
    const owner shared = held.share_owner();
    released_in_vain(e, std::move(held));
    const auto shut = e.shutdown();
    BOOST_TEST(!shut->done());
    e.advance(500ms);
    e.connect();
    BOOST_TEST(e.last_release().owner == shared.id());
    e.say_released(left::still_held);
    BOOST_TEST(code(*shut) == error_code());
}

// A renewal was sent over a connection that then broke. It may still arrive, and extend an orphaned
// lock.
BOOST_AUTO_TEST_CASE(release_after_an_unanswered_renewal_is_repeated_until_it_has_a_reply)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"));
    // The owner token was not read: the release is repeated only because of the renewal.
    const std::string owner = e.last_acquire().owner;
    e.advance(10s);
    BOOST_TEST_REQUIRE(e.store->renew_count() == 1u);
    released_in_vain(e, std::move(held));
    BOOST_TEST(e.store->release_count() == 0u);
    e.connect();
    BOOST_TEST_REQUIRE(e.store->release_count() == 1u);
    BOOST_TEST(e.last_release().owner == owner);
    e.say_freed();
    check_idle(e);
}

BOOST_AUTO_TEST_CASE(orphaned_reentrant_acquisition_is_released_however_late)
{
    core_fixture e;
    const auto op = e.lock(e.spec("a"), clock::duration::max(),
                           owner("11111111-1111-1111-1111-111111111111:1", 7));
    const auto asked = e.last_acquire();
    e.fail_acquire(errc::outcome_unknown);
    e.fail_release(errc::store_unavailable);
    e.disconnect();
    op->cancel();
    e.advance(10min);
    BOOST_TEST(e.stats().orphans == 1u);
    e.connect();
    BOOST_TEST(e.last_release().entry == asked.entry);
    e.say_released(left::still_held);
    BOOST_TEST(e.stats().orphans == 0u);
    check_idle(e);
}

BOOST_AUTO_TEST_CASE(F3_F7_release_continues_after_its_wait_is_cancelled)
{
    for (const auto type : {asio::cancellation_type::terminal, asio::cancellation_type::partial,
                            asio::cancellation_type::total}) {
        core_fixture e;
        const auto op = e.release(e.taken(e.spec("a")));
        op->cancel(type);
        e.poll();
        BOOST_TEST(code(*op) == aborted);
        e.fail_release(errc::outcome_unknown);
        e.advance(500ms);
        BOOST_TEST(e.store->release_count() == 2u);
        e.say_freed();
        check_idle(e);
        BOOST_TEST(op->calls() == 1);
    }
}

BOOST_AUTO_TEST_CASE(F8_destroyed_lease_is_released_in_the_background)
{
    core_fixture e;
    {
        const lease held = e.taken(e.spec("a"));
        e.disconnect();
    }
    e.poll();
    BOOST_TEST(e.stats().held == 0u);
    e.connect();
    BOOST_TEST(e.store->release_count() == 1u);
    BOOST_TEST(e.store->renew_count() == 0u);
    e.say_freed();
    check_idle(e);
}

BOOST_AUTO_TEST_CASE(O1_release_of_an_expired_lease_leaves_the_lock_of_another_owner)
{
    core_fixture e;
    lease held = e.taken(e.spec("a", fixed));
    e.skip(2s);
    const auto op = e.release(std::move(held));
    BOOST_TEST_REQUIRE(e.store->release_count() == 1u);
    e.say_released(left::not_owner);
    BOOST_TEST(code(*op) == errc::not_owner);
}

BOOST_AUTO_TEST_CASE(release_of_an_expired_lease_that_finds_the_key_reports_expired)
{
    core_fixture e;
    lease held = e.taken(e.spec("a", fixed));
    e.skip(995ms);
    const auto op = e.release(std::move(held));
    e.say_freed();
    BOOST_TEST(code(*op) == errc::expired);
}

// Another lease of the same owner continues. Without a release, the expired one would keep the lock
// when the other one is released.
BOOST_AUTO_TEST_CASE(expired_lease_of_a_shared_owner_is_released)
{
    for (const bool waits : {true, false}) {
        core_fixture e;
        lease held = e.taken(e.spec("a", fixed));
        const owner shared = held.share_owner();
        e.disconnect();
        e.skip(2s);
        BOOST_TEST(!held.valid());
        if (waits)
            BOOST_TEST(code(*e.release(std::move(held))) == errc::expired); // at once
        BOOST_TEST(e.store->release_count() == 0u);
        e.advance(10s);
        e.connect();
        // The user still has the expired lease object.
        BOOST_TEST_REQUIRE(e.store->release_count() == 1u);
        BOOST_TEST(e.last_release().owner == shared.id());
        e.say_released(left::still_held);
        check_idle(e);
    }
}

BOOST_AUTO_TEST_CASE(expired_lease_of_an_unshared_owner_is_forgotten)
{
    core_fixture e;
    lease held = e.taken(e.spec("a", fixed));
    e.skip(2s);
    held = lease();
    e.poll();
    BOOST_TEST(e.store->release_count() == 0u);
    check_idle(e);
}

BOOST_AUTO_TEST_CASE(expired_lease_is_not_handed_off)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"), 1001);
    const auto next = e.lock("a");
    e.time.set(held.deadline());
    e.release(std::move(held));
    BOOST_TEST(!next->done());
    BOOST_TEST(e.stats().lost == 1u);
    BOOST_TEST(e.stats().handed_off == 0u);
}

BOOST_AUTO_TEST_CASE(next_acquire_is_sent_after_the_reply_to_the_release)
{
    core_fixture e;
    const auto spec = e.spec("a", {.handoff_count = 0});
    lease held = e.taken(spec);
    const auto next = e.lock(spec);
    e.release(std::move(held));
    BOOST_TEST(e.store->acquire_count() == 1u);
    e.say_freed();
    BOOST_TEST(e.store->acquire_count() == 2u);
    BOOST_TEST(!next->done());
}

BOOST_AUTO_TEST_CASE(waiters_of_other_clients_get_a_head_start)
{
    core_fixture e;
    const auto spec = e.spec("a", {.handoff_count = 0});
    lease held = e.taken(spec);
    const auto next = e.lock(spec);
    e.release(std::move(held));
    e.say_freed(1); // another client, because this one does not watch the name
    BOOST_TEST(e.store->acquire_count() == 1u);
    e.store->wakeup("a");
    e.poll();
    BOOST_TEST(e.store->acquire_count() == 1u);
    e.advance(20ms);
    BOOST_TEST(e.store->acquire_count() == 2u);
    BOOST_TEST(!next->done());
}

// The other client has released the lock again. The rest of the head start would be idle time.
BOOST_AUTO_TEST_CASE(head_start_ends_when_the_other_client_releases)
{
    core_fixture e;
    const auto spec = e.spec("a", {.backoff_floor = 1s, .handoff_count = 0});
    const auto first = e.lock(spec);
    e.say_held(); // subscribed from now on
    e.store->wakeup("a");
    e.poll();
    e.grant();
    const auto next = e.lock(spec);
    e.release(std::move(first->value<1>()));
    e.say_freed(2);
    const auto asked = e.store->acquire_count();
    e.store->wakeup("a"); // the wake-up of its own release
    e.poll();
    BOOST_TEST(e.store->acquire_count() == asked);
    e.store->wakeup("a"); // the wake-up of the other client
    e.poll();
    BOOST_TEST(e.store->acquire_count() == asked + 1);
    e.grant();
    BOOST_TEST(code(*next) == error_code());
}

// Releases are not published without the right to PUBLISH or SUBSCRIBE, or without a subscription.
// It is unknown whether others wait, so they get a head start.
BOOST_AUTO_TEST_CASE(unknown_number_of_receivers_gives_others_a_head_start)
{
    for (const bool watching : {false, true}) {
        core_fixture e;
        const auto spec = e.spec("a", {.handoff_count = 0});
        const auto first = e.lock(spec);
        if (watching) {
            e.say_held();
            e.store->wakeup("a");
            e.poll();
        }
        e.grant();
        const auto next = e.lock(spec);
        const auto asked = e.store->acquire_count();
        e.release(std::move(first->value<1>()));
        // A client that watches the name and gets no message knows without the store.
        release_reply reply;
        reply.result = left::freed;
        reply.receivers_known = watching;
        e.store->complete_release(0, {}, reply);
        e.poll();
        BOOST_TEST(e.store->acquire_count() == asked);
        e.advance(20ms);
        BOOST_TEST(e.store->acquire_count() == asked + 1);
        e.grant();
        BOOST_TEST(code(*next) == error_code());
    }
}

BOOST_AUTO_TEST_SUITE_END()
