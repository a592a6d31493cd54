// How a client waits in a store that keeps a queue.
#include <boost/test/unit_test.hpp>

#include "support/core_checks.hpp"

#include "fsm/lease/keep_alive.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using left = release_reply::outcome;

namespace core_queue_test {

inline std::shared_ptr<fake_store> store_with_queues(bool rejects_late, bool publishes)
{
    auto made = std::make_shared<fake_store>();
    made->can.rejects_late = rejects_late;
    made->can.queues = true;
    made->can.publishes = publishes;
    return made;
}

struct queue_fixture : core_fixture
{
    explicit queue_fixture(bool rejects_late = true, bool publishes = false)
        : core_fixture(store_with_queues(rejects_late, publishes))
    {}

    /// The reply to the latest acquire: another owner holds the lock, and this one is in the queue.
    void say_queued(std::uint32_t place = 0, std::chrono::milliseconds remaining = 10s)
    {
        store->complete_acquire(store->acquire_count() - 1, {}, waits(place, remaining));
        poll();
    }

    static acquire_reply waits(std::uint32_t place, std::chrono::milliseconds remaining)
    {
        return {.result = acquire_reply::outcome::held,
                .remaining = remaining,
                .queued = true,
                .position = place};
    }

    void notify_grant(const std::string& owner)
    {
        store->notify_grant("a", owner);
        poll();
    }

    /// The reply to the latest release, with the state of the next owner.
    void say_left(left how, std::optional<acquire_reply> next = {})
    {
        store->complete_release(store->release_count() - 1, {}, {.result = how, .next = next});
        poll();
    }

    /// Grants the latest acquire, with or without a recorded grace.
    void say_granted(bool promised)
    {
        acquire_reply reply = granted();
        reply.grace_registered = promised;
        store->complete_acquire(store->acquire_count() - 1, {}, reply);
        poll();
    }

    acquire_reply granted(std::uint32_t fences = 1)
    {
        acquire_reply reply{
            .result = acquire_reply::outcome::granted, .fences = fences, .first_fence = fence};
        fence += fences;
        return reply;
    }

    [[nodiscard]] std::size_t asked() const { return store->acquire_count(); }
    [[nodiscard]] std::size_t releases_sent() const { return store->release_count(); }

    void cancel(const std::shared_ptr<locking>& op)
    {
        op->cancel();
        poll();
    }

    void say_late() { say(acquire_reply::outcome::late); }

    /// Releases a lease of "a" while another operation of this client waits for it. Returns that
    /// operation.
    std::shared_ptr<locking> enqueue_the_next(lock_options options = {})
    {
        options.handoff_count = 0;
        const auto what = spec("a", options);
        const auto one = lock(what);
        grant();
        auto two = lock(what);
        release(std::move(one->value<1>()));
        BOOST_TEST_REQUIRE(releases_sent() == 1u);
        BOOST_TEST_REQUIRE(last_release().next.has_value());
        return two;
    }

    /// Sends as many acquires as may be outstanding.
    void fill_the_window()
    {
        const std::size_t room = detail::acquire_window::usual_limit;
        for (std::size_t i = 0; i < room; ++i) {
            others.push_back(make<locking>());
            others.back()->start([&](auto handler) {
                async_lock(spec("other " + std::to_string(i)), std::move(handler));
            });
        }
        poll();
        BOOST_TEST_REQUIRE(asked() == room);
    }
};

/// Waits in the queue behind external clients, which do not use the queue but publish their
/// releases.
struct behind_external_client : queue_fixture
{
    behind_external_client() : queue_fixture(true, true) {}

    void say_behind_external(std::uint32_t place)
    {
        acquire_reply reply = waits(place, 10s);
        reply.may_miss_grant = reply.published = true;
        store->complete_acquire(store->acquire_count() - 1, {}, reply);
        poll();
    }

    [[nodiscard]] bool watches() const { return !store->watched().empty(); }
};

} // namespace core_queue_test

BOOST_FIXTURE_TEST_SUITE(core_queue_behind_external_clients,
                         core_queue_test::behind_external_client)

BOOST_AUTO_TEST_CASE(first_two_waiters_subscribe_and_poll_when_notified)
{
    for (const std::uint32_t place : {0u, 1u}) {
        const auto one = lock(spec("a", {.backoff_floor = 60s, .backoff_ceiling = 60s}));
        say_behind_external(place);
        BOOST_TEST(watches());
        const std::size_t before = asked();
        store->wakeup("a");
        poll();
        BOOST_TEST_REQUIRE(asked() == before + 1);
        BOOST_TEST(last_acquire().again);
        grant();
        BOOST_TEST_REQUIRE(one->done());
        BOOST_TEST(!watches()); // the subscriptions are those of other waiters
        release(std::move(one->value<1>()));
        say_left(left::freed);
    }
}

BOOST_AUTO_TEST_CASE(waiter_further_back_does_not_subscribe)
{
    const auto one = lock(spec("a"));
    say_behind_external(2);
    BOOST_TEST(!watches());
    cancel(one);
    say_left(left::left_queue);
}

BOOST_AUTO_TEST_CASE(waiter_notified_by_the_queue_again_unsubscribes)
{
    const auto one = lock(spec("a"));
    say_behind_external(0);
    BOOST_TEST(watches());
    store->wakeup("a");
    poll();
    say_queued();
    BOOST_TEST(!watches());
    cancel(one);
    say_left(left::left_queue);
}

BOOST_AUTO_TEST_CASE(cancelled_waiter_unsubscribes)
{
    const auto one = lock(spec("a"));
    say_behind_external(0);
    BOOST_TEST(watches());
    cancel(one);
    BOOST_TEST(!watches());
    say_left(left::left_queue);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(core_queue, core_queue_test::queue_fixture)

BOOST_AUTO_TEST_CASE(acquire_and_release_carry_the_claim_time_of_the_options)
{
    const auto one = lock(spec("a", {.claim_time = 300ms}));
    BOOST_TEST((last_acquire().claim == 300ms));
    const auto other = lock(spec("b", {.claim_time = 5s}));
    BOOST_TEST((last_acquire().claim == 5s));
    // The next owner is enqueued with the release, with the options of the first waiter.
    grant();
    const auto next = lock(spec("b", {.handoff_count = 0, .claim_time = 20ms}));
    release(std::move(other->value<1>()));
    BOOST_TEST_REQUIRE(last_release().next.has_value());
    BOOST_TEST((last_release().next->claim == 20ms));
}

BOOST_AUTO_TEST_CASE(release_leaves_a_share_of_the_hold_time_to_external_clients)
{
    for (const std::uint32_t percent : {0u, 10u}) {
        lease held = taken(spec("a", {.external_share = percent}));
        advance(1s);
        release(std::move(held));
        BOOST_TEST((last_release().external_time == percent * 10ms));
        say_left(left::freed);
    }
}

// With a queue, the store keeps the lock free. Without one, the lock is free until the next owner
// sends its request.
BOOST_AUTO_TEST_CASE(next_owner_with_replicas_acquires_after_the_share_of_external_clients)
{
    const lock_options own{.handoff_count = 0, .external_share = 10, .replica_acks = 1};
    for (const left how : {left::freed, left::granted_next}) {
        queue_fixture e;
        const auto one = e.lock(e.spec("a", own));
        e.grant();
        const auto two = e.lock(e.spec("a", own));
        e.advance(1s);
        e.release(std::move(one->value<1>()));
        BOOST_TEST_REQUIRE(e.releases_sent() == 1u);
        BOOST_TEST(!e.last_release().next.has_value());
        BOOST_TEST((e.last_release().external_time == 100ms));
        e.say_left(how);
        BOOST_TEST(e.asked() == (how == left::freed ? 1u : 2u));
        e.store->listen();
        e.poll();
        e.advance(99ms);
        BOOST_TEST(e.asked() == (how == left::freed ? 1u : 2u));
        e.advance(1ms);
        BOOST_TEST(e.asked() == 2u);
        e.grant();
        BOOST_TEST(code(*two) == error_code());
    }
}

BOOST_AUTO_TEST_CASE(one_owner_queues_for_all_waiters_of_the_client)
{
    const auto one = lock("a");
    BOOST_TEST_REQUIRE(asked() == 1u);
    const auto first = last_acquire();
    BOOST_TEST(first.waits);
    BOOST_TEST(!first.again);
    BOOST_TEST((first.presence == 10s));
    BOOST_TEST((first.claim == 1s));
    say_queued();
    const auto two = lock("a");
    BOOST_TEST(asked() == 1u);
    BOOST_TEST(!one->done());

    notify_grant(first.owner);
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner == first.owner);
    BOOST_TEST(last_acquire().again);
    BOOST_TEST(last_acquire().waits);
    grant(1001);
    BOOST_TEST(code(*one) == error_code());
    BOOST_TEST(!two->done());
    // The next waiter of this client does not need the store.
    release(std::move(one->value<1>()));
    BOOST_TEST(code(*two) == error_code());
    BOOST_TEST(releases_sent() == 0u);
    release(std::move(two->value<1>()));
    BOOST_TEST_REQUIRE(releases_sent() == 1u);
    BOOST_TEST(last_release().owner == first.owner);
    BOOST_TEST(!last_release().next);
    say_left(left::freed);
    check_idle(*this);
}

BOOST_AUTO_TEST_CASE(grant_notified_during_a_request_causes_another_request)
{
    const auto op = lock("a");
    notify_grant(last_acquire().owner);
    BOOST_TEST(asked() == 1u);
    say_queued(); // the reply may be older than the notification
    BOOST_TEST(asked() == 2u);
    grant();
    BOOST_TEST(code(*op) == error_code());
}

BOOST_AUTO_TEST_CASE(first_waiter_polls_when_the_lock_expires)
{
    const auto op = lock("a");
    say_queued(0, 500ms);
    advance(501ms);
    BOOST_TEST(asked() == 1u);
    advance(1ms);
    BOOST_TEST(asked() == 2u);
    say_queued(2, 500ms);
    advance(601ms);
    BOOST_TEST(asked() == 2u);
    advance(1ms);
    BOOST_TEST(asked() == 3u);
    // A waiter further back only extends its presence, in time.
    say_queued(3, 500ms);
    advance(2s);
    BOOST_TEST(asked() == 3u);
    advance(1334ms);
    BOOST_TEST(asked() == 4u);
    // The first waiter does the same while the TTL of the lock is long.
    say_queued(0, 60s);
    advance(3334ms);
    BOOST_TEST(asked() == 5u);
}

BOOST_AUTO_TEST_CASE(cancelled_waiter_leaves_the_queue)
{
    const auto op = lock("a");
    const std::string owner = last_acquire().owner;
    say_queued();
    cancel(op);
    BOOST_TEST(code(*op) == aborted);
    BOOST_TEST_REQUIRE(releases_sent() == 1u);
    BOOST_TEST(last_release().owner == owner);

    // A new waiter has another owner, and waits until the release of this one is answered.
    const auto next = lock("a");
    BOOST_TEST(asked() == 1u);
    say_left(left::left_queue);
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner != owner);
    BOOST_TEST(!last_acquire().again);
    grant();
    BOOST_TEST(code(*next) == error_code());
}

// A position in the queue has no TTL, however short the requested lease.
BOOST_AUTO_TEST_CASE(unanswered_removal_from_the_queue_is_repeated_for_a_minute)
{
    const auto op = lock(spec("a", {.lease_time = 1s}));
    say_queued();
    cancel(op);
    BOOST_TEST(releases_sent() == 1u);
    advance(50s); // without a reply
    const std::size_t so_far = releases_sent();
    BOOST_TEST(so_far > 1u);
    advance(9s);
    BOOST_TEST(releases_sent() > so_far);
    advance(1s);
    const std::size_t all = releases_sent();
    advance(60s);
    BOOST_TEST(releases_sent() == all);
}

BOOST_AUTO_TEST_CASE(grant_without_a_waiter_is_released)
{
    const auto op = lock("a");
    const std::string owner = last_acquire().owner;
    cancel(op);
    BOOST_TEST(releases_sent() == 0u); // the reply to the acquire decides
    grant();
    BOOST_TEST_REQUIRE(releases_sent() == 1u);
    BOOST_TEST(last_release().owner == owner);
    say_left(left::freed);
    check_idle(*this);
}

BOOST_AUTO_TEST_CASE(release_enqueues_the_next_owner_of_this_client)
{
    const auto two = enqueue_the_next();
    const auto sent = last_release();
    BOOST_TEST(sent.next->owner != sent.owner);
    BOOST_TEST(sent.next->waits);
    BOOST_TEST((sent.next->lease == 30s));
    BOOST_TEST((sent.next->budget == 5s));
    say_left(left::granted_next, waits(0, 1s));
    BOOST_TEST(asked() == 1u); // it is in the queue already
    notify_grant(sent.next->owner);
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner == sent.next->owner);
    grant();
    BOOST_TEST(code(*two) == error_code());
}

BOOST_AUTO_TEST_CASE(next_owner_gets_the_lock_at_once_if_the_queue_is_empty)
{
    const auto two = enqueue_the_next({.lease_time = 1s});
    const auto sent_at = time.now();
    advance(300ms);
    say_left(left::freed, granted());
    BOOST_TEST(code(*two) == error_code());
    BOOST_TEST(asked() == 1u);
    BOOST_TEST(two->value<1>().fence() == fence - 1);
    // The lease time counts from the send of the release, which acquired the lock.
    BOOST_TEST((two->value<1>().deadline() <= sent_at + 1s));
    BOOST_TEST(two->value<1>().valid());
}

BOOST_AUTO_TEST_CASE(late_grant_of_the_next_owner_is_released)
{
    const auto two = enqueue_the_next({.lease_time = 1s});
    const std::string owner = last_release().next->owner;
    skip(999ms); // within the lease time, but not within the margin for clock drift
    say_left(left::freed, granted());
    BOOST_TEST(!two->done());
    BOOST_TEST_REQUIRE(releases_sent() == 2u);
    BOOST_TEST(last_release().owner == owner);
    say_left(left::not_owner);
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner != owner);
}

// Whichever of the two requests has enqueued the next owner.
BOOST_AUTO_TEST_CASE(lease_of_the_next_owner_starts_with_the_first_release_request)
{
    const auto two = enqueue_the_next({.lease_time = 10s});
    advance(5100ms); // the first request has timed out
    BOOST_TEST_REQUIRE(releases_sent() == 2u);
    store->complete_release(0, {}, {.result = left::freed, .next = granted()});
    poll();
    BOOST_TEST(code(*two) == error_code());
    const lease held = std::move(two->value<1>());
    skip(4798ms - 1ns); // minus the margin for clock drift
    BOOST_TEST(held.valid());
    skip(1ns);
    BOOST_TEST(!held.valid());
}

BOOST_AUTO_TEST_CASE(next_owner_in_doubt_is_requested_again)
{
    const auto two = enqueue_the_next();
    const std::string next = last_release().next->owner;
    fail_release(errc::outcome_unknown);
    BOOST_TEST(asked() == 1u); // the end of the first owner has not been reported
    advance(1s);
    BOOST_TEST_REQUIRE(releases_sent() == 2u);
    BOOST_TEST_REQUIRE(last_release().next.has_value());
    BOOST_TEST(last_release().next->owner == next);
    // The first request was executed, and may have enqueued the next owner.
    say_left(left::not_owner);
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner == next);
    BOOST_TEST(last_acquire().again);
    say_queued();
    notify_grant(next);
    grant();
    BOOST_TEST(code(*two) == error_code());
}

BOOST_AUTO_TEST_CASE(lost_request_is_repeated_under_the_same_owner)
{
    const auto op = lock("a");
    const std::string owner = last_acquire().owner;
    fail_acquire(errc::outcome_unknown);
    BOOST_TEST(stats().orphans == 0u);
    BOOST_TEST(releases_sent() == 0u);
    advance(40ms);
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner == owner);
    BOOST_TEST(last_acquire().again);
    grant();
    BOOST_TEST(code(*op) == error_code());
}

BOOST_AUTO_TEST_CASE(timed_out_request_is_repeated_under_the_same_owner)
{
    const auto op = lock(spec("a", {.lease_time = 1s}));
    const std::string owner = last_acquire().owner;
    advance(1s);
    BOOST_TEST(releases_sent() == 0u);
    advance(40ms);
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner == owner);
    BOOST_TEST(last_acquire().again);
}

// If the connection has not ended, the lost request may still be executed until its limit.
BOOST_AUTO_TEST_CASE(owner_of_a_lost_request_is_released_again_after_its_limit)
{
    const auto op = lock("a");
    const std::string owner = last_acquire().owner;
    fail_acquire(errc::outcome_unknown);
    advance(40ms);
    grant();
    release(std::move(op->value<1>()));
    BOOST_TEST(releases_sent() == 1u);
    say_left(left::freed);
    BOOST_TEST(releases_sent() == 2u);
    BOOST_TEST(last_release().owner == owner);
    say_left(left::not_owner); // not final yet
    advance(4800ms);
    BOOST_TEST(releases_sent() == 2u);
    advance(200ms);
    BOOST_TEST_REQUIRE(releases_sent() == 3u);
    BOOST_TEST(last_release().owner == owner);
    say_left(left::not_owner);
    advance(1min);
    BOOST_TEST(releases_sent() == 3u);
    check_idle(*this);
}

// A lost request may be recorded after the reply that the holder uses.
BOOST_AUTO_TEST_CASE(waiter_with_another_grace_than_a_lost_request_uses_another_owner)
{
    const lock_options lost{.lease_time = 10s, .dead_holder_grace = 1s};
    for (const auto grace : {0ms, 500ms, 1000ms, 1001ms}) {
        BOOST_TEST_CONTEXT("grace " << grace.count() << " ms")
        {
            queue_fixture e(false);
            const auto one = e.lock(e.spec("a", lost));
            const std::string owner = e.last_acquire().owner;
            const auto two = e.lock(e.spec("a", {.lease_time = 10s, .dead_holder_grace = grace}));
            e.fail_acquire(errc::outcome_unknown);
            e.cancel(one);
            e.advance(40ms);
            const bool promises_less = grace == 0ms || grace > 1s;
            if (promises_less) {
                BOOST_TEST(e.asked() == 1u);
                BOOST_TEST_REQUIRE(e.releases_sent() == 1u);
                BOOST_TEST(e.last_release().owner == owner);
                e.say_left(left::not_owner);
                // Once more for requests that may still be executed, but without a wait.
                BOOST_TEST(e.releases_sent() == 2u);
                BOOST_TEST(e.last_release().owner == owner);
            }
            BOOST_TEST_REQUIRE(e.asked() == 2u);
            BOOST_TEST((e.last_acquire().owner != owner) == promises_less);
            BOOST_TEST(e.last_acquire().again == !promises_less);
            e.say_granted(grace != 0ms);
            BOOST_TEST(code(*two) == error_code());
        }
    }
}

BOOST_AUTO_TEST_CASE(lost_request_past_its_limit_does_not_change_the_owner)
{
    const auto one = lock(spec("a", {.dead_holder_grace = 1s}));
    const std::string owner = last_acquire().owner;
    const auto two = lock("a");
    fail_acquire(errc::outcome_unknown);
    cancel(one);
    disconnect();
    advance(5s);
    connect();
    BOOST_TEST(releases_sent() == 0u);
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner == owner);
    grant();
    BOOST_TEST(code(*two) == error_code());
}

// The store had no memory to record the grace, and may have some when the lost request arrives.
BOOST_AUTO_TEST_CASE(grant_without_grace_is_released_if_a_lost_request_may_record_it)
{
    const auto one = lock(spec("a", {.dead_holder_grace = 1s}));
    const std::string owner = last_acquire().owner;
    fail_acquire(errc::outcome_unknown);
    advance(40ms);
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner == owner);
    say_granted(false);
    BOOST_TEST(!one->done());
    BOOST_TEST_REQUIRE(releases_sent() == 1u);
    BOOST_TEST(last_release().owner == owner);
    say_left(left::freed);
    BOOST_TEST_REQUIRE(asked() == 3u);
    BOOST_TEST(last_acquire().owner != owner);
    say_granted(false);
    BOOST_TEST(code(*one) == error_code());
}

// The granted request was sent after the lost one could no longer be executed.
BOOST_AUTO_TEST_CASE(grant_without_grace_counts_if_no_lost_request_can_follow)
{
    const auto one = lock(spec("a", {.dead_holder_grace = 1s}));
    fail_acquire(errc::outcome_unknown);
    disconnect();
    advance(5s);
    connect();
    BOOST_TEST_REQUIRE(asked() == 2u);
    say_granted(false);
    BOOST_TEST(code(*one) == error_code());
    BOOST_TEST(releases_sent() == 0u);
}

BOOST_AUTO_TEST_CASE(new_connection_repeats_the_request_at_once_under_the_same_owner)
{
    const auto op = lock("a");
    const std::string owner = last_acquire().owner;
    say_queued();
    disconnect();
    BOOST_TEST(asked() == 1u);
    connect();
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner == owner);
    BOOST_TEST(last_acquire().again);
}

BOOST_AUTO_TEST_CASE(flapping_connection_does_not_cause_a_request_each_time)
{
    const auto op = lock(spec("a", {.backoff_floor = 1s, .backoff_ceiling = 1s}));
    fail_acquire(errc::store_refused);
    disconnect();
    connect();
    BOOST_TEST(asked() == 2u); // the first failure is made up for at once
    fail_acquire(errc::store_refused);
    for (int i = 0; i < 10; ++i) {
        disconnect();
        connect();
    }
    BOOST_TEST(asked() == 2u);
    advance(1s);
    BOOST_TEST(asked() == 3u);
    // A pause that ended without a connection waits for the next one.
    fail_acquire(errc::store_refused);
    disconnect();
    advance(2s);
    BOOST_TEST(asked() == 3u);
    connect();
    BOOST_TEST(asked() == 4u);
}

BOOST_AUTO_TEST_CASE(try_does_not_enter_the_queue)
{
    const auto op = lock(spec("a"), 0s);
    BOOST_TEST(!last_acquire().waits);
    say_held();
    BOOST_TEST((code(*op) == errc::held));
    BOOST_TEST(releases_sent() == 0u);
    const std::string owner = last_acquire().owner;
    const auto next = lock("a");
    BOOST_TEST(last_acquire().owner != owner);
    BOOST_TEST(last_acquire().waits);
}

BOOST_AUTO_TEST_CASE(held_reply_without_a_position_is_requested_again)
{
    const auto op = lock("a");
    const std::string owner = last_acquire().owner;
    say_held();
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner == owner);
    BOOST_TEST(last_acquire().again);
    BOOST_TEST(last_acquire().waits);
    say_queued();
    BOOST_TEST(asked() == 2u);
}

BOOST_AUTO_TEST_CASE(grant_to_an_ended_owner_is_released)
{
    notify_grant("an-owner:1");
    BOOST_TEST_REQUIRE(releases_sent() == 1u);
    BOOST_TEST(last_release().owner == "an-owner:1");
    BOOST_TEST(last_release().name == "a");
    say_left(left::freed);
    check_idle(*this);
    // A grant to an owner that holds the lock is old news.
    const lease held = taken(spec("a"));
    notify_grant(held.share_owner().id());
    BOOST_TEST(releases_sent() == 1u);
}

BOOST_AUTO_TEST_CASE(grant_to_an_owner_that_is_being_released_causes_no_second_release)
{
    lease held = taken(spec("a"));
    const std::string owner = held.share_owner().id();
    const auto released = release(std::move(held));
    BOOST_TEST_REQUIRE(releases_sent() == 1u);
    notify_grant(owner);
    BOOST_TEST(releases_sent() == 1u);
    say_left(left::freed);
    BOOST_TEST(code(*released) == error_code());
    check_idle(*this);
    // After that answer, only an acquire that was executed late can have got the lock.
    notify_grant(owner);
    BOOST_TEST_REQUIRE(releases_sent() == 2u);
    BOOST_TEST(last_release().owner == owner);
}

BOOST_AUTO_TEST_CASE(grant_is_released_while_only_a_reentrant_acquisition_of_its_owner_is)
{
    const auto again = lock(spec("a"), clock::duration::max(), owner("an-owner:1", 1));
    grant();
    const auto released = release(std::move(again->value<1>()));
    BOOST_TEST_REQUIRE(releases_sent() == 1u);
    BOOST_TEST(!last_release().entry.empty());
    notify_grant("an-owner:1");
    BOOST_TEST_REQUIRE(releases_sent() == 2u);
    BOOST_TEST(last_release().entry.empty());
    BOOST_TEST(last_release().owner == "an-owner:1");
}

// A message may contain anything.
BOOST_AUTO_TEST_CASE(grant_to_an_overlong_owner_is_ignored)
{
    notify_grant(std::string(57, '1'));
    BOOST_TEST_REQUIRE(releases_sent() == 1u);
    say_left(left::freed);
    notify_grant(std::string(58, '1'));
    notify_grant(std::string(1'000'000, '1'));
    BOOST_TEST(releases_sent() == 1u);
    check_idle(*this);
}

BOOST_AUTO_TEST_CASE(timed_out_waiter_leaves_the_queue)
{
    const auto op = lock(spec("a"), 2s);
    say_queued();
    advance(2s);
    BOOST_TEST((code(*op) == errc::timed_out));
    BOOST_TEST(releases_sent() == 1u);
}

BOOST_AUTO_TEST_CASE(shutdown_removes_its_owners_from_the_queue)
{
    const auto in = lock("a");
    say_queued();
    const std::string waiting_owner = last_acquire().owner;
    const auto asking = lock("b");
    const std::string asking_owner = last_acquire().owner;
    const auto ended = shutdown();
    BOOST_TEST((code(*in) == errc::shut_down));
    BOOST_TEST((code(*asking) == errc::shut_down));
    const auto all = store->releases();
    BOOST_TEST_REQUIRE(all.size() == 2u);
    BOOST_TEST(all[0].owner == waiting_owner);
    BOOST_TEST(all[1].owner == asking_owner);
    store->complete_release(0, {}, {.result = left::left_queue});
    poll();
    BOOST_TEST(!ended->done());
    store->complete_release(1, {}, {.result = left::freed});
    poll();
    BOOST_TEST(code(*ended) == error_code());
}

BOOST_AUTO_TEST_CASE(shutdown_removes_the_next_owner_of_an_outstanding_release)
{
    const auto two = enqueue_the_next();
    const std::string next = last_release().next->owner;
    const auto ended = shutdown();
    BOOST_TEST_REQUIRE(releases_sent() == 2u);
    BOOST_TEST(last_release().owner == next);
    store->complete_release(0, {}, {.result = left::granted_next, .next = waits(0, 1s)});
    poll();
    say_left(left::left_queue);
    BOOST_TEST(code(*ended) == error_code());
    BOOST_TEST(asked() == 1u);
}

BOOST_AUTO_TEST_CASE(waiter_after_a_lost_lock_uses_a_new_owner)
{
    const auto one = lock(spec("a", short_lease));
    grant();
    lease held = std::move(one->value<1>());
    const std::string before = held.share_owner().id();
    const auto two = lock(spec("a", short_lease));
    advance(400ms);
    renew_all(renewal_result::gone);
    BOOST_TEST(!held.valid());
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner != before);
    grant();
    BOOST_TEST(code(*two) == error_code());
}

BOOST_AUTO_TEST_CASE(permanent_error_fails_all_waiters)
{
    const auto one = lock("a");
    const auto two = lock("a");
    fail_acquire(errc::wrong_type);
    BOOST_TEST((code(*one) == errc::wrong_type));
    BOOST_TEST((code(*two) == errc::wrong_type));
    BOOST_TEST(releases_sent() == 0u);
    check_idle(*this);
}

BOOST_AUTO_TEST_CASE(acquire_carries_the_fences_and_times_of_its_options)
{
    const auto quiet = lock("a");
    BOOST_TEST(last_acquire().fences == 1001u);
    BOOST_TEST(last_acquire().needs_holder); // there is an observer
    say_queued();
    const auto next = lock(spec("b", {.lease_time = 1s, .handoff_count = 5}));
    BOOST_TEST(last_acquire().fences == 6u);
    BOOST_TEST((last_acquire().budget == 1s));
    BOOST_TEST((last_acquire().lease == 1s));
}

BOOST_AUTO_TEST_CASE(release_carries_the_fences_and_times_of_the_next_owner)
{
    // One fence is reserved: that of the released lease.
    const lock_options brief{.lease_time = 1s};
    const auto one = lock(spec("a", brief));
    grant();
    const auto two = lock(spec("a", brief));
    release(std::move(one->value<1>()));
    BOOST_TEST_REQUIRE(releases_sent() == 1u);
    BOOST_TEST_REQUIRE(last_release().next.has_value());
    const auto next = *last_release().next;
    BOOST_TEST(next.name == "a");
    BOOST_TEST(next.entry == "");
    BOOST_TEST(next.fences == 1001u);
    BOOST_TEST((next.lease == 1s));
    BOOST_TEST((next.budget == 1s)); // a later grant would have no time left
    BOOST_TEST((next.presence == 10s));
    BOOST_TEST((next.claim == 1s));

    // It has the reserved fences for handoffs.
    const auto three = lock(spec("a", brief));
    say_left(left::freed, granted(1001));
    BOOST_TEST(code(*two) == error_code());
    release(std::move(two->value<1>()));
    BOOST_TEST(code(*three) == error_code());
    BOOST_TEST(releases_sent() == 1u);
}

// The clock of the store may have stepped back, or may be stopped.
BOOST_AUTO_TEST_CASE(first_waiter_polls_with_backoff_if_the_ttl_is_implausible)
{
    const lock_options how{.lease_time = 1s, .backoff_floor = 20ms, .backoff_ceiling = 40ms};
    for (const auto odd : {-1ms, 10'001ms}) {
        queue_fixture e;
        const auto op = e.lock(e.spec("a", how));
        e.say_queued(0, odd);
        BOOST_TEST(e.seen->count(recording_observer::kind::suspect_expiry) == 1u);
        e.advance(20ms);
        BOOST_TEST(e.asked() == 2u);
        e.say_queued(1, odd); // the first waiter polls
        e.advance(900ms);
        BOOST_TEST(e.asked() == 2u);
        BOOST_TEST(e.seen->count(recording_observer::kind::suspect_expiry) == 1u);
    }
    const auto op = lock(spec("a", how));
    say_queued(0, 1s);
    advance(1002ms);
    BOOST_TEST(asked() == 2u);
    BOOST_TEST(seen->count(recording_observer::kind::suspect_expiry) == 0u);
    say_queued(0, 1s);
    BOOST_TEST(seen->count(recording_observer::kind::suspect_expiry) == 1u);
    advance(20ms);
    BOOST_TEST(asked() == 3u);
}

// An external client holds the lock and sends no notification. The first waiter polls as if there
// were no queue.
BOOST_AUTO_TEST_CASE(first_waiter_polls_with_backoff_while_an_external_client_holds)
{
    const auto op = lock(spec("a", {.backoff_floor = 20ms, .backoff_ceiling = 80ms}));
    std::chrono::milliseconds left = 10s;
    for (const auto pause : {20ms, 40ms, 80ms, 80ms, 80ms}) {
        const std::size_t before = asked();
        auto reply = waits(0, left -= pause);
        reply.may_miss_grant = true;
        store->complete_acquire(store->acquire_count() - 1, {}, reply);
        poll();
        BOOST_TEST(asked() == before);
        advance(pause);
        BOOST_TEST(asked() == before + 1);
    }
    // The others wait for the first waiter to find out.
    auto behind = waits(1, 9s);
    behind.may_miss_grant = true;
    store->complete_acquire(store->acquire_count() - 1, {}, behind);
    poll();
    advance(2s);
    BOOST_TEST(asked() == 6u);
    advance(1334ms);
    BOOST_TEST(asked() == 7u);
    // A client of this library holds the lock: the queue notifies, and the pauses start again.
    say_queued(0, 6s);
    advance(2s);
    BOOST_TEST(asked() == 7u);
    advance(1334ms);
    BOOST_TEST(asked() == 8u);
    auto again = waits(0, 2s);
    again.may_miss_grant = true;
    store->complete_acquire(store->acquire_count() - 1, {}, again);
    poll();
    advance(20ms);
    BOOST_TEST(asked() == 9u);
}

BOOST_AUTO_TEST_CASE(restored_subscription_polls_at_once)
{
    const auto op = lock("a");
    const std::string owner = last_acquire().owner;
    say_queued();
    store->listen();
    poll();
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner == owner);
    BOOST_TEST(last_acquire().again);
    // While the store is unavailable, no request is sent.
    say_queued();
    disconnect();
    store->listen();
    poll();
    BOOST_TEST(asked() == 2u);
    connect();
    BOOST_TEST(asked() == 3u);
    // A notification has no effect without a waiter.
    grant();
    store->listen();
    poll();
    BOOST_TEST(asked() == 3u);
}

// A grant may be notified over a separate connection, before the connection for commands is
// restored.
BOOST_AUTO_TEST_CASE(grant_notified_without_a_connection_is_no_failure)
{
    const auto op = lock(spec("a", {.backoff_floor = 1s, .backoff_ceiling = 1s}));
    const std::string owner = last_acquire().owner;
    fail_acquire(errc::store_unavailable);
    disconnect();
    notify_grant(owner);
    BOOST_TEST(asked() == 1u);
    connect();
    BOOST_TEST(asked() == 2u);
    grant();
    BOOST_TEST(op->done());
}

BOOST_AUTO_TEST_CASE(next_owner_polls_according_to_its_position)
{
    for (const std::uint32_t place : {0u, 2u, 3u}) {
        queue_fixture e;
        const auto op = e.enqueue_the_next();
        e.say_left(left::granted_next, waits(place, 500ms));
        const clock::duration looks_after = place < 3 ? 502ms + place * 50ms : 2500ms;
        e.advance(looks_after - 1ms);
        BOOST_TEST(e.asked() == 1u);
        e.advance(place < 3 ? 1ms : 835ms);
        BOOST_TEST(e.asked() == 2u);
    }
}

BOOST_AUTO_TEST_CASE(grant_notified_before_the_reply_to_the_release_is_used_after_it)
{
    const auto op = enqueue_the_next();
    const std::string next = last_release().next->owner;
    notify_grant(next);
    BOOST_TEST(releases_sent() == 1u);
    BOOST_TEST(asked() == 1u);
    say_left(left::granted_next, waits(0, 1s));
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner == next);
    BOOST_TEST(last_acquire().again);
}

BOOST_AUTO_TEST_CASE(next_owner_without_a_waiter_is_removed)
{
    for (const bool is_granted : {true, false}) {
        queue_fixture e;
        const auto op = e.enqueue_the_next();
        const std::string next = e.last_release().next->owner;
        e.cancel(op);
        BOOST_TEST(e.releases_sent() == 1u);
        e.say_left(is_granted ? left::freed : left::granted_next,
                   is_granted ? e.granted() : waits(0, 1s));
        BOOST_TEST_REQUIRE(e.releases_sent() == 2u);
        BOOST_TEST(e.last_release().owner == next);
        BOOST_TEST(!e.last_release().next);
        e.say_left(is_granted ? left::freed : left::left_queue);
        e.advance(1min);
        BOOST_TEST(e.releases_sent() == 2u);
        BOOST_TEST(e.asked() == 1u);
        check_idle(e);
    }
}

BOOST_AUTO_TEST_CASE(try_during_an_outstanding_release_fails_with_held)
{
    const auto op = enqueue_the_next();
    const std::string next = last_release().next->owner;
    cancel(op);
    const auto once = lock(spec("a"), 0s);
    BOOST_TEST(!once->done());
    say_left(left::granted_next, waits(0, 1s));
    BOOST_TEST(code(*once) == errc::held);
    BOOST_TEST_REQUIRE(releases_sent() == 2u);
    BOOST_TEST(last_release().owner == next);
}

// No owner joins without a waiter.
BOOST_AUTO_TEST_CASE(release_without_a_remaining_waiter_enqueues_no_owner)
{
    const auto what = spec("a", {.handoff_count = 0});
    const auto one = lock(what);
    grant();
    const auto two = lock(what);
    disconnect();
    release(std::move(one->value<1>()));
    cancel(two);
    connect();
    BOOST_TEST_REQUIRE(releases_sent() == 1u);
    BOOST_TEST(!last_release().next);
    say_left(left::freed);
    BOOST_TEST(asked() == 1u);
    const auto three = lock(what);
    BOOST_TEST(releases_sent() == 1u); // the store cannot know any owner
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(!last_acquire().again);
    grant();
    BOOST_TEST(code(*three) == error_code());
}

BOOST_AUTO_TEST_CASE(grant_that_does_not_fit_the_remaining_waiter_is_released)
{
    const auto longer = spec("a", {.lease_time = 20s});
    {
        const auto one = lock("a");
        const std::string owner = last_acquire().owner;
        const auto two = lock(longer);
        cancel(one);
        grant();
        BOOST_TEST(!two->done());
        BOOST_TEST_REQUIRE(releases_sent() == 1u);
        BOOST_TEST(last_release().owner == owner);
        say_left(left::freed);
        BOOST_TEST_REQUIRE(asked() == 2u);
        BOOST_TEST((last_acquire().lease == 20s));
        grant();
        BOOST_TEST(code(*two) == error_code());
        release(std::move(two->value<1>()));
        say_left(left::freed);
    }
    queue_fixture e;
    const auto one = e.enqueue_the_next();
    const std::string owner = e.last_release().next->owner;
    const auto two = e.lock(e.spec("a", {.lease_time = 20s}));
    e.cancel(one);
    e.say_left(left::freed, e.granted());
    BOOST_TEST(!two->done());
    BOOST_TEST_REQUIRE(e.releases_sent() == 2u);
    BOOST_TEST(e.last_release().owner == owner);
    e.say_left(left::freed);
    BOOST_TEST_REQUIRE(e.asked() == 2u);
    BOOST_TEST((e.last_acquire().lease == 20s));
}

BOOST_AUTO_TEST_CASE(grant_at_its_deadline_is_released)
{
    const clock::duration valid = 1s - fsm::drift_margin(1s);
    for (const bool in_time : {true, false}) {
        queue_fixture e;
        const auto op = e.lock(e.spec("a", {.lease_time = 1s}));
        const std::string owner = e.last_acquire().owner;
        e.skip(in_time ? valid - 1ns : valid);
        e.grant();
        BOOST_TEST(op->done() == in_time);
        BOOST_TEST_REQUIRE(e.releases_sent() == (in_time ? 0u : 1u));
        if (in_time)
            continue;
        BOOST_TEST(e.last_release().owner == owner);
        e.say_left(left::freed);
        BOOST_TEST_REQUIRE(e.asked() == 2u);
        BOOST_TEST(e.last_acquire().owner != owner);
    }
}

BOOST_AUTO_TEST_CASE(late_request_is_repeated_at_once_and_then_after_a_pause)
{
    const auto op = lock(spec("a", {.backoff_floor = 1s, .backoff_ceiling = 1s}));
    const std::string owner = last_acquire().owner;
    say_late();
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner == owner);
    BOOST_TEST(!last_acquire().again); // neither request was executed
    say_late();
    BOOST_TEST(asked() == 2u);
    advance(499ms);
    BOOST_TEST(asked() == 2u);
    advance(501ms);
    BOOST_TEST_REQUIRE(asked() == 3u);
    grant();
    BOOST_TEST(code(*op) == error_code());
}

BOOST_AUTO_TEST_CASE(pauses_after_failures_follow_the_backoff_options)
{
    const lock_options slow{.backoff_floor = 1s, .backoff_ceiling = 8s};
    const auto op = lock(spec("a", slow));
    const auto pause_after_failure = [&] {
        fail_acquire(errc::store_refused);
        const auto count = asked();
        const auto begin = time.now();
        while (asked() == count)
            advance(10ms);
        return time.now() - begin;
    };
    for (int i = 0; i < 3; ++i)
        BOOST_TEST((pause_after_failure() >= 500ms));
    // After a reply, the pauses are short again.
    say_queued();
    notify_grant(last_acquire().owner);
    BOOST_TEST((pause_after_failure() <= 1010ms));
    BOOST_TEST((pause_after_failure() <= 2010ms));
    BOOST_TEST((pause_after_failure() <= 4010ms));
    say_late();
    const auto count = asked();
    say_late();
    advance(1010ms);
    BOOST_TEST(asked() == count + 1);
}

// A new connection makes up for one failure, but not for two in a row.
BOOST_AUTO_TEST_CASE(reply_or_new_wait_resets_the_count_of_failures)
{
    const auto what = spec("a", {.backoff_floor = 10s, .backoff_ceiling = 10s});
    const auto fail_and_reconnect = [&] {
        const auto count = asked();
        fail_acquire(errc::store_refused);
        disconnect();
        connect();
        return asked() - count;
    };
    const auto op = lock(what);
    BOOST_TEST(fail_and_reconnect() == 1u);
    BOOST_TEST(fail_and_reconnect() == 0u);
    advance(10s);
    say_queued();
    notify_grant(last_acquire().owner);
    BOOST_TEST(fail_and_reconnect() == 1u);
    BOOST_TEST(fail_and_reconnect() == 0u);
    const auto stays = lock("b");
    cancel(op);
    say_left(left::not_owner);
    const auto next = lock(what);
    BOOST_TEST(fail_and_reconnect() == 1u);
}

// The new wait starts when the owner of the earlier waiters has left the queue.
BOOST_AUTO_TEST_CASE(new_wait_pauses_by_its_own_options)
{
    const auto before = lock(spec("a", {.backoff_floor = 1min, .backoff_ceiling = 1min}));
    say_queued();
    for (int i = 0; i < 2; ++i) {
        notify_grant(last_acquire().owner);
        fail_acquire(errc::store_refused);
    }
    cancel(before);
    const auto op = lock("a");
    say_left(left::left_queue);
    BOOST_TEST_REQUIRE(asked() == 4u);
    fail_acquire(errc::store_refused);
    disconnect();
    connect();
    BOOST_TEST_REQUIRE(asked() == 5u); // one failure is made up for at once
    fail_acquire(errc::store_refused);
    advance(80ms);
    BOOST_TEST(asked() == 6u);
}

BOOST_AUTO_TEST_CASE(request_that_was_not_executed_needs_no_release)
{
    const auto op = lock("a");
    const std::string refused = last_acquire().owner;
    fail_acquire(errc::store_refused);
    cancel(op);
    BOOST_TEST(releases_sent() == 0u);
    check_idle(*this);

    const auto next = lock("a");
    BOOST_TEST(last_acquire().owner != refused);
    fail_acquire(errc::store_refused);
    advance(40ms);
    BOOST_TEST(!last_acquire().again);
    grant();
    release(std::move(next->value<1>()));
    say_left(left::freed);
    advance(1min);
    BOOST_TEST(releases_sent() == 1u);
    check_idle(*this);
}

BOOST_AUTO_TEST_CASE(cancelled_waiter_with_a_timed_out_request_is_released)
{
    const auto op = lock("a");
    advance(5s);
    cancel(op);
    BOOST_TEST_REQUIRE(releases_sent() == 1u);
    BOOST_TEST(stats().orphans == 1u);
    say_left(left::freed);
    BOOST_TEST(stats().orphans == 0u);
    check_idle(*this);
}

BOOST_AUTO_TEST_CASE(owner_of_an_ended_connection_is_released_once)
{
    const auto op = lock("a");
    fail_acquire(errc::outcome_unknown);
    disconnect();
    store->settle();
    connect();
    say_queued();
    cancel(op);
    BOOST_TEST_REQUIRE(releases_sent() == 1u);
    say_left(left::not_owner);
    BOOST_TEST(releases_sent() == 1u);
    BOOST_TEST(stats().orphans == 0u);
    check_idle(*this);
}

// An earlier reply says nothing about a request that is executed later.
BOOST_AUTO_TEST_CASE(owner_in_doubt_without_a_waiter_is_released_again_after_its_limit)
{
    const auto op = lock("a");
    const std::string owner = last_acquire().owner;
    fail_acquire(errc::outcome_unknown);
    cancel(op);
    BOOST_TEST_REQUIRE(releases_sent() == 1u);
    BOOST_TEST(stats().orphans == 1u);
    say_left(left::not_owner); // a new waiter need not wait
    BOOST_TEST_REQUIRE(releases_sent() == 2u);
    BOOST_TEST(last_release().owner == owner);
    BOOST_TEST(stats().orphans == 1u);
    say_left(left::not_owner);
    advance(5s);
    BOOST_TEST(releases_sent() == 2u);
    advance(2ms);
    BOOST_TEST_REQUIRE(releases_sent() == 3u);
    BOOST_TEST(last_release().owner == owner);
    say_left(left::not_owner);
    advance(1min);
    BOOST_TEST(releases_sent() == 3u);
    check_idle(*this);
}

// The store has reported that it does not know the owner. A request that may still be executed must
// not delay other waiters.
BOOST_AUTO_TEST_CASE(new_waiter_does_not_wait_for_an_owner_in_doubt)
{
    const auto op = lock("a");
    const std::string owner = last_acquire().owner;
    fail_acquire(errc::outcome_unknown);
    cancel(op);
    const auto next = lock("a");
    BOOST_TEST(asked() == 1u);
    say_left(left::not_owner);
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner != owner);
    grant();
    BOOST_TEST(code(*next) == error_code());
}

// A later request with a shorter limit does not shorten the limit of the earlier one.
BOOST_AUTO_TEST_CASE(latest_limit_of_all_requests_of_an_owner_counts)
{
    for (const bool shuts_down : {false, true}) {
        queue_fixture e;
        const auto one = e.lock("a");
        const std::string owner = e.last_acquire().owner;
        const auto limit = e.time.now() + 5s;
        e.fail_acquire(errc::outcome_unknown);
        const auto two = e.lock(e.spec("a", {.lease_time = 100ms}));
        e.cancel(one);
        e.advance(40ms);
        BOOST_TEST_REQUIRE(e.asked() == 2u);
        BOOST_TEST(e.last_acquire().owner == owner);
        BOOST_TEST((e.last_acquire().budget == 100ms));
        if (shuts_down) {
            e.shutdown();
        }
        else {
            e.fail_acquire(errc::outcome_unknown);
            e.cancel(two);
            e.say_left(left::not_owner); // ends the delay of a new waiter, but not the doubt
        }
        const std::size_t before = e.releases_sent();
        BOOST_TEST_REQUIRE(before == (shuts_down ? 1u : 2u));
        e.say_left(left::not_owner);
        e.advance(limit - e.time.now());
        BOOST_TEST(e.releases_sent() == before);
        e.advance(2ms);
        BOOST_TEST_REQUIRE(e.releases_sent() == before + 1);
        BOOST_TEST(e.last_release().owner == owner);
    }
}

// A late request is executed there, and ends a lease time later.
BOOST_AUTO_TEST_CASE(next_owner_is_released_a_lease_time_later_if_late_requests_execute)
{
    queue_fixture e(false);
    const auto op = e.enqueue_the_next({.lease_time = 20s});
    const std::string next = e.last_release().next->owner;
    e.cancel(op);
    e.fail_release(errc::permission_denied); // the request is not repeated
    BOOST_TEST_REQUIRE(e.releases_sent() == 2u);
    BOOST_TEST(e.last_release().owner == next);
    e.say_left(left::not_owner);
    BOOST_TEST_REQUIRE(e.releases_sent() == 3u);
    BOOST_TEST(e.last_release().owner == next);
    e.say_left(left::not_owner);
    e.advance(5s + 20s);
    BOOST_TEST(e.releases_sent() == 3u);
    e.advance(2ms);
    BOOST_TEST_REQUIRE(e.releases_sent() == 4u);
    BOOST_TEST(e.last_release().owner == next);
}

// Both releases may have been executed, or may be executed later, and enqueue the next owner.
BOOST_AUTO_TEST_CASE(next_owner_in_doubt_is_released_again_after_its_limit)
{
    const auto op = enqueue_the_next({.lease_time = 20s});
    const std::string next = last_release().next->owner;
    fail_release(errc::outcome_unknown);
    while (releases_sent() == 1u)
        advance(1ms);
    const auto sent = time.now();
    say_left(left::not_owner);
    grant();
    release(std::move(op->value<1>()));
    BOOST_TEST_REQUIRE(releases_sent() == 3u);
    BOOST_TEST(last_release().owner == next);
    say_left(left::freed);
    BOOST_TEST_REQUIRE(releases_sent() == 4u);
    BOOST_TEST(last_release().owner == next);
    say_left(left::not_owner);
    advance(sent + 5s - time.now());
    BOOST_TEST(releases_sent() == 4u);
    advance(2ms);
    BOOST_TEST(releases_sent() == 5u);
}

BOOST_AUTO_TEST_CASE(confirmed_next_owner_is_released_once)
{
    const auto op = enqueue_the_next();
    say_left(left::freed, granted());
    release(std::move(op->value<1>()));
    BOOST_TEST(releases_sent() == 2u);
    say_left(left::freed);
    advance(1min);
    BOOST_TEST(releases_sent() == 2u);
    check_idle(*this);
}

// The release was executed, and kept the lock for a reentrant acquisition.
BOOST_AUTO_TEST_CASE(next_owner_is_released_once_after_the_only_release_was_answered)
{
    queue_fixture e(false);
    const auto op = e.enqueue_the_next({.lease_time = 20s});
    const std::string next = e.last_release().next->owner;
    e.say_left(left::still_held);
    BOOST_TEST(e.last_acquire().owner == next);
    e.grant();
    e.release(std::move(op->value<1>()));
    BOOST_TEST_REQUIRE(e.releases_sent() == 2u);
    e.say_left(left::freed);
    e.advance(1min);
    BOOST_TEST(e.releases_sent() == 2u);
    check_idle(e);
}

BOOST_AUTO_TEST_CASE(failure_before_a_grant_is_not_reported_after_it)
{
    const auto op = lock("a");
    fail_acquire(errc::store_refused);
    advance(40ms);
    grant();
    BOOST_TEST(code(*op) == error_code());
    const auto once = lock(spec("a"), 0s);
    BOOST_TEST(code(*once) == errc::held);
}

BOOST_AUTO_TEST_CASE(cancelled_waiter_leaves_the_full_window)
{
    fill_the_window();
    const std::size_t room = asked();
    const auto op = lock("a");
    BOOST_TEST(asked() == room);
    cancel(op);
    BOOST_TEST(code(*op) == aborted);
    store->grant(0, fence++);
    poll();
    BOOST_TEST(asked() == room);
    BOOST_TEST(releases_sent() == 0u);
}

BOOST_AUTO_TEST_CASE(waiter_for_the_window_sends_over_the_next_connection)
{
    fill_the_window();
    const std::size_t room = asked();
    const auto op = lock("a");
    disconnect();
    store->grant(0, fence++);
    poll();
    BOOST_TEST(asked() == room); // there is room, but no connection
    connect();
    BOOST_TEST(asked() == room + 1);
    BOOST_TEST(last_acquire().name == "a");
}

BOOST_AUTO_TEST_CASE(no_acquire_is_sent_after_a_shutdown)
{
    fill_the_window();
    const std::size_t room = asked();
    const auto op = lock("a");
    const auto ended = shutdown();
    BOOST_TEST((code(*op) == errc::shut_down));
    for (std::size_t i = 0; i < room; ++i)
        store->grant(i, fence++);
    poll();
    BOOST_TEST(asked() == room);
    // Each outstanding request, once.
    BOOST_TEST(releases_sent() == room);
}

// The shutdown releases every lock that the store may have granted, or may still grant.
BOOST_AUTO_TEST_CASE(shutdown_waits_until_an_outstanding_request_cannot_execute)
{
    const auto op = lock(spec("a", {.lease_time = 1s}));
    const std::string owner = last_acquire().owner;
    const auto ended = shutdown();
    BOOST_TEST_REQUIRE(releases_sent() == 1u);
    say_left(left::not_owner);
    BOOST_TEST(!ended->done());
    advance(1s);
    BOOST_TEST(releases_sent() == 1u);
    advance(2ms);
    BOOST_TEST_REQUIRE(releases_sent() == 2u);
    BOOST_TEST(last_release().owner == owner);
    grant(); // the late reply
    BOOST_TEST(releases_sent() == 2u);
    say_left(left::freed);
    BOOST_TEST(code(*ended) == error_code());
}

BOOST_AUTO_TEST_CASE(shutdown_releases_each_owner_once)
{
    const lease held = taken(spec("held"));
    const auto gone = lock("gone");
    say_queued();
    cancel(gone);
    BOOST_TEST(releases_sent() == 1u);
    const auto ended = shutdown();
    BOOST_TEST_REQUIRE(releases_sent() == 2u);
    BOOST_TEST(store->releases()[1].owner == held.share_owner().id());
    store->complete_release(0, {}, {.result = left::left_queue});
    store->complete_release(1, {}, {.result = left::freed});
    poll();
    BOOST_TEST(code(*ended) == error_code());
    BOOST_TEST(releases_sent() == 2u);
}

BOOST_AUTO_TEST_CASE(shutdown_during_a_release_repeats_it_if_a_grant_is_possible)
{
    const auto op = lock(spec("a", {.lease_time = 2s}));
    const std::string owner = last_acquire().owner;
    fail_acquire(errc::outcome_unknown);
    advance(40ms);
    grant();
    release(std::move(op->value<1>()));
    BOOST_TEST(releases_sent() == 1u);
    const auto ended = shutdown();
    BOOST_TEST_REQUIRE(releases_sent() == 2u);
    store->complete_release(0, {}, {.result = left::freed});
    store->complete_release(1, {}, {.result = left::not_owner});
    poll();
    BOOST_TEST(!ended->done());
    advance(2s);
    BOOST_TEST_REQUIRE(releases_sent() == 3u);
    BOOST_TEST(last_release().owner == owner);
    say_left(left::not_owner);
    BOOST_TEST(code(*ended) == error_code());
}

BOOST_AUTO_TEST_CASE(next_owner_granted_after_a_shutdown_is_released_once)
{
    const auto op = enqueue_the_next({.lease_time = 1s});
    const std::string next = last_release().next->owner;
    const auto ended = shutdown();
    BOOST_TEST_REQUIRE(releases_sent() == 2u);
    // The release of the next owner overtakes the release that enqueues it.
    say_left(left::not_owner);
    store->complete_release(0, {}, {.result = left::freed, .next = granted()});
    poll();
    BOOST_TEST(releases_sent() == 2u);
    BOOST_TEST(!ended->done());
    advance(1002ms);
    BOOST_TEST_REQUIRE(releases_sent() == 3u);
    BOOST_TEST(last_release().owner == next);
    say_left(left::freed);
    BOOST_TEST(code(*ended) == error_code());
}

// Otherwise the owner would be in the queue again after its removal.
BOOST_AUTO_TEST_CASE(release_repeated_after_a_shutdown_enqueues_no_owner)
{
    const auto op = enqueue_the_next();
    fail_release(errc::outcome_unknown);
    const auto ended = shutdown();
    advance(1s);
    BOOST_TEST_REQUIRE(releases_sent() == 3u);
    for (std::size_t i = 1; i < 3; ++i)
        BOOST_TEST(!store->releases()[i].next);
}

BOOST_AUTO_TEST_SUITE_END()
