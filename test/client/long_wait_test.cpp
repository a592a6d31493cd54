// The notifications of long waits, and of leases that were never used.
#include <boost/test/unit_test.hpp>

#include "support/core_checks.hpp"

#include <memory>
#include <string>
#include <utility>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using kind = recording_observer::kind;

BOOST_AUTO_TEST_SUITE(core_long_wait)

namespace {

constexpr char one_owner[] = "0a1b2c3d-0000-4000-8000-000000000000:7";
constexpr char another_owner[] = "9a1b2c3d-0000-4000-8000-000000000000:7";

/// Answers each poll for a time: this owner holds the lock.
void held_by(core_fixture& e, const std::string& owner, clock::duration time)
{
    const auto details = std::make_shared<diagnostics>();
    details->holder = owner;
    for (const auto end = e.time.now() + time; e.time.now() < end; e.advance(10ms)) {
        if (!e.last_acquire().answered)
            e.store->complete_acquire(
                e.store->acquire_count() - 1, {},
                {.result = acquire_reply::outcome::held, .remaining = 8s, .details = details});
        e.poll();
    }
}

void grant_next_poll(core_fixture& e)
{
    while (e.last_acquire().answered)
        e.advance(10ms);
    e.grant();
}

} // namespace

BOOST_AUTO_TEST_CASE(wait_on_a_holder_is_reported_within_a_second_with_holder_and_ttl)
{
    core_fixture e;
    const auto waiting = e.lock("a");
    held_by(e, one_owner, 890ms);
    BOOST_TEST(e.seen->count(kind::long_wait) == 0u);
    held_by(e, one_owner, 20ms);
    const auto events = e.seen->events(kind::long_wait);
    BOOST_TEST_REQUIRE(events.size() == 1u);
    BOOST_TEST(events[0].name == "a");
    BOOST_TEST((events[0].code == errc::held));
    BOOST_TEST(events[0].details.holder == "0a1b2c3d");
    BOOST_TEST((events[0].time >= 900ms && events[0].time < 1s));
    BOOST_TEST((events[0].left > 6s && events[0].left <= 8s));
    grant_next_poll(e);
    BOOST_TEST(waiting->done());
}

BOOST_AUTO_TEST_CASE(unchanged_holder_is_reported_once_and_a_new_one_again)
{
    core_fixture e;
    const auto waiting = e.lock("a");
    held_by(e, one_owner, 6s);
    BOOST_TEST(e.seen->count(kind::long_wait) == 1u);
    held_by(e, another_owner, 3s);
    const auto events = e.seen->events(kind::long_wait);
    BOOST_TEST_REQUIRE(events.size() == 2u);
    BOOST_TEST(events[1].details.holder == "9a1b2c3d");
    grant_next_poll(e);
    const auto ended = e.seen->events(kind::long_wait_ended);
    BOOST_TEST_REQUIRE(ended.size() == 1u);
    BOOST_TEST(!ended[0].code);
    BOOST_TEST((ended[0].time >= 9s));
    BOOST_TEST(waiting->done());
}

BOOST_AUTO_TEST_CASE(end_of_a_reported_wait_at_its_limit_has_the_error)
{
    core_fixture e;
    const auto waiting = e.lock(e.spec("a"), 2s);
    held_by(e, one_owner, 3s);
    BOOST_TEST(code(*waiting) == errc::timed_out);
    const auto ended = e.seen->events(kind::long_wait_ended);
    BOOST_TEST_REQUIRE(ended.size() == 1u);
    BOOST_TEST((ended[0].code == errc::timed_out));
}

BOOST_AUTO_TEST_CASE(short_wait_is_not_reported)
{
    core_fixture e;
    // The poll after the release comes at the latest after the ceiling.
    const auto waiting = e.lock(e.spec("a", {.backoff_ceiling = 200ms}));
    held_by(e, one_owner, 500ms);
    grant_next_poll(e);
    BOOST_TEST(waiting->done());
    e.renew_all_when_asked = true;
    e.advance(20s);
    BOOST_TEST(e.seen->count(kind::long_wait) == 0u);
    BOOST_TEST(e.seen->count(kind::long_wait_ended) == 0u);
}

BOOST_AUTO_TEST_CASE(wait_for_a_reply_is_reported)
{
    core_fixture e;
    const auto waiting = e.lock("a");
    e.advance(1s);
    const auto events = e.seen->events(kind::long_wait);
    BOOST_TEST_REQUIRE(events.size() == 1u);
    BOOST_TEST((events[0].code == errc::outcome_unknown));
    e.grant();
    BOOST_TEST(waiting->done());
    BOOST_TEST(e.seen->count(kind::long_wait_ended) == 1u);
}

BOOST_AUTO_TEST_CASE(wait_for_a_connection_is_reported_with_its_error)
{
    core_fixture e;
    e.disconnect(errc::store_refused);
    const auto waiting = e.lock("a");
    e.advance(1s);
    const auto events = e.seen->events(kind::long_wait);
    BOOST_TEST_REQUIRE(events.size() == 1u);
    BOOST_TEST((events[0].code == errc::store_refused));
    BOOST_TEST(!waiting->done());
}

BOOST_AUTO_TEST_CASE(wait_behind_a_lease_of_the_same_client_names_this_client)
{
    core_fixture e;
    e.renew_all_when_asked = true;
    lease held = e.taken(e.spec("a"), 1001);
    const auto waiting = e.lock("a");
    e.advance(1s);
    const auto events = e.seen->events(kind::long_wait);
    BOOST_TEST_REQUIRE(events.size() == 1u);
    BOOST_TEST((events[0].code == errc::held));
    BOOST_TEST(events[0].details.holder == e.core->id());
    e.advance(10s);
    BOOST_TEST(e.seen->count(kind::long_wait) == 1u);
    e.release(std::move(held));
}

BOOST_AUTO_TEST_CASE(lease_that_is_never_kept_is_reported_as_unused)
{
    core_fixture e;
    static_cast<void>(e.taken(e.spec("a")));
    e.poll();
    const auto events = e.seen->events(kind::unused);
    BOOST_TEST_REQUIRE(events.size() == 1u);
    BOOST_TEST(events[0].name == "a");
    BOOST_TEST(events[0].fence == 1u);
    BOOST_TEST((events[0].time < 1ms));
    BOOST_TEST(e.seen->count(kind::released) == 1u);
}

BOOST_AUTO_TEST_CASE(lease_that_is_used_kept_or_released_is_not_reported_as_unused)
{
    core_fixture e;
    e.renew_all_when_asked = true;
    e.release(e.taken(e.spec("released")));
    e.taken(e.spec("detached")).detach();
    static_cast<void>(e.taken(e.spec("valid")).valid());
    static_cast<void>(e.taken(e.spec("fence")).fence());
    static_cast<void>(e.taken(e.spec("deadline")).deadline());
    static_cast<void>(e.taken(e.spec("name")).name());
    {
        const lease moved = e.taken(e.spec("kept"));
        e.advance(1ms);
    }
    e.poll();
    BOOST_TEST(e.stats().held == 0u);
    BOOST_TEST(e.seen->count(kind::released) == 7u);
    BOOST_TEST(e.seen->count(kind::unused) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
