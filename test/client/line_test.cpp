// How a client waits in the queue of a store that keeps one.
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

namespace core_line_test {

inline std::shared_ptr<fake_store> store_with_a_line(bool refuses_late, bool announces)
{
    auto made = std::make_shared<fake_store>();
    made->can.refuses_late = refuses_late;
    made->can.queues = true;
    made->can.announces = announces;
    return made;
}

struct in_line : core_fixture
{
    explicit in_line(bool refuses_late = true, bool announces = false)
        : core_fixture(store_with_a_line(refuses_late, announces))
    {}

    /// The reply to the latest acquire: another owner holds the lock, and this one is in the queue.
    void say_in_line(std::uint32_t place = 0, std::chrono::milliseconds remaining = 10s)
    {
        store->complete_acquire(store->acquire_count() - 1, {}, waits(place, remaining));
        poll();
    }

    static acquire_reply waits(std::uint32_t place, std::chrono::milliseconds remaining)
    {
        return {.result = acquire_reply::outcome::held,
                .remaining = remaining,
                .in_line = true,
                .place = place};
    }

    void turn(const std::string& owner)
    {
        store->turn("a", owner);
        poll();
    }

    /// The reply to the latest release, with the state of the next owner.
    void say_left(left how, std::optional<acquire_reply> next = {})
    {
        store->complete_release(store->release_count() - 1, {}, {.result = how, .next = next});
        poll();
    }

    /// The latest acquire; with the promise that it came with, or without one.
    void say_granted(bool promised)
    {
        acquire_reply reply = granted();
        reply.promised = promised;
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
    [[nodiscard]] std::size_t left_count() const { return store->release_count(); }

    void cancel(const std::shared_ptr<locking>& op)
    {
        op->cancel();
        poll();
    }

    void say_late() { say(acquire_reply::outcome::late); }

    /// Releases a lease of "a" while another waits for it here. Its operation.
    std::shared_ptr<locking> bring_in_the_next(lock_options options = {})
    {
        options.handoff_count = 0;
        const auto what = spec("a", options);
        const auto one = lock(what);
        grant();
        auto two = lock(what);
        release(std::move(one->value<1>()));
        BOOST_TEST_REQUIRE(left_count() == 1u);
        BOOST_TEST_REQUIRE(last_release().next.has_value());
        return two;
    }

    /// As many acquires are outstanding as may be.
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

/// In line behind holders that know no line, and say when they leave.
struct behind_strangers : in_line
{
    behind_strangers() : in_line(true, true) {}

    void say_behind_stranger(std::uint32_t place)
    {
        acquire_reply reply = waits(place, 10s);
        reply.untold = reply.announced = true;
        store->complete_acquire(store->acquire_count() - 1, {}, reply);
        poll();
    }

    [[nodiscard]] bool watches() const { return !store->watched().empty(); }
};

} // namespace core_line_test

BOOST_FIXTURE_TEST_SUITE(core_line_behind_strangers, core_line_test::behind_strangers)

BOOST_AUTO_TEST_CASE(the_first_two_listen_and_look_when_they_hear)
{
    for (const std::uint32_t place : {0u, 1u}) {
        const auto one = lock(spec("a", {.backoff_floor = 60s, .backoff_ceiling = 60s}));
        say_behind_stranger(place);
        BOOST_TEST(watches());
        const std::size_t before = asked();
        store->hint("a");
        poll();
        BOOST_TEST_REQUIRE(asked() == before + 1);
        BOOST_TEST(last_acquire().again);
        grant();
        BOOST_TEST_REQUIRE(one->done());
        BOOST_TEST(!watches()); // others count the listeners
        release(std::move(one->value<1>()));
        say_left(left::freed);
    }
}

BOOST_AUTO_TEST_CASE(who_is_further_back_does_not_listen)
{
    const auto one = lock(spec("a"));
    say_behind_stranger(2);
    BOOST_TEST(!watches());
    cancel(one);
    say_left(left::left_line);
}

BOOST_AUTO_TEST_CASE(who_is_told_by_the_line_again_listens_no_more)
{
    const auto one = lock(spec("a"));
    say_behind_stranger(0);
    BOOST_TEST(watches());
    store->hint("a");
    poll();
    say_in_line();
    BOOST_TEST(!watches());
    cancel(one);
    say_left(left::left_line);
}

BOOST_AUTO_TEST_CASE(who_gives_up_listens_no_more)
{
    const auto one = lock(spec("a"));
    say_behind_stranger(0);
    BOOST_TEST(watches());
    cancel(one);
    BOOST_TEST(!watches());
    say_left(left::left_line);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(core_line, core_line_test::in_line)

BOOST_AUTO_TEST_CASE(a_turn_is_kept_for_as_long_as_the_options_say)
{
    const auto one = lock(spec("a", {.claim_time = 300ms}));
    BOOST_TEST((last_acquire().claim == 300ms));
    const auto other = lock(spec("b", {.claim_time = 5s}));
    BOOST_TEST((last_acquire().claim == 5s));
    // The next owner joins with the release, with the options of the first waiter.
    grant();
    const auto next = lock(spec("b", {.handoff_count = 0, .claim_time = 20ms}));
    release(std::move(other->value<1>()));
    BOOST_TEST_REQUIRE(last_release().next.has_value());
    BOOST_TEST((last_release().next->claim == 20ms));
}

BOOST_AUTO_TEST_CASE(a_release_leaves_the_lock_free_for_a_share_of_the_time_that_it_was_held)
{
    for (const std::uint32_t percent : {0u, 10u}) {
        lease held = taken(spec("a", {.foreign_turns = percent}));
        advance(1s);
        release(std::move(held));
        BOOST_TEST((last_release().foreign_turn == percent * 10ms));
        say_left(left::freed);
    }
}

// With a queue, the store keeps the lock free. Without one, the lock is free until the next owner
// sends its request.
BOOST_AUTO_TEST_CASE(a_next_owner_that_asks_for_itself_leaves_the_lock_free_for_as_long)
{
    const lock_options own{.handoff_count = 0, .foreign_turns = 10, .replica_acks = 1};
    for (const left how : {left::freed, left::passed_on}) {
        in_line e;
        const auto one = e.lock(e.spec("a", own));
        e.grant();
        const auto two = e.lock(e.spec("a", own));
        e.advance(1s);
        e.release(std::move(one->value<1>()));
        BOOST_TEST_REQUIRE(e.left_count() == 1u);
        BOOST_TEST(!e.last_release().next.has_value());
        BOOST_TEST((e.last_release().foreign_turn == 100ms));
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

BOOST_AUTO_TEST_CASE(one_owner_joins_for_all_who_wait)
{
    const auto one = lock("a");
    BOOST_TEST_REQUIRE(asked() == 1u);
    const auto first = last_acquire();
    BOOST_TEST(first.waits);
    BOOST_TEST(!first.again);
    BOOST_TEST((first.presence == 10s));
    BOOST_TEST((first.claim == 1s));
    say_in_line();
    const auto two = lock("a");
    BOOST_TEST(asked() == 1u);
    BOOST_TEST(!one->done());

    turn(first.owner);
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner == first.owner);
    BOOST_TEST(last_acquire().again);
    BOOST_TEST(last_acquire().waits);
    grant(1001);
    BOOST_TEST(code(*one) == error_code());
    BOOST_TEST(!two->done());
    // The next of this client does not need the store.
    release(std::move(one->value<1>()));
    BOOST_TEST(code(*two) == error_code());
    BOOST_TEST(left_count() == 0u);
    release(std::move(two->value<1>()));
    BOOST_TEST_REQUIRE(left_count() == 1u);
    BOOST_TEST(last_release().owner == first.owner);
    BOOST_TEST(!last_release().next);
    say_left(left::freed);
    check_idle(*this);
}

BOOST_AUTO_TEST_CASE(a_turn_that_is_told_while_a_look_is_under_way_is_looked_at_again)
{
    const auto op = lock("a");
    turn(last_acquire().owner);
    BOOST_TEST(asked() == 1u);
    say_in_line(); // may be older than the news
    BOOST_TEST(asked() == 2u);
    grant();
    BOOST_TEST(code(*op) == error_code());
}

BOOST_AUTO_TEST_CASE(the_first_in_line_looks_when_the_lock_would_end)
{
    const auto op = lock("a");
    say_in_line(0, 500ms);
    advance(501ms);
    BOOST_TEST(asked() == 1u);
    advance(1ms);
    BOOST_TEST(asked() == 2u);
    say_in_line(2, 500ms);
    advance(601ms);
    BOOST_TEST(asked() == 2u);
    advance(1ms);
    BOOST_TEST(asked() == 3u);
    // A waiter further back only extends its presence, in time.
    say_in_line(3, 500ms);
    advance(2s);
    BOOST_TEST(asked() == 3u);
    advance(1334ms);
    BOOST_TEST(asked() == 4u);
    // So does the first when the lock has long to live.
    say_in_line(0, 60s);
    advance(3334ms);
    BOOST_TEST(asked() == 5u);
}

BOOST_AUTO_TEST_CASE(who_does_not_wait_any_more_leaves_the_line)
{
    const auto op = lock("a");
    const std::string owner = last_acquire().owner;
    say_in_line();
    cancel(op);
    BOOST_TEST(code(*op) == aborted);
    BOOST_TEST_REQUIRE(left_count() == 1u);
    BOOST_TEST(last_release().owner == owner);

    // A new waiter has another owner, and waits for the end of this one.
    const auto next = lock("a");
    BOOST_TEST(asked() == 1u);
    say_left(left::left_line);
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner != owner);
    BOOST_TEST(!last_acquire().again);
    grant();
    BOOST_TEST(code(*next) == error_code());
}

// No TTL ends a position in the queue, however short the requested lease.
BOOST_AUTO_TEST_CASE(whoever_leaves_the_line_says_so_for_a_minute)
{
    const auto op = lock(spec("a", {.lease_time = 1s}));
    say_in_line();
    cancel(op);
    BOOST_TEST(left_count() == 1u);
    advance(50s); // without a reply
    const std::size_t so_far = left_count();
    BOOST_TEST(so_far > 1u);
    advance(9s);
    BOOST_TEST(left_count() > so_far);
    advance(1s);
    const std::size_t all = left_count();
    advance(60s);
    BOOST_TEST(left_count() == all);
}

BOOST_AUTO_TEST_CASE(a_grant_that_nobody_waits_for_any_more_is_given_back)
{
    const auto op = lock("a");
    const std::string owner = last_acquire().owner;
    cancel(op);
    BOOST_TEST(left_count() == 0u); // its reply decides
    grant();
    BOOST_TEST_REQUIRE(left_count() == 1u);
    BOOST_TEST(last_release().owner == owner);
    say_left(left::freed);
    check_idle(*this);
}

BOOST_AUTO_TEST_CASE(a_release_brings_in_the_next_owner_when_others_wait_here)
{
    const auto two = bring_in_the_next();
    const auto sent = last_release();
    BOOST_TEST(sent.next->owner != sent.owner);
    BOOST_TEST(sent.next->waits);
    BOOST_TEST((sent.next->lease == 30s));
    BOOST_TEST((sent.next->budget == 5s));
    say_left(left::passed_on, waits(0, 1s));
    BOOST_TEST(asked() == 1u); // it is in the queue already
    turn(sent.next->owner);
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner == sent.next->owner);
    grant();
    BOOST_TEST(code(*two) == error_code());
}

BOOST_AUTO_TEST_CASE(the_next_owner_has_the_lock_at_once_when_nobody_else_waits)
{
    const auto two = bring_in_the_next({.lease_time = 1s});
    const auto sent_at = time.now();
    advance(300ms);
    say_left(left::freed, granted());
    BOOST_TEST(code(*two) == error_code());
    BOOST_TEST(asked() == 1u);
    BOOST_TEST(two->value<1>().fence() == fence - 1);
    // Its time counts from the sending of the release, which took the lock.
    BOOST_TEST((two->value<1>().deadline() <= sent_at + 1s));
    BOOST_TEST(two->value<1>().valid());
}

BOOST_AUTO_TEST_CASE(a_next_owner_that_was_granted_too_late_is_given_back)
{
    const auto two = bring_in_the_next({.lease_time = 1s});
    const std::string owner = last_release().next->owner;
    skip(999ms); // within the lease time, but for the drift of clocks
    say_left(left::freed, granted());
    BOOST_TEST(!two->done());
    BOOST_TEST_REQUIRE(left_count() == 2u);
    BOOST_TEST(last_release().owner == owner);
    say_left(left::not_owner);
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner != owner);
}

// Whichever of the requests has brought it in.
BOOST_AUTO_TEST_CASE(the_time_of_a_next_owner_begins_with_the_first_request)
{
    const auto two = bring_in_the_next({.lease_time = 10s});
    advance(5100ms); // the first was not answered in time
    BOOST_TEST_REQUIRE(left_count() == 2u);
    store->complete_release(0, {}, {.result = left::freed, .next = granted()});
    poll();
    BOOST_TEST(code(*two) == error_code());
    const lease held = std::move(two->value<1>());
    skip(4798ms - 1ns); // but for the drift of clocks
    BOOST_TEST(held.valid());
    skip(1ns);
    BOOST_TEST(!held.valid());
}

BOOST_AUTO_TEST_CASE(a_next_owner_of_which_nothing_is_known_is_asked_for_again)
{
    const auto two = bring_in_the_next();
    const std::string next = last_release().next->owner;
    fail_release(errc::outcome_unknown);
    BOOST_TEST(asked() == 1u); // the end of the owner has not been reported
    advance(1s);
    BOOST_TEST_REQUIRE(left_count() == 2u);
    BOOST_TEST_REQUIRE(last_release().next.has_value());
    BOOST_TEST(last_release().next->owner == next);
    say_left(left::not_owner); // the first one did it, and may have brought the next one in
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner == next);
    BOOST_TEST(last_acquire().again);
    say_in_line();
    turn(next);
    grant();
    BOOST_TEST(code(*two) == error_code());
}

BOOST_AUTO_TEST_CASE(a_request_without_an_answer_is_repeated_under_the_same_owner)
{
    const auto op = lock("a");
    const std::string owner = last_acquire().owner;
    fail_acquire(errc::outcome_unknown);
    BOOST_TEST(stats().orphans == 0u);
    BOOST_TEST(left_count() == 0u);
    advance(40ms);
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner == owner);
    BOOST_TEST(last_acquire().again);
    grant();
    BOOST_TEST(code(*op) == error_code());
}

BOOST_AUTO_TEST_CASE(a_request_that_is_not_answered_in_time_is_repeated_under_the_same_owner)
{
    const auto op = lock(spec("a", {.lease_time = 1s}));
    const std::string owner = last_acquire().owner;
    advance(1s);
    BOOST_TEST(left_count() == 0u);
    advance(40ms);
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner == owner);
    BOOST_TEST(last_acquire().again);
}

// What was lost may still run, where nothing ends it, until its limit.
BOOST_AUTO_TEST_CASE(an_owner_of_which_a_request_was_lost_is_left_once_more_after_its_limit)
{
    const auto op = lock("a");
    const std::string owner = last_acquire().owner;
    fail_acquire(errc::outcome_unknown);
    advance(40ms);
    grant();
    release(std::move(op->value<1>()));
    BOOST_TEST(left_count() == 1u);
    say_left(left::freed);
    BOOST_TEST(left_count() == 2u);
    BOOST_TEST(last_release().owner == owner);
    say_left(left::not_owner); // no last word yet
    advance(4800ms);
    BOOST_TEST(left_count() == 2u);
    advance(200ms);
    BOOST_TEST_REQUIRE(left_count() == 3u);
    BOOST_TEST(last_release().owner == owner);
    say_left(left::not_owner);
    advance(1min);
    BOOST_TEST(left_count() == 3u);
    check_idle(*this);
}

// A lost request may be stored after the reply that the holder uses.
BOOST_AUTO_TEST_CASE(who_promises_less_than_a_lost_request_asks_under_another_owner)
{
    const lock_options lost{.lease_time = 10s, .dead_holder_grace = 1s};
    for (const auto grace : {0ms, 500ms, 1000ms, 1001ms}) {
        BOOST_TEST_CONTEXT("grace " << grace.count() << " ms")
        {
            in_line e(false);
            const auto one = e.lock(e.spec("a", lost));
            const std::string owner = e.last_acquire().owner;
            const auto two = e.lock(e.spec("a", {.lease_time = 10s, .dead_holder_grace = grace}));
            e.fail_acquire(errc::outcome_unknown);
            e.cancel(one);
            e.advance(40ms);
            const bool promises_less = grace == 0ms || grace > 1s;
            if (promises_less) {
                BOOST_TEST(e.asked() == 1u);
                BOOST_TEST_REQUIRE(e.left_count() == 1u);
                BOOST_TEST(e.last_release().owner == owner);
                e.say_left(left::not_owner);
                // Once more for requests that may be executed, but without a wait.
                BOOST_TEST(e.left_count() == 2u);
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

BOOST_AUTO_TEST_CASE(a_lost_promise_that_cannot_be_written_down_any_more_binds_nobody)
{
    const auto one = lock(spec("a", {.dead_holder_grace = 1s}));
    const std::string owner = last_acquire().owner;
    const auto two = lock("a");
    fail_acquire(errc::outcome_unknown);
    cancel(one);
    disconnect();
    advance(5s);
    connect();
    BOOST_TEST(left_count() == 0u);
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner == owner);
    grant();
    BOOST_TEST(code(*two) == error_code());
}

// It had no memory for the promise, and may have some for the one that was lost.
BOOST_AUTO_TEST_CASE(a_grant_without_the_promise_is_given_back_where_a_lost_one_may_be_written_down)
{
    const auto one = lock(spec("a", {.dead_holder_grace = 1s}));
    const std::string owner = last_acquire().owner;
    fail_acquire(errc::outcome_unknown);
    advance(40ms);
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner == owner);
    say_granted(false);
    BOOST_TEST(!one->done());
    BOOST_TEST_REQUIRE(left_count() == 1u);
    BOOST_TEST(last_release().owner == owner);
    say_left(left::freed);
    BOOST_TEST_REQUIRE(asked() == 3u);
    BOOST_TEST(last_acquire().owner != owner);
    say_granted(false);
    BOOST_TEST(code(*one) == error_code());
}

// Where the request that was granted was sent when the lost one could not run any more.
BOOST_AUTO_TEST_CASE(a_grant_without_the_promise_counts_where_no_lost_one_could_follow_it)
{
    const auto one = lock(spec("a", {.dead_holder_grace = 1s}));
    fail_acquire(errc::outcome_unknown);
    disconnect();
    advance(5s);
    connect();
    BOOST_TEST_REQUIRE(asked() == 2u);
    say_granted(false);
    BOOST_TEST(code(*one) == error_code());
    BOOST_TEST(left_count() == 0u);
}

BOOST_AUTO_TEST_CASE(a_new_connection_looks_at_once_under_the_same_owner)
{
    const auto op = lock("a");
    const std::string owner = last_acquire().owner;
    say_in_line();
    disconnect();
    BOOST_TEST(asked() == 1u);
    connect();
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner == owner);
    BOOST_TEST(last_acquire().again);
}

BOOST_AUTO_TEST_CASE(connections_that_come_and_go_bring_no_request_each)
{
    const auto op = lock(spec("a", {.backoff_floor = 1s, .backoff_ceiling = 1s}));
    fail_acquire(errc::store_refused);
    disconnect();
    connect();
    BOOST_TEST(asked() == 2u); // the first failure is made up for
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

BOOST_AUTO_TEST_CASE(a_try_does_not_wait_in_line)
{
    const auto op = lock(spec("a"), 0s);
    BOOST_TEST(!last_acquire().waits);
    say_held();
    BOOST_TEST((code(*op) == errc::held));
    BOOST_TEST(left_count() == 0u);
    const std::string owner = last_acquire().owner;
    const auto next = lock("a");
    BOOST_TEST(last_acquire().owner != owner);
    BOOST_TEST(last_acquire().waits);
}

BOOST_AUTO_TEST_CASE(the_answer_to_a_way_that_cannot_join_is_asked_again)
{
    const auto op = lock("a");
    const std::string owner = last_acquire().owner;
    say_held();
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner == owner);
    BOOST_TEST(last_acquire().again);
    BOOST_TEST(last_acquire().waits);
    say_in_line();
    BOOST_TEST(asked() == 2u);
}

BOOST_AUTO_TEST_CASE(a_turn_of_an_owner_that_has_ended_is_given_back)
{
    turn("an-owner:1");
    BOOST_TEST_REQUIRE(left_count() == 1u);
    BOOST_TEST(last_release().owner == "an-owner:1");
    BOOST_TEST(last_release().name == "a");
    say_left(left::freed);
    check_idle(*this);
    // That of one that holds the lock is old news.
    const lease held = taken(spec("a"));
    turn(held.owner().id());
    BOOST_TEST(left_count() == 1u);
}

// What a message says may be anything.
BOOST_AUTO_TEST_CASE(a_turn_of_what_is_longer_than_any_owner_is_nobodys)
{
    turn(std::string(57, '1'));
    BOOST_TEST_REQUIRE(left_count() == 1u);
    say_left(left::freed);
    turn(std::string(58, '1'));
    turn(std::string(1'000'000, '1'));
    BOOST_TEST(left_count() == 1u);
    check_idle(*this);
}

BOOST_AUTO_TEST_CASE(a_limit_ends_the_wait_and_leaves_the_line)
{
    const auto op = lock(spec("a"), 2s);
    say_in_line();
    advance(2s);
    BOOST_TEST((code(*op) == errc::timed_out));
    BOOST_TEST(left_count() == 1u);
}

BOOST_AUTO_TEST_CASE(a_shutdown_leaves_the_line)
{
    const auto in = lock("a");
    say_in_line();
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
    store->complete_release(0, {}, {.result = left::left_line});
    poll();
    BOOST_TEST(!ended->done());
    store->complete_release(1, {}, {.result = left::freed});
    poll();
    BOOST_TEST(code(*ended) == error_code());
}

BOOST_AUTO_TEST_CASE(a_shutdown_takes_out_the_next_owner_of_a_release_under_way)
{
    const auto two = bring_in_the_next();
    const std::string next = last_release().next->owner;
    const auto ended = shutdown();
    BOOST_TEST_REQUIRE(left_count() == 2u);
    BOOST_TEST(last_release().owner == next);
    store->complete_release(0, {}, {.result = left::passed_on, .next = waits(0, 1s)});
    poll();
    say_left(left::left_line);
    BOOST_TEST(code(*ended) == error_code());
    BOOST_TEST(asked() == 1u);
}

BOOST_AUTO_TEST_CASE(who_lost_the_lock_begins_anew)
{
    const auto one = lock(spec("a", short_lease));
    grant();
    lease held = std::move(one->value<1>());
    const std::string before = held.owner().id();
    const auto two = lock(spec("a", short_lease));
    advance(400ms);
    renew_all(renewal_result::gone);
    BOOST_TEST(!held.valid());
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner != before);
    grant();
    BOOST_TEST(code(*two) == error_code());
}

BOOST_AUTO_TEST_CASE(what_the_store_will_never_do_is_told_to_all)
{
    const auto one = lock("a");
    const auto two = lock("a");
    fail_acquire(errc::wrong_type);
    BOOST_TEST((code(*one) == errc::wrong_type));
    BOOST_TEST((code(*two) == errc::wrong_type));
    BOOST_TEST(left_count() == 0u);
    check_idle(*this);
}

BOOST_AUTO_TEST_CASE(what_a_request_asks_for)
{
    const auto quiet = lock("a");
    BOOST_TEST(last_acquire().fences == 1001u);
    BOOST_TEST(last_acquire().asks_holder); // there is an observer
    say_in_line();
    const auto next = lock(spec("b", {.lease_time = 1s, .handoff_count = 5}));
    BOOST_TEST(last_acquire().fences == 6u);
    BOOST_TEST((last_acquire().budget == 1s));
    BOOST_TEST((last_acquire().lease == 1s));
}

BOOST_AUTO_TEST_CASE(what_a_release_asks_for_the_next_owner)
{
    // There is but one fence, which the release ends with.
    const lock_options brief{.lease_time = 1s};
    const auto one = lock(spec("a", brief));
    grant();
    const auto two = lock(spec("a", brief));
    release(std::move(one->value<1>()));
    BOOST_TEST_REQUIRE(left_count() == 1u);
    BOOST_TEST_REQUIRE(last_release().next.has_value());
    const auto next = *last_release().next;
    BOOST_TEST(next.name == "a");
    BOOST_TEST(next.entry == "");
    BOOST_TEST(next.fences == 1001u);
    BOOST_TEST((next.lease == 1s));
    BOOST_TEST((next.budget == 1s)); // what is granted later is worth nothing
    BOOST_TEST((next.presence == 10s));
    BOOST_TEST((next.claim == 1s));

    // It has the fences to hand over with.
    const auto three = lock(spec("a", brief));
    say_left(left::freed, granted(1001));
    BOOST_TEST(code(*two) == error_code());
    release(std::move(two->value<1>()));
    BOOST_TEST(code(*three) == error_code());
    BOOST_TEST(left_count() == 1u);
}

// The store's clock may have stepped back, or stand still.
BOOST_AUTO_TEST_CASE(the_first_in_line_does_not_sleep_on_a_time_to_live_that_is_odd)
{
    const lock_options how{.lease_time = 1s, .backoff_floor = 20ms, .backoff_ceiling = 40ms};
    for (const auto odd : {-1ms, 10'001ms}) {
        in_line e;
        const auto op = e.lock(e.spec("a", how));
        e.say_in_line(0, odd);
        BOOST_TEST(e.seen->count(recording_observer::kind::suspect_expiry) == 1u);
        e.advance(20ms);
        BOOST_TEST(e.asked() == 2u);
        e.say_in_line(1, odd); // the first sees to it
        e.advance(900ms);
        BOOST_TEST(e.asked() == 2u);
        BOOST_TEST(e.seen->count(recording_observer::kind::suspect_expiry) == 1u);
    }
    const auto op = lock(spec("a", how));
    say_in_line(0, 1s);
    advance(1002ms);
    BOOST_TEST(asked() == 2u);
    BOOST_TEST(seen->count(recording_observer::kind::suspect_expiry) == 0u);
    say_in_line(0, 1s);
    BOOST_TEST(seen->count(recording_observer::kind::suspect_expiry) == 1u);
    advance(20ms);
    BOOST_TEST(asked() == 3u);
}

// An external client holds it and sends no notification: the first waiter polls as without a queue.
BOOST_AUTO_TEST_CASE(the_first_in_line_looks_with_backoff_while_a_stranger_holds)
{
    const auto op = lock(spec("a", {.backoff_floor = 20ms, .backoff_ceiling = 80ms}));
    std::chrono::milliseconds left = 10s;
    for (const auto pause : {20ms, 40ms, 80ms, 80ms, 80ms}) {
        const std::size_t before = asked();
        auto told = waits(0, left -= pause);
        told.untold = true;
        store->complete_acquire(store->acquire_count() - 1, {}, told);
        poll();
        BOOST_TEST(asked() == before);
        advance(pause);
        BOOST_TEST(asked() == before + 1);
    }
    // The others wait for the first to find out.
    auto behind = waits(1, 9s);
    behind.untold = true;
    store->complete_acquire(store->acquire_count() - 1, {}, behind);
    poll();
    advance(2s);
    BOOST_TEST(asked() == 6u);
    advance(1334ms);
    BOOST_TEST(asked() == 7u);
    // It is ours again: the queue notifies, and the pauses start again.
    say_in_line(0, 6s);
    advance(2s);
    BOOST_TEST(asked() == 7u);
    advance(1334ms);
    BOOST_TEST(asked() == 8u);
    auto again = waits(0, 2s);
    again.untold = true;
    store->complete_acquire(store->acquire_count() - 1, {}, again);
    poll();
    advance(20ms);
    BOOST_TEST(asked() == 9u);
}

BOOST_AUTO_TEST_CASE(a_client_that_listens_again_looks_at_once)
{
    const auto op = lock("a");
    const std::string owner = last_acquire().owner;
    say_in_line();
    store->listen();
    poll();
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner == owner);
    BOOST_TEST(last_acquire().again);
    // While the store cannot be reached there is nothing to request.
    say_in_line();
    disconnect();
    store->listen();
    poll();
    BOOST_TEST(asked() == 2u);
    connect();
    BOOST_TEST(asked() == 3u);
    // No notification without a waiter.
    grant();
    store->listen();
    poll();
    BOOST_TEST(asked() == 3u);
}

// A grant may be reported over a connection of its own, before that of the commands is back.
BOOST_AUTO_TEST_CASE(a_turn_while_the_store_cannot_be_reached_is_no_failure)
{
    const auto op = lock(spec("a", {.backoff_floor = 1s, .backoff_ceiling = 1s}));
    const std::string owner = last_acquire().owner;
    fail_acquire(errc::store_unavailable);
    disconnect();
    turn(owner);
    BOOST_TEST(asked() == 1u);
    connect();
    BOOST_TEST(asked() == 2u);
    grant();
    BOOST_TEST(op->done());
}

BOOST_AUTO_TEST_CASE(the_next_owner_looks_as_its_place_says)
{
    for (const std::uint32_t place : {0u, 2u, 3u}) {
        in_line e;
        const auto op = e.bring_in_the_next();
        e.say_left(left::passed_on, waits(place, 500ms));
        const clock::duration looks_after = place < 3 ? 502ms + place * 50ms : 2500ms;
        e.advance(looks_after - 1ms);
        BOOST_TEST(e.asked() == 1u);
        e.advance(place < 3 ? 1ms : 835ms);
        BOOST_TEST(e.asked() == 2u);
    }
}

BOOST_AUTO_TEST_CASE(the_next_owner_may_be_told_of_its_turn_before_it_is_told_of_its_place)
{
    const auto op = bring_in_the_next();
    const std::string next = last_release().next->owner;
    turn(next);
    BOOST_TEST(left_count() == 1u);
    BOOST_TEST(asked() == 1u);
    say_left(left::passed_on, waits(0, 1s));
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner == next);
    BOOST_TEST(last_acquire().again);
}

BOOST_AUTO_TEST_CASE(a_next_owner_that_nobody_waits_for_any_more_is_taken_out)
{
    for (const bool is_granted : {true, false}) {
        in_line e;
        const auto op = e.bring_in_the_next();
        const std::string next = e.last_release().next->owner;
        e.cancel(op);
        BOOST_TEST(e.left_count() == 1u);
        e.say_left(is_granted ? left::freed : left::passed_on,
                   is_granted ? e.granted() : waits(0, 1s));
        BOOST_TEST_REQUIRE(e.left_count() == 2u);
        BOOST_TEST(e.last_release().owner == next);
        BOOST_TEST(!e.last_release().next);
        e.say_left(is_granted ? left::freed : left::left_line);
        e.advance(1min);
        BOOST_TEST(e.left_count() == 2u);
        BOOST_TEST(e.asked() == 1u);
        check_idle(e);
    }
}

BOOST_AUTO_TEST_CASE(a_try_that_comes_while_the_next_owner_joins_is_told_that_it_is_held)
{
    const auto op = bring_in_the_next();
    const std::string next = last_release().next->owner;
    cancel(op);
    const auto once = lock(spec("a"), 0s);
    BOOST_TEST(!once->done());
    say_left(left::passed_on, waits(0, 1s));
    BOOST_TEST(code(*once) == errc::held);
    BOOST_TEST_REQUIRE(left_count() == 2u);
    BOOST_TEST(last_release().owner == next);
}

// No owner joins without a waiter.
BOOST_AUTO_TEST_CASE(who_waited_has_gone_before_the_release_could_be_sent)
{
    const auto what = spec("a", {.handoff_count = 0});
    const auto one = lock(what);
    grant();
    const auto two = lock(what);
    disconnect();
    release(std::move(one->value<1>()));
    cancel(two);
    connect();
    BOOST_TEST_REQUIRE(left_count() == 1u);
    BOOST_TEST(!last_release().next);
    say_left(left::freed);
    BOOST_TEST(asked() == 1u);
    const auto three = lock(what);
    BOOST_TEST(left_count() == 1u); // there is no owner that the store could know of
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(!last_acquire().again);
    grant();
    BOOST_TEST(code(*three) == error_code());
}

BOOST_AUTO_TEST_CASE(a_grant_that_does_not_serve_who_waits_now_is_given_back)
{
    const auto longer = spec("a", {.lease_time = 20s});
    {
        const auto one = lock("a");
        const std::string owner = last_acquire().owner;
        const auto two = lock(longer);
        cancel(one);
        grant();
        BOOST_TEST(!two->done());
        BOOST_TEST_REQUIRE(left_count() == 1u);
        BOOST_TEST(last_release().owner == owner);
        say_left(left::freed);
        BOOST_TEST_REQUIRE(asked() == 2u);
        BOOST_TEST((last_acquire().lease == 20s));
        grant();
        BOOST_TEST(code(*two) == error_code());
        release(std::move(two->value<1>()));
        say_left(left::freed);
    }
    in_line e;
    const auto one = e.bring_in_the_next();
    const std::string owner = e.last_release().next->owner;
    const auto two = e.lock(e.spec("a", {.lease_time = 20s}));
    e.cancel(one);
    e.say_left(left::freed, e.granted());
    BOOST_TEST(!two->done());
    BOOST_TEST_REQUIRE(e.left_count() == 2u);
    BOOST_TEST(e.last_release().owner == owner);
    e.say_left(left::freed);
    BOOST_TEST_REQUIRE(e.asked() == 2u);
    BOOST_TEST((e.last_acquire().lease == 20s));
}

BOOST_AUTO_TEST_CASE(a_grant_at_its_deadline_is_given_back)
{
    const clock::duration valid = 1s - fsm::drift_margin(1s);
    for (const bool in_time : {true, false}) {
        in_line e;
        const auto op = e.lock(e.spec("a", {.lease_time = 1s}));
        const std::string owner = e.last_acquire().owner;
        e.skip(in_time ? valid - 1ns : valid);
        e.grant();
        BOOST_TEST(op->done() == in_time);
        BOOST_TEST_REQUIRE(e.left_count() == (in_time ? 0u : 1u));
        if (in_time)
            continue;
        BOOST_TEST(e.last_release().owner == owner);
        e.say_left(left::freed);
        BOOST_TEST_REQUIRE(e.asked() == 2u);
        BOOST_TEST(e.last_acquire().owner != owner);
    }
}

BOOST_AUTO_TEST_CASE(a_request_that_came_too_late_is_asked_again_at_once_and_then_after_a_pause)
{
    const auto op = lock(spec("a", {.backoff_floor = 1s, .backoff_ceiling = 1s}));
    const std::string owner = last_acquire().owner;
    say_late();
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner == owner);
    BOOST_TEST(!last_acquire().again); // neither has run
    say_late();
    BOOST_TEST(asked() == 2u);
    advance(499ms);
    BOOST_TEST(asked() == 2u);
    advance(501ms);
    BOOST_TEST_REQUIRE(asked() == 3u);
    grant();
    BOOST_TEST(code(*op) == error_code());
}

BOOST_AUTO_TEST_CASE(the_pauses_after_failures_are_as_the_options_say)
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
    // A reply, and they are short again.
    say_in_line();
    turn(last_acquire().owner);
    BOOST_TEST((pause_after_failure() <= 1010ms));
    BOOST_TEST((pause_after_failure() <= 2010ms));
    BOOST_TEST((pause_after_failure() <= 4010ms));
    say_late();
    const auto count = asked();
    say_late();
    advance(1010ms);
    BOOST_TEST(asked() == count + 1);
}

// One failure is made up for by a connection, two in a row are not: in a row is what counts.
BOOST_AUTO_TEST_CASE(failures_with_an_answer_between_them_or_of_another_wait_are_not_in_a_row)
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
    say_in_line();
    turn(last_acquire().owner);
    BOOST_TEST(fail_and_reconnect() == 1u);
    BOOST_TEST(fail_and_reconnect() == 0u);
    const auto stays = lock("b");
    cancel(op);
    say_left(left::not_owner);
    const auto next = lock(what);
    BOOST_TEST(fail_and_reconnect() == 1u);
}

// It begins when the owner of the earlier waiters has left the queue.
BOOST_AUTO_TEST_CASE(a_wait_that_follows_another_pauses_as_its_own_options_say)
{
    const auto before = lock(spec("a", {.backoff_floor = 1min, .backoff_ceiling = 1min}));
    say_in_line();
    for (int i = 0; i < 2; ++i) {
        turn(last_acquire().owner);
        fail_acquire(errc::store_refused);
    }
    cancel(before);
    const auto op = lock("a");
    say_left(left::left_line);
    BOOST_TEST_REQUIRE(asked() == 4u);
    fail_acquire(errc::store_refused);
    disconnect();
    connect();
    BOOST_TEST_REQUIRE(asked() == 5u); // one failure is made up for
    fail_acquire(errc::store_refused);
    advance(80ms);
    BOOST_TEST(asked() == 6u);
}

BOOST_AUTO_TEST_CASE(what_was_not_executed_leaves_nothing_to_give_back)
{
    const auto op = lock("a");
    const std::string refused = last_acquire().owner;
    fail_acquire(errc::store_refused);
    cancel(op);
    BOOST_TEST(left_count() == 0u);
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
    BOOST_TEST(left_count() == 1u);
    check_idle(*this);
}

BOOST_AUTO_TEST_CASE(an_owner_may_hold_the_lock_when_its_request_was_not_answered_in_time)
{
    const auto op = lock("a");
    advance(5s);
    cancel(op);
    BOOST_TEST_REQUIRE(left_count() == 1u);
    BOOST_TEST(stats().orphans == 1u);
    say_left(left::freed);
    BOOST_TEST(stats().orphans == 0u);
    check_idle(*this);
}

BOOST_AUTO_TEST_CASE(an_owner_whose_requests_cannot_run_any_more_is_left_once)
{
    const auto op = lock("a");
    fail_acquire(errc::outcome_unknown);
    disconnect();
    store->settle();
    connect();
    say_in_line();
    cancel(op);
    BOOST_TEST_REQUIRE(left_count() == 1u);
    say_left(left::not_owner);
    BOOST_TEST(left_count() == 1u);
    BOOST_TEST(stats().orphans == 0u);
    check_idle(*this);
}

// What was answered before then says nothing of what runs later.
BOOST_AUTO_TEST_CASE(an_owner_in_doubt_that_nobody_waits_for_is_left_after_its_limit)
{
    const auto op = lock("a");
    const std::string owner = last_acquire().owner;
    fail_acquire(errc::outcome_unknown);
    cancel(op);
    BOOST_TEST_REQUIRE(left_count() == 1u);
    BOOST_TEST(stats().orphans == 1u);
    say_left(left::not_owner); // so a new waiter need not wait
    BOOST_TEST_REQUIRE(left_count() == 2u);
    BOOST_TEST(last_release().owner == owner);
    BOOST_TEST(stats().orphans == 1u);
    say_left(left::not_owner);
    advance(5s);
    BOOST_TEST(left_count() == 2u);
    advance(2ms);
    BOOST_TEST_REQUIRE(left_count() == 3u);
    BOOST_TEST(last_release().owner == owner);
    say_left(left::not_owner);
    advance(1min);
    BOOST_TEST(left_count() == 3u);
    check_idle(*this);
}

// The store has said that it does not know the owner: that a request of it may run yet is no reason
// to keep others waiting.
BOOST_AUTO_TEST_CASE(who_comes_after_an_owner_in_doubt_waits_for_no_limit)
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

// A later request with less time does not make the earlier one run sooner.
BOOST_AUTO_TEST_CASE(the_last_limit_of_all_requests_of_an_owner_counts)
{
    for (const bool shuts_down : {false, true}) {
        in_line e;
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
            e.say_left(left::not_owner); // which ends the wait of a new waiter, and not the doubt
        }
        const std::size_t before = e.left_count();
        BOOST_TEST_REQUIRE(before == (shuts_down ? 1u : 2u));
        e.say_left(left::not_owner);
        e.advance(limit - e.time.now());
        BOOST_TEST(e.left_count() == before);
        e.advance(2ms);
        BOOST_TEST_REQUIRE(e.left_count() == before + 1);
        BOOST_TEST(e.last_release().owner == owner);
    }
}

// What comes too late is executed there, and is at its end a lease time later.
BOOST_AUTO_TEST_CASE(in_a_store_that_refuses_nothing_late_a_next_owner_is_left_a_lease_time_later)
{
    in_line e(false);
    const auto op = e.bring_in_the_next({.lease_time = 20s});
    const std::string next = e.last_release().next->owner;
    e.cancel(op);
    e.fail_release(errc::permission_denied); // it is not requested again
    BOOST_TEST_REQUIRE(e.left_count() == 2u);
    BOOST_TEST(e.last_release().owner == next);
    e.say_left(left::not_owner);
    BOOST_TEST_REQUIRE(e.left_count() == 3u);
    BOOST_TEST(e.last_release().owner == next);
    e.say_left(left::not_owner);
    e.advance(5s + 20s);
    BOOST_TEST(e.left_count() == 3u);
    e.advance(2ms);
    BOOST_TEST_REQUIRE(e.left_count() == 4u);
    BOOST_TEST(e.last_release().owner == next);
}

// Both releases may have run, or run yet, and bring the next owner in.
BOOST_AUTO_TEST_CASE(a_next_owner_of_which_nothing_is_known_is_left_once_more_after_its_limit)
{
    const auto op = bring_in_the_next({.lease_time = 20s});
    const std::string next = last_release().next->owner;
    fail_release(errc::outcome_unknown);
    while (left_count() == 1u)
        advance(1ms);
    const auto sent = time.now();
    say_left(left::not_owner);
    grant();
    release(std::move(op->value<1>()));
    BOOST_TEST_REQUIRE(left_count() == 3u);
    BOOST_TEST(last_release().owner == next);
    say_left(left::freed);
    BOOST_TEST_REQUIRE(left_count() == 4u);
    BOOST_TEST(last_release().owner == next);
    say_left(left::not_owner);
    advance(sent + 5s - time.now());
    BOOST_TEST(left_count() == 4u);
    advance(2ms);
    BOOST_TEST(left_count() == 5u);
}

BOOST_AUTO_TEST_CASE(a_next_owner_that_is_known_is_left_once)
{
    const auto op = bring_in_the_next();
    say_left(left::freed, granted());
    release(std::move(op->value<1>()));
    BOOST_TEST(left_count() == 2u);
    say_left(left::freed);
    advance(1min);
    BOOST_TEST(left_count() == 2u);
    check_idle(*this);
}

BOOST_AUTO_TEST_CASE(what_failed_before_a_grant_is_not_told_after_it)
{
    const auto op = lock("a");
    fail_acquire(errc::store_refused);
    advance(40ms);
    grant();
    BOOST_TEST(code(*op) == error_code());
    const auto once = lock(spec("a"), 0s);
    BOOST_TEST(code(*once) == errc::held);
}

BOOST_AUTO_TEST_CASE(who_waits_for_the_window_leaves_it)
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
    BOOST_TEST(left_count() == 0u);
}

BOOST_AUTO_TEST_CASE(who_waited_for_the_window_asks_over_the_next_connection)
{
    fill_the_window();
    const std::size_t room = asked();
    const auto op = lock("a");
    disconnect();
    store->grant(0, fence++);
    poll();
    BOOST_TEST(asked() == room); // there is room, and nothing to send it over
    connect();
    BOOST_TEST(asked() == room + 1);
    BOOST_TEST(last_acquire().name == "a");
}

BOOST_AUTO_TEST_CASE(nothing_is_asked_after_a_shutdown)
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
    // Each of the outstanding ones, once.
    BOOST_TEST(left_count() == room);
}

// It takes back all that the store may have given, or may yet give.
BOOST_AUTO_TEST_CASE(a_shutdown_while_a_request_is_under_way_waits_until_it_cannot_run_any_more)
{
    const auto op = lock(spec("a", {.lease_time = 1s}));
    const std::string owner = last_acquire().owner;
    const auto ended = shutdown();
    BOOST_TEST_REQUIRE(left_count() == 1u);
    say_left(left::not_owner);
    BOOST_TEST(!ended->done());
    advance(1s);
    BOOST_TEST(left_count() == 1u);
    advance(2ms);
    BOOST_TEST_REQUIRE(left_count() == 2u);
    BOOST_TEST(last_release().owner == owner);
    grant(); // its reply, at last
    BOOST_TEST(left_count() == 2u);
    say_left(left::freed);
    BOOST_TEST(code(*ended) == error_code());
}

BOOST_AUTO_TEST_CASE(a_shutdown_leaves_each_owner_once)
{
    const lease held = taken(spec("held"));
    const auto gone = lock("gone");
    say_in_line();
    cancel(gone);
    BOOST_TEST(left_count() == 1u);
    const auto ended = shutdown();
    BOOST_TEST_REQUIRE(left_count() == 2u);
    BOOST_TEST(store->releases()[1].owner == held.owner().id());
    store->complete_release(0, {}, {.result = left::left_line});
    store->complete_release(1, {}, {.result = left::freed});
    poll();
    BOOST_TEST(code(*ended) == error_code());
    BOOST_TEST(left_count() == 2u);
}

BOOST_AUTO_TEST_CASE(a_shutdown_during_a_release_leaves_again_what_may_still_be_granted)
{
    const auto op = lock(spec("a", {.lease_time = 2s}));
    const std::string owner = last_acquire().owner;
    fail_acquire(errc::outcome_unknown);
    advance(40ms);
    grant();
    release(std::move(op->value<1>()));
    BOOST_TEST(left_count() == 1u);
    const auto ended = shutdown();
    BOOST_TEST_REQUIRE(left_count() == 2u);
    store->complete_release(0, {}, {.result = left::freed});
    store->complete_release(1, {}, {.result = left::not_owner});
    poll();
    BOOST_TEST(!ended->done());
    advance(2s);
    BOOST_TEST_REQUIRE(left_count() == 3u);
    BOOST_TEST(last_release().owner == owner);
    say_left(left::not_owner);
    BOOST_TEST(code(*ended) == error_code());
}

BOOST_AUTO_TEST_CASE(a_next_owner_that_is_granted_after_a_shutdown_is_left_once)
{
    const auto op = bring_in_the_next({.lease_time = 1s});
    const std::string next = last_release().next->owner;
    const auto ended = shutdown();
    BOOST_TEST_REQUIRE(left_count() == 2u);
    // It overtakes the release that carries the owner.
    say_left(left::not_owner);
    store->complete_release(0, {}, {.result = left::freed, .next = granted()});
    poll();
    BOOST_TEST(left_count() == 2u);
    BOOST_TEST(!ended->done());
    advance(1002ms);
    BOOST_TEST_REQUIRE(left_count() == 3u);
    BOOST_TEST(last_release().owner == next);
    say_left(left::freed);
    BOOST_TEST(code(*ended) == error_code());
}

// It would be in the queue again, after it was removed.
BOOST_AUTO_TEST_CASE(a_release_that_is_repeated_after_a_shutdown_brings_nobody_in)
{
    const auto op = bring_in_the_next();
    fail_release(errc::outcome_unknown);
    const auto ended = shutdown();
    advance(1s);
    BOOST_TEST_REQUIRE(left_count() == 3u);
    for (std::size_t i = 1; i < 3; ++i)
        BOOST_TEST(!store->releases()[i].next);
}

BOOST_AUTO_TEST_SUITE_END()
