// The events of `leasehold trace` for given reads.
#include "trace/lock_tracer.hpp"
#include "trace/trace_text.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace leasehold::test {
namespace {

using namespace std::chrono_literals;
using tool::lock_kind;
using tool::lock_state;
using tool::lock_tracer;
using tool::trace_event;

constexpr char one[] = "5e0f8c21-3a1c-4a50-9cd4-0b8a5d4e7f10:1";
constexpr char two[] = "91d2a0be-3a1c-4a50-9cd4-0b8a5d4e7f10:7";
constexpr char three[] = "c3b1f00d-3a1c-4a50-9cd4-0b8a5d4e7f10:2";

lock_state held_by(const std::string& owner, std::optional<std::chrono::milliseconds> left,
                   const std::vector<std::string>& queue = {})
{
    lock_state lock;
    lock.name = "stock";
    lock.owner = owner;
    lock.client = owner.substr(0, 8);
    lock.left = left;
    lock.fence_at_most = 42;
    lock.waiters = queue.size();
    for (const std::string& each : queue)
        lock.queue.push_back({.owner = each, .client = each.substr(0, 8)});
    return lock;
}

/// Reads that take 2 ms, at times after the start of the trace.
struct reads
{
    lock_tracer tracer{"stock"};
    std::vector<trace_event> events{};

    static lock_tracer::read_time at(std::chrono::milliseconds time)
    {
        const lock_tracer::clock::time_point begin(1h + time);
        return {begin, begin + 2ms, trace_event::wall_time(1h + time + 2ms)};
    }

    /// The events in words, one after the other.
    std::string take(std::chrono::milliseconds time, const std::optional<lock_state>& now)
    {
        return text(tracer.take(now, at(time)));
    }
    std::string fail(std::chrono::milliseconds time)
    {
        return text(tracer.fail("no reply", at(time)));
    }
    std::string text(std::vector<trace_event> found)
    {
        events = std::move(found);
        std::string all;
        for (const trace_event& each : events)
            all.append(all.empty() ? "" : "; ").append(words_of(each));
        return all;
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(lock_tracing, reads)

BOOST_AUTO_TEST_CASE(lock_without_a_holder_is_free_once)
{
    BOOST_TEST(tracer.is_unknown());
    BOOST_TEST(take(0ms, std::nullopt) == "free stock");
    BOOST_TEST(take(50ms, std::nullopt) == "");
    BOOST_TEST(!tracer.is_unknown());
    BOOST_TEST(!tracer.is_held());
}

BOOST_AUTO_TEST_CASE(grant_to_a_waiter_is_passed_with_both_times)
{
    BOOST_TEST(take(0ms, std::nullopt) == "free stock");
    BOOST_TEST(take(50ms, held_by(one, 15s)) == "taken stock by 5e0f8c21, 15.0s left");
    BOOST_TEST(take(100ms, held_by(one, 14950ms, {two})) == "queued stock by 91d2a0be, position 1");
    BOOST_TEST(take(300ms, held_by(two, 15s)) ==
               "passed stock from 5e0f8c21, held for 250ms, fence at most 42, to 91d2a0be, waited "
               "for 200ms");
    BOOST_TEST(take(400ms, std::nullopt) == "freed stock by 91d2a0be, held for 100ms");
    BOOST_TEST(!tracer.is_held());
}

// The holder draws its token after it has set the lock, or when it confirms the grant.
BOOST_AUTO_TEST_CASE(fence_is_unknown_at_the_first_read_of_a_holder)
{
    take(0ms, held_by(one, 15s));
    BOOST_TEST(!events.at(0).lock->fence_at_most.has_value());
    BOOST_TEST(take(1s, held_by(one, 15s)) ==
               "renewed stock by 5e0f8c21, 15.0s left, fence at most 42");
    BOOST_TEST(take(2s, std::nullopt) ==
               "freed stock by 5e0f8c21, held for at least 2.0s, fence at most 42");
}

BOOST_AUTO_TEST_CASE(renewal_is_reported_only_if_the_deadline_has_certainly_moved)
{
    take(0ms, held_by(one, 15s));
    BOOST_TEST(take(50ms, held_by(one, 14950ms)) == "");
    BOOST_TEST(take(100ms, held_by(one, 14903ms)) == ""); // within the time of a read
    BOOST_TEST(take(150ms, held_by(one, 14858ms)).starts_with("renewed "));
    BOOST_TEST(take(200ms, held_by(one, std::nullopt)) == "");
    BOOST_TEST(take(250ms, held_by(one, std::nullopt)) == "");
}

BOOST_AUTO_TEST_CASE(lock_that_is_gone_after_its_deadline_is_expired)
{
    take(0ms, held_by(one, 100ms));
    BOOST_TEST(take(50ms, held_by(one, 50ms)) == "");
    BOOST_TEST(take(110ms, std::nullopt) ==
               "expired stock by 5e0f8c21, held for at least 110ms, fence at most 42");
    take(150ms, held_by(two, 100ms));
    BOOST_TEST(take(300ms, held_by(three, 15s)) ==
               "expired stock by 91d2a0be, held for 150ms; taken stock by c3b1f00d, 15.0s left");
}

BOOST_AUTO_TEST_CASE(reason_is_unknown_after_failed_reads)
{
    take(0ms, held_by(one, 100ms));
    BOOST_TEST(fail(50ms) == "unreachable stock: no reply");
    BOOST_TEST(tracer.is_unknown());
    BOOST_TEST(fail(100ms) == "");
    BOOST_TEST(take(500ms, std::nullopt) ==
               "reachable stock; gone stock by 5e0f8c21, held for at least 500ms");
    // A deadline in the future is certain, though.
    take(550ms, held_by(two, 15s));
    fail(600ms);
    BOOST_TEST(take(650ms, std::nullopt) ==
               "reachable stock; freed stock by 91d2a0be, held for 100ms");
    BOOST_TEST((events.at(1).after == at(550ms).wall));
    BOOST_TEST(tool::line_of(events.at(1), 50ms) ==
               "1970-01-01T01:00:00.652Z freed stock by 91d2a0be, held for 100ms");
}

BOOST_AUTO_TEST_CASE(line_shows_the_earliest_time_if_it_is_much_earlier)
{
    take(0ms, held_by(one, 15s));
    fail(50ms);
    take(2s, std::nullopt);
    BOOST_TEST(
        tool::line_of(events.at(1), 50ms).ends_with(" 2.0s; after 1970-01-01T01:00:00.002Z"));
}

// The queue is read after the holder.
BOOST_AUTO_TEST_CASE(waiter_is_missing_in_two_reads_before_it_has_left)
{
    take(0ms, held_by(one, 15s, {two, three}));
    BOOST_TEST(take(50ms, held_by(one, 14950ms, {three})) == "");
    BOOST_TEST(take(100ms, held_by(two, 15s, {three})).starts_with("passed "));
    BOOST_TEST(events.at(0).waited.has_value());
    BOOST_TEST(take(150ms, held_by(two, 15s)) ==
               "renewed stock by 91d2a0be, 15.0s left, fence at most 42");
    BOOST_TEST(take(200ms, held_by(two, 14950ms)) ==
               "left stock by c3b1f00d, waited for at least 200ms");
}

BOOST_AUTO_TEST_CASE(queue_of_a_lock_that_is_free_for_a_moment_is_kept)
{
    take(0ms, held_by(one, 15s, {two}));
    BOOST_TEST(take(50ms, std::nullopt).starts_with("freed "));
    BOOST_TEST(take(100ms, held_by(two, 15s)) ==
               "taken stock by 91d2a0be, 15.0s left, waited for 100ms");
    take(150ms, held_by(two, 15s, {three}));
    take(200ms, std::nullopt);
    BOOST_TEST(take(1s, std::nullopt) == "");
    BOOST_TEST(take(1300ms, std::nullopt) == "left stock by c3b1f00d, waited for 1.1s");
}

BOOST_AUTO_TEST_CASE(presence_of_a_waiter_is_reported_when_it_changes)
{
    lock_state lock = held_by(one, std::nullopt, {two});
    take(0ms, lock);
    lock.queue[0].present = false;
    BOOST_TEST(take(50ms, lock) == "absent stock by 91d2a0be, position 1");
    BOOST_TEST(take(100ms, lock) == "");
    lock.queue[0].present = true;
    BOOST_TEST(take(150ms, lock) == "present stock by 91d2a0be, position 1");
}

BOOST_AUTO_TEST_CASE(reentrant_acquisition_and_silence_are_reported)
{
    lock_state lock = held_by(one, std::nullopt);
    take(0ms, lock);
    lock.holds = 2;
    BOOST_TEST(take(50ms, lock) == "reentered stock by 5e0f8c21, held 2 times");
    lock.holds = 1;
    lock.grace = 4s;
    lock.silent = 3s;
    BOOST_TEST(take(100ms, lock) ==
               "reentered stock by 5e0f8c21, held once; silent stock by 5e0f8c21, silent for 3.0s");
    lock.silent = 0s;
    BOOST_TEST(take(150ms, lock) == "heard stock by 5e0f8c21");
}

BOOST_AUTO_TEST_CASE(minority_of_a_quorum_holds_nothing)
{
    lock_state lock = held_by(one, 15s);
    lock.kind = lock_kind::quorum;
    lock.of = 3;
    lock.members = 1;
    BOOST_TEST(take(0ms, lock) == "free stock");
    lock.members = 2;
    BOOST_TEST(take(1ms, lock) == "taken stock by 5e0f8c21, at 2 of 3 members, 15.0s left");
    lock.members = 3;
    BOOST_TEST(take(2ms, lock) == ""); // perhaps in the middle of a change
    BOOST_TEST(take(3ms, lock) == "members stock by 5e0f8c21, at 3 of 3 members");
    lock.waiters = 2;
    BOOST_TEST(take(4ms, lock) == "waiters stock: 2");
    lock.members = 1;
    BOOST_TEST(take(10ms, lock) ==
               "freed stock by 5e0f8c21, held for 9ms, at 1 of 3 members, fence at most 42");
}

BOOST_AUTO_TEST_CASE(event_is_an_object_of_json)
{
    take(0ms, held_by(one, 15s));
    take(50ms, held_by(one, 14950ms, {two}));
    BOOST_TEST(tool::json_of(events.at(0)) ==
               "{\"time\":\"1970-01-01T01:00:00.052Z\",\"after\":\"1970-01-01T01:00:00.002Z\","
               "\"event\":\"queued\",\"name\":\"stock\",\"waiter\":{\"owner\":\"" +
                   std::string(two) +
                   "\",\"client\":\"91d2a0be\",\"program\":null,\"host\":null,\"pid\":null,"
                   "\"since\":null,\"version\":null,\"present\":true},\"position\":1}");
    take(100ms, held_by(two, 15s));
    const std::string passed = tool::json_of(events.at(0));
    for (const std::string part :
         {"\"event\":\"passed\"", "\"before\":{", "\"held_ms\":100", "\"waited_ms\":50"})
        BOOST_TEST((passed.find(part) != std::string::npos), passed << " has no " << part);
    BOOST_TEST((passed.find("\"queue\"") == std::string::npos));
    fail(150ms);
    BOOST_TEST((tool::json_of(events.at(0)).find("\"reason\":\"no reply\"") != std::string::npos));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace leasehold::test
