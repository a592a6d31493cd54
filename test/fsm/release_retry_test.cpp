#include <boost/test/unit_test.hpp>

#include "fsm/lease/release_retry.hpp"
#include "support/print.hpp"

using namespace leasehold;
using namespace std::chrono_literals;
using fsm::release;
using action = release::action;
using reply = release_reply::outcome;

namespace {

constexpr clock::time_point start{1000s};
constexpr auto past = clock::time_point::min();
constexpr auto over = start + 30s;

release held()
{
    return {past, over, false};
}

release orphan()
{
    return {start + 5s, start + 35s, false};
}

} // namespace

BOOST_AUTO_TEST_SUITE(release_fsm)

BOOST_AUTO_TEST_CASE(release_is_sent_at_once_and_only_once)
{
    release steps = held();
    BOOST_TEST((steps.due(start, true) == action::send));
    BOOST_TEST((steps.due(start + 1s, true) == action::wait));
    BOOST_TEST((steps.connected(start + 2s) == action::wait));
}

// The caller of `next` must not be called repeatedly without need.
BOOST_AUTO_TEST_CASE(P1_outstanding_release_needs_no_timer_before_the_end)
{
    release steps = held();
    steps.due(start, true);
    BOOST_TEST((steps.next() == over));
    steps.failed(errc::outcome_unknown, 20ms, start + 1s);
    BOOST_TEST((steps.next() == start + 1s + 20ms));
    steps.due(start + 2s, true);
    BOOST_TEST((steps.next() == over));
}

BOOST_AUTO_TEST_CASE(freed_and_left_replies_are_success)
{
    for (const reply each : {reply::freed, reply::still_held}) {
        release steps = held();
        steps.due(start, true);
        BOOST_TEST((steps.replied(each, start + 1ms) == action::done));
        BOOST_TEST(!steps.outcome());
    }
}

BOOST_AUTO_TEST_CASE(not_owner_reply_of_a_held_lock_is_reported)
{
    release steps = held();
    steps.due(start, true);
    BOOST_TEST((steps.replied(reply::not_owner, start + 1ms) == action::done));
    BOOST_TEST(steps.outcome() == errc::not_owner);
}

// The first release was executed and its reply was lost. The second one finds no owner.
BOOST_AUTO_TEST_CASE(not_owner_after_a_lost_reply_is_success)
{
    release steps = held();
    steps.due(start, true);
    BOOST_TEST((steps.failed(errc::outcome_unknown, 20ms, start + 1s) == action::wait));
    BOOST_TEST((steps.due(steps.next(), true) == action::send));
    BOOST_TEST((steps.replied(reply::not_owner, start + 2s) == action::done));
    BOOST_TEST(!steps.outcome());
}

BOOST_AUTO_TEST_CASE(not_owner_after_an_unexecuted_request_is_reported)
{
    for (const errc each : {errc::store_unavailable, errc::store_refused}) {
        release steps = held();
        steps.due(start, true);
        steps.failed(each, 20ms, start + 1s);
        BOOST_TEST((steps.due(steps.next(), true) == action::send));
        steps.replied(reply::not_owner, start + 2s);
        BOOST_TEST(steps.outcome() == errc::not_owner);
    }
}

BOOST_AUTO_TEST_CASE(temporary_failure_is_retried_until_the_ttl_has_passed)
{
    for (const errc each : {errc::store_unavailable, errc::store_refused, errc::outcome_unknown}) {
        release steps = held();
        auto now = start;
        int sent = 0;
        while (steps.due(now, true) == action::send) {
            ++sent;
            if (steps.failed(each, 500ms, now + 100ms) == action::done)
                break;
            BOOST_TEST((steps.next() > now));
            now = steps.next();
        }
        BOOST_TEST(sent == 50);
        BOOST_TEST((now == over));
        BOOST_TEST(steps.outcome() == each);
    }
}

BOOST_AUTO_TEST_CASE(permanent_error_ends_the_release)
{
    for (const errc each : {errc::permission_denied, errc::wrong_type}) {
        release steps = held();
        steps.due(start, true);
        BOOST_TEST((steps.failed(each, 20ms, start + 1ms) == action::done));
        BOOST_TEST(steps.outcome() == each);
    }
}

BOOST_AUTO_TEST_CASE(missing_reply_is_an_unknown_outcome)
{
    release steps = held();
    steps.due(start, true);
    BOOST_TEST((steps.due(over - 1ns, true) == action::wait));
    BOOST_TEST((steps.due(over, true) == action::done));
    BOOST_TEST(steps.outcome() == errc::outcome_unknown);
}

BOOST_AUTO_TEST_CASE(offline_release_waits_for_a_connection_or_the_end)
{
    release steps = held();
    BOOST_TEST((steps.due(start, false) == action::wait));
    BOOST_TEST((steps.next() == over));
    release other = steps;
    BOOST_TEST((steps.connected(start + 3s) == action::send));
    BOOST_TEST((steps.replied(reply::freed, start + 4s) == action::done));
    BOOST_TEST(!steps.outcome());

    BOOST_TEST((other.due(over, false) == action::done));
    BOOST_TEST(other.outcome() == errc::store_unavailable);
}

BOOST_AUTO_TEST_CASE(new_connection_ends_a_pause)
{
    release steps = held();
    steps.due(start, true);
    steps.failed(errc::store_unavailable, 10s, start + 1s);
    BOOST_TEST((steps.due(start + 2s, true) == action::wait));
    BOOST_TEST((steps.connected(start + 2s) == action::send));
}

BOOST_AUTO_TEST_CASE(failure_after_the_end_ends_the_release)
{
    release steps = held();
    steps.due(start, true);
    BOOST_TEST((steps.failed(errc::store_refused, 20ms, over + 1s) == action::done));
    BOOST_TEST(steps.outcome() == errc::store_refused);
}

// The acquire that the release undoes may be behind it in a stalled server. `not_owner` is not
// final before that acquire can no longer be executed.
BOOST_AUTO_TEST_CASE(F2_orphan_is_released_again_after_the_limit_of_its_acquire)
{
    release steps = orphan();
    BOOST_TEST((steps.due(start, true) == action::send));
    BOOST_TEST((steps.replied(reply::not_owner, start + 1ms) == action::wait));
    BOOST_TEST((steps.next() > start + 5s));
    BOOST_TEST((steps.due(start + 5s, true) == action::wait));
    BOOST_TEST((steps.due(steps.next(), true) == action::send));
    BOOST_TEST((steps.replied(reply::not_owner, start + 6s) == action::done));
    BOOST_TEST(steps.outcome() == errc::not_owner);
}

BOOST_AUTO_TEST_CASE(orphan_that_was_freed_is_done)
{
    release steps = orphan();
    steps.due(start, true);
    BOOST_TEST((steps.replied(reply::freed, start + 1ms) == action::done));
}

BOOST_AUTO_TEST_CASE(late_not_owner_reply_is_dated_by_its_request)
{
    release steps = orphan();
    steps.due(start, true);
    // The release was sent before the limit of the acquire and answered after it, so it is sent
    // again, now.
    BOOST_TEST((steps.replied(reply::not_owner, start + 7s) == action::send));
    BOOST_TEST((steps.replied(reply::not_owner, start + 8s) == action::done));
}

// The acquire was answered: its grant can be released now, and no later grant follows.
BOOST_AUTO_TEST_CASE(orphan_of_an_answered_acquire_is_released_at_once)
{
    release paused = orphan();
    paused.due(start, true);
    BOOST_TEST((paused.replied(reply::not_owner, start + 1ms) == action::wait));
    BOOST_TEST((paused.settled(start + 2s) == action::send));
    BOOST_TEST((paused.replied(reply::not_owner, start + 3s) == action::done));

    // The outstanding release was sent earlier, and the server may execute it before the acquire.
    release under_way = orphan();
    under_way.due(start, true);
    BOOST_TEST((under_way.settled(start + 1s) == action::wait));
    BOOST_TEST((under_way.replied(reply::not_owner, start + 2s) == action::send));
    BOOST_TEST((under_way.replied(reply::not_owner, start + 3s) == action::done));
}

// A timer that is repeatedly due at once cost ten times as much as the release itself.
BOOST_AUTO_TEST_CASE(outstanding_release_waits_only_for_the_end_of_the_lease)
{
    release steps = held();
    BOOST_TEST((steps.due(start, true) == action::send));
    BOOST_TEST((steps.next() == over));
    BOOST_TEST((steps.due(start, true) == action::wait));

    BOOST_TEST((steps.failed(errc::store_refused, 20ms, start) == action::wait));
    BOOST_TEST((steps.next() == start + 20ms));
    BOOST_TEST((steps.due(start + 20ms, true) == action::send));
    BOOST_TEST((steps.next() == over));
}

// Other leases may have extended the TTL: only a reply proves that this one is released.
BOOST_AUTO_TEST_CASE(release_of_a_shared_owner_reports_at_the_end_and_continues)
{
    release offline(past, over, true);
    BOOST_TEST((offline.due(start, false) == action::wait));
    BOOST_TEST((offline.due(over, false) == action::report));
    BOOST_TEST(offline.outcome() == errc::store_unavailable);
    BOOST_TEST((offline.due(over, false) == action::wait));
    BOOST_TEST((offline.next() == clock::time_point::max()));
    BOOST_TEST((offline.connected(over + 1h) == action::send));
    BOOST_TEST((offline.replied(reply::still_held, over + 1h) == action::done));
    BOOST_TEST(!offline.outcome());

    release unanswered(past, over, true);
    unanswered.due(start, true);
    BOOST_TEST((unanswered.due(over, true) == action::report));
    BOOST_TEST(unanswered.outcome() == errc::outcome_unknown);
    BOOST_TEST((unanswered.due(over, true) == action::wait));
}

BOOST_AUTO_TEST_CASE(reported_release_is_retried_at_growing_intervals)
{
    release steps(past, over, true);
    steps.due(start, true);
    steps.due(over, true);
    auto now = over;
    int sent = 0;
    while (now < over + 1h) {
        BOOST_TEST_REQUIRE((steps.failed(errc::store_refused, 20ms, now) == action::wait));
        const auto next = steps.next();
        BOOST_TEST_REQUIRE((next >= now + 1s));
        BOOST_TEST_REQUIRE((next <= now + 60s));
        BOOST_TEST_REQUIRE((steps.due(next, true) == action::send));
        now = next;
        ++sent;
    }
    BOOST_TEST(sent > 50);
    BOOST_TEST(sent < 70);
    BOOST_TEST((steps.failed(errc::permission_denied, 20ms, now) == action::done));
}

BOOST_AUTO_TEST_SUITE_END()
