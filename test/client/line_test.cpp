// How a client waits in the line of a store that keeps one.
#include <boost/test/unit_test.hpp>

#include "support/core_checks.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using left = release_reply::outcome;

namespace core_line_test {

inline std::shared_ptr<fake_store> store_with_a_line()
{
    auto made = std::make_shared<fake_store>();
    made->can.queues = true;
    made->can.announces = false;
    return made;
}

struct in_line : core_fixture
{
    in_line() : core_fixture(store_with_a_line()) {}

    /// The latest acquire is told that another has the lock and that it is in line.
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

    /// The answer to the latest release, with what became of the owner that it carried.
    void say_left(left how, std::optional<acquire_reply> next = {})
    {
        store->complete_release(store->release_count() - 1, {}, {.result = how, .next = next});
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
};

} // namespace core_line_test

BOOST_FIXTURE_TEST_SUITE(core_line, core_line_test::in_line)

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
    // Who is further back only says that it is there, in time.
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

    // Whoever comes now has another owner, and waits for the end of this one.
    const auto next = lock("a");
    BOOST_TEST(asked() == 1u);
    say_left(left::left_line);
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner != owner);
    BOOST_TEST(!last_acquire().again);
    grant();
    BOOST_TEST(code(*next) == error_code());
}

BOOST_AUTO_TEST_CASE(a_grant_that_nobody_waits_for_any_more_is_given_back)
{
    const auto op = lock("a");
    const std::string owner = last_acquire().owner;
    cancel(op);
    BOOST_TEST(left_count() == 0u); // its answer decides
    grant();
    BOOST_TEST_REQUIRE(left_count() == 1u);
    BOOST_TEST(last_release().owner == owner);
    say_left(left::freed);
    check_idle(*this);
}

BOOST_AUTO_TEST_CASE(a_release_brings_in_the_next_owner_when_others_wait_here)
{
    const auto what = spec("a", {.handoff_count = 0});
    const auto one = lock(what);
    grant();
    lease held = std::move(one->value<1>());
    const auto two = lock(what);
    release(std::move(held));
    BOOST_TEST_REQUIRE(left_count() == 1u);
    const auto sent = last_release();
    BOOST_TEST_REQUIRE(sent.next.has_value());
    BOOST_TEST(sent.next->owner != sent.owner);
    BOOST_TEST(sent.next->waits);
    BOOST_TEST((sent.next->lease == 30s));
    BOOST_TEST((sent.next->budget == 5s));
    say_left(left::passed_on, waits(0, 1s));
    BOOST_TEST(asked() == 1u); // it is in line already
    turn(sent.next->owner);
    BOOST_TEST_REQUIRE(asked() == 2u);
    BOOST_TEST(last_acquire().owner == sent.next->owner);
    grant();
    BOOST_TEST(code(*two) == error_code());
}

BOOST_AUTO_TEST_CASE(the_next_owner_has_the_lock_at_once_when_nobody_else_waits)
{
    const auto what = spec("a", {.lease_time = 1s, .handoff_count = 0});
    const auto one = lock(what);
    grant();
    lease held = std::move(one->value<1>());
    const auto two = lock(what);
    release(std::move(held));
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
    const auto what = spec("a", {.lease_time = 1s, .handoff_count = 0});
    const auto one = lock(what);
    grant();
    lease held = std::move(one->value<1>());
    const auto two = lock(what);
    release(std::move(held));
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

BOOST_AUTO_TEST_CASE(a_next_owner_of_which_nothing_is_known_is_asked_for_again)
{
    const auto what = spec("a", {.handoff_count = 0});
    const auto one = lock(what);
    grant();
    lease held = std::move(one->value<1>());
    const auto two = lock(what);
    release(std::move(held));
    const std::string next = last_release().next->owner;
    fail_release(errc::outcome_unknown);
    BOOST_TEST(asked() == 1u); // the end of the owner has not been told
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
    const auto what = spec("a", {.handoff_count = 0});
    const auto one = lock(what);
    grant();
    lease held = std::move(one->value<1>());
    const auto two = lock(what);
    release(std::move(held));
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

BOOST_AUTO_TEST_SUITE_END()
