#include <boost/test/unit_test.hpp>

#include "memory/distinct_times.hpp"
#include "memory/lock_table.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace {

using namespace leasehold;
using namespace leasehold::memory;
using namespace std::chrono_literals;
using outcome = acquire_reply::outcome;

constexpr microseconds start = 1'000'000s;

acquire_reply take(lock_table& t, std::string_view name, std::string_view owner, instant now,
                   milliseconds lease = 100ms, std::uint32_t fences = 1)
{
    return t.acquire(
        {.name = name, .owner = owner, .entry = {}, .lease = lease, .fences = fences, .budget = 1s},
        {}, now);
}

constexpr instant at(microseconds offset)
{
    return instant::one_clock(start + offset);
}

} // namespace

BOOST_AUTO_TEST_CASE(lock_is_free_after_the_millisecond_of_its_expiry)
{
    lock_table t;
    take(t, "n", "a", at(0us));
    BOOST_TEST((take(t, "n", "b", at(100ms)).remaining == 0ms));
    BOOST_TEST((take(t, "n", "b", at(100ms)).result == outcome::held));
    BOOST_TEST((take(t, "n", "b", at(101ms - 1us)).result == outcome::held));
    BOOST_TEST((take(t, "n", "b", at(101ms)).result == outcome::granted));
}

BOOST_AUTO_TEST_CASE(last_moment_of_the_budget_is_not_late)
{
    lock_table t;
    const acquire_request request{
        .name = "n", .owner = "a", .entry = {}, .lease = 1s, .fences = 1, .budget = 1s};
    BOOST_TEST((t.acquire(request, {.latest = start}, at(1us)).result == outcome::late));
    BOOST_TEST(t.names() == 0u);
    BOOST_TEST((t.acquire(request, {.latest = start}, at(0us)).result == outcome::granted));
}

BOOST_AUTO_TEST_CASE(fences_follow_the_clock_or_the_counter_and_never_pass_the_clock)
{
    lock_table t;
    const auto floor = [](microseconds m) { return 2 * static_cast<std::uint64_t>(m.count()); };
    // The counter is missing: every earlier grant was made before now.
    auto got = take(t, "n", "a", at(0us), 1ms, 10);
    BOOST_TEST(got.first_fence == floor(start));
    BOOST_TEST(got.fences == 1u);
    t.erase("n", at(5us));
    // A block reaches back to the previous grant, and no further than requested.
    got = take(t, "n", "b", at(5us), 1ms, 5000);
    BOOST_TEST(got.first_fence == floor(start) + 1);
    BOOST_TEST(got.fences == 10u);
    // A repeated acquire draws again.
    BOOST_TEST(take(t, "n", "b", at(6us), 1ms, 5000).first_fence == floor(start + 5us) + 1);
    t.erase("n", at(100us));
    got = take(t, "n", "c", at(100us), 1ms, 10);
    BOOST_TEST(got.first_fence == floor(start + 100us) - 9);
    BOOST_TEST(got.fences == 10u);
    t.erase("n", at(100us));
    // The clock stops, or steps back by an hour: the fence rises by one.
    got = take(t, "n", "d", at(100us), 1ms, 5000);
    BOOST_TEST(got.first_fence == floor(start + 100us) + 1);
    BOOST_TEST(got.fences == 1u);
    t.erase("n", at(100us));
    got = take(t, "n", "e", {start, start - 1h}, 1ms, 5000);
    BOOST_TEST(got.first_fence == floor(start + 100us) + 2);
    BOOST_TEST(got.fences == 1u);
    // The data is lost: the clock takes over.
    t.clear();
    BOOST_TEST(take(t, "n", "f", at(2ms)).first_fence == floor(start + 2ms));
}

// A server that restarts with an older counter: grants since then must stay below the next one,
// however large the requested blocks are.
BOOST_AUTO_TEST_CASE(block_of_fences_stays_above_those_of_a_lost_counter)
{
    lock_table t;
    take(t, "n", "a", at(0us), 1ms);
    t.erase("n", at(1ms));
    const lock_table snapshot = t;
    const auto before = take(t, "n", "b", at(1s), 1ms, 1'000'001);
    BOOST_TEST(before.fences == 10'000u);
    t = snapshot;
    const auto after = take(t, "n", "c", at(1s + 10ms), 1ms, 1'000'001);
    BOOST_TEST(after.first_fence > before.first_fence + before.fences - 1);
}

BOOST_AUTO_TEST_CASE(leases_follow_the_steady_clock)
{
    lock_table t;
    take(t, "n", "a", {start, start});
    BOOST_TEST((take(t, "n", "b", {start, start + 87600h}).result == outcome::held));
    BOOST_TEST((take(t, "n", "b", {start + 1s, start - 87600h}).result == outcome::granted));
}

BOOST_AUTO_TEST_CASE(clock_that_steps_back_extends_a_lock_as_in_redis)
{
    lock_table t;
    take(t, "n", "a", at(0us));
    BOOST_TEST((take(t, "n", "b", at(-1h)).remaining == 1h + 100ms));
}

BOOST_AUTO_TEST_CASE(fence_is_kept_for_a_day_by_default)
{
    for (const bool in_time : {true, false}) {
        lock_table t;
        const auto ahead =
            take(t, "n", "a", {start, start + 48h}).first_fence; // the wall was two days ahead
        const auto next = take(t, "n", "b", at(24h + (in_time ? -1s : 1s))).first_fence;
        BOOST_TEST((next == ahead + 1) == in_time);
        BOOST_TEST((next < ahead) == !in_time);
    }
}

BOOST_AUTO_TEST_CASE(fence_is_kept_for_its_retention)
{
    lock_table t(10s);
    const auto ahead =
        take(t, "n", "a", {start, start + 1h}).first_fence; // the wall was an hour ahead
    BOOST_TEST(take(t, "n", "b", at(9s)).first_fence == ahead + 1);
    BOOST_TEST(take(t, "n", "c", at(19s)).first_fence == ahead + 2);
    BOOST_TEST(take(t, "n", "d", at(29s + 2ms)).first_fence < ahead);

    lock_table for_ever(0ms);
    const auto first = take(for_ever, "n", "a", {start, start + 1h}).first_fence;
    BOOST_TEST((take(for_ever, "n", "b", at(-1h)).result == outcome::held));
    BOOST_TEST(take(for_ever, "n", "b", {start + 87600h, start}).first_fence == first + 1);

    // A fence that was to expire is kept from then on.
    lock_table later(10s);
    const auto limited = take(later, "n", "a", {start, start + 1h}).first_fence;
    later.set_retention(0ms);
    BOOST_TEST(take(later, "n", "b", at(1h)).first_fence == limited + 1);
}

// Even if the removal of expired names has not run yet.
BOOST_AUTO_TEST_CASE(expired_fence_is_not_continued)
{
    lock_table t(1s);
    const auto name = [](int i) { return std::to_string(i); };
    std::uint64_t ahead = 0;
    for (int i = 0; i < 20; ++i)
        ahead = take(t, name(i), "a", {start, start + 1h}, 1ms).first_fence;
    for (int i = 20; i-- > 0;)
        BOOST_TEST(take(t, name(i), "b", at(2s)).first_fence < ahead);
}

namespace {

struct queue_fixture
{
    acquire_reply wait(std::string_view owner, instant now, milliseconds lease = 100ms)
    {
        return t.acquire({.name = "n",
                          .owner = owner,
                          .entry = {},
                          .lease = lease,
                          .fences = 1,
                          .budget = 1s,
                          .waits = true,
                          .presence = 10s,
                          .claim = 1s},
                         {.client = client, .granted = &granted}, now);
    }

    release_reply::outcome release(std::string_view owner, instant now, std::string_view entry = {})
    {
        return t
            .release({.name = "n", .owner = owner, .entry = entry},
                     {.client = client, .granted = &granted}, now)
            .result;
    }

    lock_table t{1ms};
    client_id client = t.join();
    granted_owner granted;
};

} // namespace

BOOST_AUTO_TEST_CASE(waiter_survives_the_removal_of_expired_names)
{
    queue_fixture f;
    take(f.t, "n", "a", at(0us), 10ms);
    BOOST_TEST(f.wait("b", at(0us)).queued);
    for (int i = 0; i < 10; ++i) // the lock and its fence have expired
        take(f.t, std::to_string(i), "c", at(20ms), 1ms);
    const acquire_reply later = f.wait("d", at(20ms));
    BOOST_TEST((later.result == outcome::held)); // by the first client
    BOOST_TEST(f.granted.owner == "b");
}

// An unconfirmed grant excludes others for no longer than that.
BOOST_AUTO_TEST_CASE(queued_grant_is_kept_for_the_claim_or_the_lease_time)
{
    for (const auto& [lease, kept] : {std::pair(100ms, 100ms), std::pair(5000ms, 1000ms)}) {
        queue_fixture f;
        take(f.t, "n", "a", at(0us), 1h);
        f.wait("b", at(0us), lease);
        BOOST_TEST((f.release("a", at(0us)) == release_reply::outcome::granted_next));
        BOOST_TEST((take(f.t, "n", "c", at(0us)).remaining == kept));
    }
}

BOOST_AUTO_TEST_CASE(position_in_the_queue_is_left_by_its_owner_only)
{
    queue_fixture f;
    take(f.t, "n", "a", at(0us), 1h);
    f.wait("b", at(0us));
    BOOST_TEST((f.release("b", at(0us), "entry") == release_reply::outcome::not_owner));
    BOOST_TEST((f.release("b", at(0us)) == release_reply::outcome::left_queue));
    BOOST_TEST((f.release("b", at(0us)) == release_reply::outcome::not_owner));
}

BOOST_AUTO_TEST_CASE(memory_does_not_grow_with_expired_names)
{
    lock_table t(1s);
    std::size_t most = 0;
    for (int i = 0; i < 100'000; ++i) {
        // One name per millisecond, of which every second one is never released.
        const std::string name = "order-" + std::to_string(i);
        const instant now = at(i * 1ms);
        take(t, name, "owner", now, 50ms);
        if (i % 2 == 0)
            t.release({.name = name, .owner = "owner", .entry = {}}, {}, now);
        most = std::max(most, t.names());
    }
    // The names of the last second, and as many that wait for their removal.
    BOOST_TEST(most <= 2'100u);
    BOOST_TEST(t.size(at(100s)) <= 51u);
    // A held lock or a kept fence is never removed.
    lock_table keep;
    take(keep, "kept", "a", at(0us), 1h);
    for (int i = 0; i < 1000; ++i)
        take(keep, std::to_string(i), "b", at(i * 1s), 1ms);
    BOOST_TEST((take(keep, "kept", "b", at(1000s)).result == outcome::held));
    BOOST_TEST(keep.names() == 1001u);
}

// The time distinguishes fences if the counters are lost.
BOOST_AUTO_TEST_CASE(readings_of_the_clock_are_distinct)
{
    distinct_times clock;
    BOOST_TEST((clock.next(start) == start));
    BOOST_TEST((clock.next(start) == start + 1us));
    BOOST_TEST((clock.next(start) == start + 2us));
    BOOST_TEST((clock.next(start + 1us) == start + 3us));
    BOOST_TEST((clock.next(start + 1ms) == start + 1ms));
    // A clock that is set back is followed.
    BOOST_TEST((clock.next(start - 1h) == start - 1h));
}
