// The scripts of the layout `native`: each of their replies, at a server whose clock the test
// moves.
#include <boost/test/unit_test.hpp>

#include "redis/protocol/script.hpp"
#include "redis/script_scene.hpp"
#include "support/with_a_clock.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using redis_store::of_native;
using numbers = script_scene::numbers;
using words = script_scene::words;

const std::string stock = "stock";
const std::string fence = "leasehold:fence";
const std::string line = "stock:line";
const std::string waiters = "stock:waiters";
const std::string entries = "stock:entries";
constexpr std::int64_t whole_day = 86'400'000;
constexpr std::int64_t record_time = 120'000;

std::string ours(char client, int number = 1)
{
    return "lh:" + client_uuid(client) + ':' + std::to_string(number);
}
std::string record(char client)
{
    return "leasehold:alive:" + client_uuid(client);
}

/// The options of a request.
struct asked
{
    std::int64_t lease = 10'000;
    std::int64_t fences = 1;
    std::int64_t latest = 0;
    std::int64_t floor = 0;
    std::int64_t presence = 20'000;
    std::int64_t claim = 2'000;
    bool listens = false;
    bool report_holder = false; ///< Report the holder.
    char promises = 0;          ///< The client whose heartbeats are promised.
    std::int64_t grace = 1'000;
};

struct scene : script_scene
{
    scene() { client.done({"SET", fence, std::to_string(2 * now() - 1'000'000)}); }

    resp_value run_acquire(const std::string& owner, const asked& how)
    {
        words keys{stock, fence, line, waiters};
        words arguments{owner,
                        std::to_string(how.lease),
                        std::to_string(how.fences),
                        std::to_string(how.latest),
                        std::to_string(how.floor),
                        std::to_string(how.presence),
                        std::to_string(how.claim),
                        how.listens ? "1" : "0",
                        how.report_holder ? "1" : "0"};
        if (how.promises != 0) {
            keys.push_back(record(how.promises));
            arguments.push_back(std::to_string(how.grace));
        }
        return run(of_native().acquire, keys, arguments);
    }
    numbers acquire(const std::string& owner, const asked& how = {})
    {
        return numbers_of(run_acquire(owner, how));
    }

    /// @param next Empty: no owner joins.
    numbers leave(const std::string& owner, const std::string& entry = {}, std::int64_t turn = 0,
                  const std::string& next = {}, const asked& how = {})
    {
        return answer(of_native().leave, {stock, fence, line, waiters, entries},
                      {owner, entry, next, std::to_string(how.lease), std::to_string(how.fences),
                       std::to_string(how.latest), std::to_string(how.floor),
                       std::to_string(how.presence), std::to_string(how.claim),
                       how.listens ? "1" : "0", std::to_string(turn)});
    }

    numbers reenter(const std::string& owner, const std::string& entry, std::int64_t lease = 10'000,
                    std::int64_t latest = 0)
    {
        return answer(of_native().reenter, {stock, entries},
                      {owner, std::to_string(lease), std::to_string(latest), entry});
    }

    using script_scene::left;
    std::int64_t left() { return left(stock); }
    using script_scene::value;
    std::string value() { return value(stock); }
    std::int64_t counter() { return std::stoll(value(fence)); }
    bool is_line(const words& owners) { return is_queue(line, waiters, owners); }
};

} // namespace

BOOST_AUTO_TEST_SUITE(native_replies, *with_a_clock())

BOOST_AUTO_TEST_CASE(free_lock_is_taken)
{
    scene s;
    BOOST_TEST((s.acquire(ours('a')) == numbers{1, 2 * s.now(), 0, 1, s.now()}));
    BOOST_TEST(s.value() == ours('a'));
    BOOST_TEST(s.left() == 10'000);
    BOOST_TEST(s.counter() == 2 * s.now());
    BOOST_TEST(s.is_line({}));
}

BOOST_AUTO_TEST_CASE(late_request_changes_nothing)
{
    scene s;
    const std::int64_t now = s.now();
    const std::int64_t counter = s.counter();
    BOOST_TEST((s.acquire(ours('a'), {.latest = now - 1}) == numbers{-1, 0, 0, 0, now}));
    BOOST_TEST(!s.exists(stock));
    BOOST_TEST(s.counter() == counter);
    BOOST_TEST(s.acquire(ours('a'), {.latest = now}).at(0) == 1);
    BOOST_TEST((s.reenter(ours('a'), "x", 10'000, now - 1) == numbers{-1, 0, 0, 0, now}));
    BOOST_TEST(!s.exists(entries));
    BOOST_TEST(s.reenter(ours('a'), "x", 10'000, now).at(0) == 1);
}

BOOST_AUTO_TEST_CASE(repeated_acquire_draws_a_new_fence_and_never_shortens)
{
    scene s;
    const std::int64_t first = s.acquire(ours('a')).at(1);
    s.clock.advance(1s);
    const std::int64_t second = s.acquire(ours('a'), {.lease = 9'000}).at(1);
    BOOST_TEST(second > first);
    BOOST_TEST(s.left() == 9'000);
    BOOST_TEST(s.acquire(ours('a'), {.lease = 9'001}).at(1) > second);
    BOOST_TEST(s.left() == 9'001);
    s.client.done({"PERSIST", stock});
    s.acquire(ours('a'));
    BOOST_TEST(s.left() == -1);
    BOOST_TEST(s.value() == ours('a'));
}

BOOST_AUTO_TEST_CASE(owner_that_holds_the_lock_leaves_the_queue)
{
    scene s;
    s.acquire(ours('a'));
    s.acquire(ours('b'));
    s.acquire(ours('c'));
    s.client.done({"SET", stock, ours('c') + "|w", "PX", "5000"}); // past the queue
    BOOST_TEST(s.acquire(ours('c')).at(2) == 1);
    BOOST_TEST(s.is_line({ours('b')}));
    BOOST_TEST(s.left() == 10'000);
    s.client.done({"SET", stock, ours('c'), "PX", "5000"});
    BOOST_TEST(s.acquire(ours('c')).at(2) == 0);
}

// Two fences a microsecond. A block ends at the clock.
BOOST_AUTO_TEST_CASE(block_of_fences_ends_at_the_clock_and_begins_above_the_counter)
{
    scene s;
    int number = 0;
    // By an acquire, and by the next owner within a release: returns the last fence, and the count.
    const auto grant = [&](std::int64_t fences, std::int64_t floor = 0) {
        const asked how{.fences = fences, .floor = floor};
        const std::string counter = s.value(fence);
        const numbers taken = s.acquire(ours('a', ++number), how);
        BOOST_TEST(taken.at(0) == 1);
        BOOST_TEST(s.counter() == taken.at(1));
        if (counter.empty())
            s.client.done({"DEL", fence});
        else
            s.client.done({"SET", fence, counter});
        const numbers joined = s.leave(ours('a', number), {}, 0, ours('b', number), how);
        BOOST_TEST((joined == numbers{1, 1, taken.at(1), taken.at(3), s.now()}));
        BOOST_TEST(s.counter() == taken.at(1));
        s.client.done({"DEL", stock});
        return numbers{taken.at(1), taken.at(3)};
    };
    const auto clock = [&] { return 2 * s.now(); };
    s.client.done({"SET", fence, std::to_string(clock())});
    s.clock.advance(1ms); // 2,000 fences
    BOOST_TEST((grant(500, clock() - 3'000) == numbers{clock() - 1'500, 500}));
    BOOST_TEST((grant(500) == numbers{clock(), 500})); // no further back than its length
    BOOST_TEST((grant(500) == numbers{clock() + 1, 1}));
    s.clock.advance(1ms);
    BOOST_TEST((grant(5'000) == numbers{clock(), 1'999}));
    // A counter that is ahead of the clock yields one fence at a time.
    s.client.done({"SET", fence, std::to_string(clock() + 100)});
    BOOST_TEST((grant(5) == numbers{clock() + 101, 1}));
    BOOST_TEST((grant(5, -1) == numbers{clock() + 102, 1}));
    BOOST_TEST((grant(5, 1) == numbers{clock() + 103, 1}));
    // A counter that was lost, or set back, starts at the clock.
    s.client.done({"DEL", fence});
    BOOST_TEST((grant(5) == numbers{clock() + 1, 1}));
    s.client.done({"SET", fence, "7"});
    BOOST_TEST((grant(5, 8) == numbers{clock() + 1, 1}));
    s.client.done({"SET", fence, "7"});
    BOOST_TEST((grant(5, -8) == numbers{clock() + 1, 1}));
    s.client.done({"SET", fence, "7"});
    BOOST_TEST((grant(5, 7) == numbers{12, 5}));
    s.client.done({"SET", fence, "7"});
    BOOST_TEST((grant(5, -7) == numbers{clock(), 5}));
    // The largest fence that the client has seen may be ahead of the clock.
    s.client.done({"SET", fence, "7"});
    BOOST_TEST((grant(5, clock() + 50) == numbers{clock() + 51, 1}));
    s.client.done({"SET", fence, "7"});
    BOOST_TEST((grant(5, -clock() - 60) == numbers{clock() + 61, 1}));
}

BOOST_AUTO_TEST_CASE(counter_is_raised_to_the_clock_and_the_largest_seen_fence)
{
    scene s;
    const auto raise = [&](std::int64_t seen) {
        return s.answer(of_native().raise, {fence}, {std::to_string(seen)});
    };
    const std::int64_t clock = 2 * s.now();
    BOOST_TEST((raise(0) == numbers{clock}));
    BOOST_TEST(s.counter() == clock);
    BOOST_TEST((raise(clock + 5) == numbers{clock + 5}));
    BOOST_TEST(s.counter() == clock + 5);
    BOOST_TEST((raise(clock + 4) == numbers{clock + 5}));
    s.client.done({"DEL", fence});
    BOOST_TEST((raise(clock - 1) == numbers{clock}));
    s.client.done({"SET", fence, "x1"});
    BOOST_TEST(s.run(of_native().raise, {fence}, {"0"}).text ==
               "WRONGTYPE the key leasehold:fence holds no fence");
    BOOST_TEST(s.value(fence) == "x1");
}

BOOST_AUTO_TEST_CASE(key_of_another_type_is_named_and_left_unchanged)
{
    scene s;
    s.client.done({"LPUSH", stock, "x"});
    BOOST_TEST(s.run_acquire(ours('a'), {}).text ==
               "WRONGTYPE the key stock holds list, a lock is a string");
    s.client.done({"DEL", stock});
    for (const std::string text : {"x", "9223372036854775807"}) {
        s.client.done({"SET", fence, text});
        BOOST_TEST(s.run_acquire(ours('a'), {}).text ==
                   "WRONGTYPE the key leasehold:fence holds no fence");
        BOOST_TEST(s.value(fence) == text);
        BOOST_TEST(!s.exists(stock));
    }
    s.client.done({"SET", stock, ours('a')});
    BOOST_TEST(s.run_acquire(ours('a'), {}).is_error());
    s.client.done({"DEL", fence});
    s.client.done({"LPUSH", fence, "x"});
    BOOST_TEST(s.run_acquire(ours('a'), {}).text ==
               "WRONGTYPE the key leasehold:fence holds list, a fence counter is a string");
}

BOOST_AUTO_TEST_CASE(waiter_keeps_its_position_and_marks_the_lock)
{
    scene s;
    s.acquire(ours('a'));
    s.clock.advance(1s);
    for (int round = 0; round < 2; ++round) {
        BOOST_TEST((s.acquire(ours('b')) == numbers{0, 9'000, 0, 0, s.now()}));
        BOOST_TEST((s.acquire(ours('c')) == numbers{0, 9'000, 1, 0, s.now()}));
        BOOST_TEST(
            (s.acquire(ours('d'), {.report_holder = true}) == numbers{0, 9'000, 2, 0xaa, s.now()}));
        BOOST_TEST(s.is_line({ours('b'), ours('c'), ours('d')}));
        BOOST_TEST(s.value() == ours('a') + "|w");
    }
    BOOST_TEST(s.left() == 9'000);
    BOOST_TEST(s.left(line) == whole_day);
    BOOST_TEST(s.left(waiters) == whole_day);
    s.clock.advance(1s);
    s.acquire(ours('c'));
    BOOST_TEST(s.left(line) == whole_day - 1'000); // only the first waiter extends it
    BOOST_TEST(s.left(waiters) == whole_day - 1'000);
    s.acquire(ours('b'));
    BOOST_TEST(s.left(line) == whole_day);
    BOOST_TEST(s.left(waiters) == whole_day);
    for (int i = 0; i < 30; ++i)
        s.acquire(ours('f', i));
    BOOST_TEST(s.acquire(ours('f', 28)).at(2) == 31);
    BOOST_TEST(s.acquire(ours('f', 29)).at(2) == -2); // far back
}

BOOST_AUTO_TEST_CASE(request_without_presence_does_not_join_the_queue)
{
    scene s;
    s.acquire(ours('a'));
    BOOST_TEST((s.acquire(ours('b'), {.presence = 0}) == numbers{0, 10'000, -1, 0, s.now()}));
    BOOST_TEST(s.value() == ours('a'));
    BOOST_TEST(s.is_line({}));
    s.reenter(ours('a'), "x");
    s.acquire(ours('b'));
    BOOST_TEST(s.value() == ours('a') + "|ew");
}

BOOST_AUTO_TEST_CASE(value_of_an_external_holder_is_unchanged)
{
    scene s;
    s.client.done({"SET", stock, "somebody", "PX", "5000"});
    BOOST_TEST((s.acquire(ours('b'), {.report_holder = true}) == numbers{2, 5'000, 0, 0, s.now()}));
    BOOST_TEST((s.acquire(ours('c'), {.presence = 0}) == numbers{2, 5'000, -1, 0, s.now()}));
    BOOST_TEST(s.value() == "somebody");
    BOOST_TEST(s.is_line({ours('b')}));
}

BOOST_AUTO_TEST_CASE(free_lock_is_granted_to_the_first_present_waiter)
{
    scene s;
    s.acquire(ours('a'));
    s.acquire(ours('b'), {.presence = 1'000});
    s.acquire(ours('c'), {.lease = 3'000, .presence = 30'000, .claim = 2'000});
    s.acquire(ours('d'), {.lease = 1'500, .presence = 30'000, .claim = 2'000});
    s.acquire(ours('e'));
    s.client.done({"DEL", stock});
    s.clock.advance(1'001ms); // the presence of b has expired
    BOOST_TEST((s.acquire(ours('f')) == numbers{0, 2'000, 2, 0, s.now()}));
    BOOST_TEST(s.value() == ours('c') + "|w");
    BOOST_TEST(s.left() == 2'000); // its claim
    BOOST_TEST(s.is_line({ours('d'), ours('e'), ours('f')}));
    s.client.done({"DEL", stock});
    BOOST_TEST((s.acquire(ours('g'), {.presence = 0}) == numbers{0, 1'500, -1, 0, s.now()}));
    BOOST_TEST(s.value() == ours('d') + "|w");
    BOOST_TEST(s.left() == 1'500); // its lease
    s.client.done({"DEL", stock});
    s.clock.advance(18'999ms); // the presence of e ends now
    BOOST_TEST((s.acquire(ours('f')) == numbers{0, 2'000, 0, 0, s.now()}));
    BOOST_TEST(s.value() == ours('e') + "|w");
    s.client.done({"DEL", stock});
    BOOST_TEST(s.acquire(ours('g'), {.presence = 0}).at(0) == 0);
    BOOST_TEST(s.value() == ours('f'));
    BOOST_TEST(s.is_line({}));
}

BOOST_AUTO_TEST_CASE(acquire_of_the_first_waiter_reports_other_waiters)
{
    scene s;
    s.acquire(ours('a'));
    s.acquire(ours('b'));
    s.acquire(ours('c'));
    s.client.done({"DEL", stock});
    BOOST_TEST(
        (s.acquire(ours('b'), {.lease = 7'000}) == numbers{1, 2 * s.now() + 1, 1, 1, s.now()}));
    BOOST_TEST(s.value() == ours('b') + "|w");
    BOOST_TEST(s.left() == 7'000);
    BOOST_TEST(s.is_line({ours('c')}));
    s.client.done({"DEL", stock});
    BOOST_TEST(s.acquire(ours('c')).at(2) == 0);
    BOOST_TEST(s.value() == ours('c'));
    BOOST_TEST(s.is_line({}));
}

BOOST_AUTO_TEST_CASE(listening_waiter_is_notified_and_is_skipped_without_a_subscriber)
{
    for (const bool by_leaving : {false, true}) {
        scene s;
        s.acquire(ours('a'));
        s.acquire(ours('b'), {.listens = true});
        s.acquire(ours('c'), {.listens = true});
        s.acquire(ours('d'));
        listener hears(s.server, "leasehold:turn:" + client_uuid('c'));
        if (by_leaving) {
            BOOST_TEST((s.leave(ours('a')) == numbers{4, 0, 2'000, -1, s.now()}));
        }
        else {
            s.client.done({"DEL", stock});
            BOOST_TEST(
                (s.acquire(ours('e'), {.presence = 0}) == numbers{0, 2'000, -1, 0, s.now()}));
        }
        BOOST_TEST(hears.heard() == ours('c') + " stock");
        BOOST_TEST(s.value() == ours('c') + "|w");
        BOOST_TEST(s.is_line({ours('d')}));
    }
}

BOOST_AUTO_TEST_CASE(at_most_a_hundred_absent_waiters_are_skipped_in_one_step)
{
    for (const bool by_leaving : {false, true}) {
        for (const int absent : {99, 100}) {
            scene s;
            s.acquire(ours('a'));
            for (int i = 0; i < absent; ++i)
                s.client.done({"RPUSH", line, ours('b', i)});
            s.acquire(ours('c'));
            if (by_leaving) {
                const numbers said = s.leave(ours('a'), {}, 0, ours('a', 2));
                BOOST_TEST(said.at(0) == (absent == 99 ? 4 : 1));
                BOOST_TEST(said.at(1) == 2);
                BOOST_TEST(s.value() == (absent == 99 ? ours('c') + "|w" : ""));
                BOOST_TEST(s.is_line(absent == 99 ? std::vector{ours('a', 2)}
                                                  : std::vector{ours('c'), ours('a', 2)}));
                continue;
            }
            s.client.done({"DEL", stock});
            if (absent == 100)
                BOOST_TEST((s.acquire(ours('c')) == numbers{0, 0, 0, 0, s.now()}));
            BOOST_TEST(s.acquire(ours('c')).at(0) == 1);
            BOOST_TEST(s.is_line({}));
        }
    }
}

BOOST_AUTO_TEST_CASE(release_script_frees_only_a_lock_without_waiters)
{
    scene s;
    const auto release = [&](const std::string& owner) {
        return s.answer(of_native().release, {stock}, {owner}).at(0);
    };
    BOOST_TEST(release(ours('a')) == 0);
    s.acquire(ours('a'));
    BOOST_TEST(release(ours('b')) == 0);
    s.acquire(ours('b'));
    BOOST_TEST(release(ours('a')) == 0); // there is a waiter
    s.client.done({"SET", stock, ours('a')});
    BOOST_TEST(release(ours('a')) == 1);
    BOOST_TEST(!s.exists(stock));
}

BOOST_AUTO_TEST_CASE(group_release_script_frees_exactly_the_locks_of_their_owners)
{
    scene s;
    s.client.done({"SET", "free", ours('a')});
    s.client.done({"SET", "free too", ours('b')});
    s.client.done({"SET", "marked", ours('a') + "|w"});
    s.client.done({"SET", "of another", ours('c')});
    s.client.done({"HSET", "hash", ours('a'), "1"});
    const words locks{"free", "none", "marked", "of another", "hash", "free too"};
    const words owners{ours('a'), ours('a'), ours('a'), ours('a'), ours('a'), ours('b')};
    BOOST_TEST((s.answer(of_native().release_all, locks, owners) == numbers{1, 0, 0, 0, 0, 1}));
    for (const char* const each : {"free", "free too"})
        BOOST_TEST(!s.exists(each));
    for (const char* const each : {"marked", "of another", "hash"})
        BOOST_TEST(s.exists(each));
    BOOST_TEST((s.answer(of_native().release_all, locks, owners) == numbers{0, 0, 0, 0, 0, 0}));
}

BOOST_AUTO_TEST_CASE(released_lock_is_granted_to_the_first_present_waiter)
{
    scene s;
    s.acquire(ours('a'));
    BOOST_TEST((s.leave(ours('a')) == numbers{1, 0, 0, -1, s.now()}));
    BOOST_TEST(!s.exists(stock));
    BOOST_TEST((s.leave(ours('a')) == numbers{0, 0, 0, -1, s.now()})); // repeated
    s.acquire(ours('a'));
    BOOST_TEST((s.leave(ours('b')) == numbers{0, 0, 0, 0, s.now()}));
    s.acquire(ours('b'), {.presence = 1'000});
    s.acquire(ours('c'), {.lease = 3'000, .claim = 2'000});
    s.acquire(ours('d'), {.lease = 1'500, .claim = 2'000});
    s.clock.advance(1'001ms);
    BOOST_TEST((s.leave(ours('a')) == numbers{4, 0, 2'000, -1, s.now()}));
    BOOST_TEST(s.value() == ours('c') + "|w");
    BOOST_TEST(s.left() == 2'000);
    BOOST_TEST(s.is_line({ours('d')}));
    BOOST_TEST((s.leave(ours('c')) == numbers{4, 0, 1'500, -1, s.now()}));
    BOOST_TEST(s.value() == ours('d'));
    BOOST_TEST(s.left() == 1'500);
    BOOST_TEST(s.leave(ours('d')).at(0) == 1);
}

BOOST_AUTO_TEST_CASE(lock_is_held_until_each_acquisition_is_released)
{
    scene s;
    BOOST_TEST((s.reenter(ours('a'), "x") == numbers{-2, 0, 0, 0, s.now()}));
    s.client.done({"HSET", entries, "old", "1"}); // of an earlier owner
    s.acquire(ours('a'));
    BOOST_TEST((s.reenter(ours('b'), "x") == numbers{-2, 0, 0, 0, s.now()}));
    s.clock.advance(1s);
    BOOST_TEST((s.reenter(ours('a'), "x", 5'000) == numbers{1, 0, 0, 0, s.now()}));
    BOOST_TEST(s.value() == ours('a') + "|e");
    BOOST_TEST(s.client.integer({"HLEN", entries}) == 2);
    BOOST_TEST(!s.client.integer({"HEXISTS", entries, "old"}));
    BOOST_TEST(s.left() == 9'000);
    BOOST_TEST(s.left(entries) == 9'000);
    s.reenter(ours('a'), "x");
    s.reenter(ours('a'), "y", 20'000);
    BOOST_TEST(s.client.integer({"HLEN", entries}) == 3);
    BOOST_TEST(s.left() == 20'000);
    BOOST_TEST(s.left(entries) == 20'000);
    BOOST_TEST((s.leave(ours('a'), "z") == numbers{0, 0, 0, 0, s.now()}));
    BOOST_TEST((s.leave(ours('a'), "x") == numbers{2, 0, 0, 0, s.now()}));
    BOOST_TEST((s.leave(ours('a'), "x") == numbers{0, 0, 0, 0, s.now()}));
    BOOST_TEST((s.leave(ours('a')) == numbers{2, 0, 0, 0, s.now()}));
    BOOST_TEST((s.leave(ours('a')) == numbers{0, 0, 0, 0, s.now()})); // repeated
    BOOST_TEST(s.value() == ours('a') + "|e");
    BOOST_TEST(s.leave(ours('a'), "y").at(0) == 1);
    BOOST_TEST(!s.exists(stock));
    BOOST_TEST(!s.exists(entries));
    // Without entries, none can be released. A reentrant acquisition of a lock without a TTL has no
    // TTL.
    s.acquire(ours('a'));
    BOOST_TEST((s.leave(ours('a'), "x") == numbers{0, 0, 0, 0, s.now()}));
    s.client.done({"PERSIST", stock});
    s.reenter(ours('a'), "x");
    BOOST_TEST(s.left() == -1);
    BOOST_TEST(s.left(entries) == -1);
}

BOOST_AUTO_TEST_CASE(leaving_waiter_grants_a_free_lock_to_the_next)
{
    scene s;
    s.acquire(ours('a'));
    for (const char each : {'b', 'c', 'd'})
        s.acquire(ours(each));
    BOOST_TEST((s.leave(ours('c')) == numbers{3, 0, 0, 0, s.now()}));
    BOOST_TEST((s.leave(ours('c')) == numbers{0, 0, 0, 0, s.now()}));
    BOOST_TEST(s.is_line({ours('b'), ours('d')}));
    BOOST_TEST((s.leave(ours('b'), "x") == numbers{0, 0, 0, 0, s.now()}));
    BOOST_TEST(s.is_line({ours('b'), ours('d')}));
    s.client.done({"DEL", stock}); // the lock has expired
    BOOST_TEST((s.leave(ours('b')) == numbers{3, 0, 2'000, -1, s.now()}));
    BOOST_TEST(s.value() == ours('d'));
    BOOST_TEST(s.is_line({}));
}

BOOST_AUTO_TEST_CASE(next_owner_acquires_or_queues_within_the_release)
{
    scene s;
    s.acquire(ours('a'));
    BOOST_TEST((s.leave(ours('a'), {}, 0, ours('a', 2), {.lease = 7'000}) ==
                numbers{1, 1, 2 * s.now() + 1, 1, s.now()}));
    BOOST_TEST(s.value() == ours('a', 2));
    BOOST_TEST(s.left() == 7'000);
    BOOST_TEST(s.is_line({}));
    s.acquire(ours('b'));
    s.acquire(ours('c'));
    s.clock.advance(1s);
    BOOST_TEST((s.leave(ours('a', 2), {}, 0, ours('a', 3)) == numbers{4, 2, 2'000, 1, s.now()}));
    BOOST_TEST(s.is_line({ours('c'), ours('a', 3)}));
    BOOST_TEST(s.client.string({"HGET", waiters, ours('a', 3)}) ==
               std::to_string(s.now() + 20'000'000) + " 10000 2000 0");
    BOOST_TEST(s.left(line) == whole_day);
    BOOST_TEST(s.left(waiters) == whole_day);
    BOOST_TEST((s.leave(ours('b'), {}, 0, ours('a', 3)) == numbers{4, 2, 2'000, 0, s.now()}));
    BOOST_TEST(s.value() == ours('c') + "|w");
    BOOST_TEST(s.leave(ours('c'), {}, 0, ours('a', 3)).at(1) == 1);
    BOOST_TEST(s.value() == ours('a', 3));
    BOOST_TEST(s.is_line({}));
    // Another entry still holds the lock.
    s.reenter(ours('a', 3), "x");
    BOOST_TEST((s.leave(ours('a', 3), {}, 0, ours('a', 4)) == numbers{2, 2, 10'000, 0, s.now()}));
    BOOST_TEST(s.value() == ours('a', 3) + "|ew");
    BOOST_TEST(s.is_line({ours('a', 4)}));
}

BOOST_AUTO_TEST_CASE(position_of_the_next_owner_counts_no_absent_waiters)
{
    scene s;
    s.acquire(ours('a'));
    s.acquire(ours('b'), {.presence = 1'000});
    s.acquire(ours('c'));
    s.acquire(ours('d'));
    s.clock.advance(1'001ms);
    BOOST_TEST((s.leave(ours('a'), {}, 0, ours('a', 2)) == numbers{4, 2, 2'000, 1, s.now()}));
    BOOST_TEST(s.value() == ours('c') + "|w");
    BOOST_TEST(s.is_line({ours('d'), ours('a', 2)}));
}

// Without memory the next owner does not join, and the lock is not left free for external clients.
BOOST_AUTO_TEST_CASE(release_without_memory_grants_the_lock_to_the_first_waiter)
{
    for (const std::int64_t turn : {0, 100})
        for (const std::string& next : {std::string(), ours('a', 2)}) {
            scene s;
            s.acquire(ours('a'));
            s.acquire(ours('b'));
            s.client.done({"CONFIG", "SET", "maxmemory", "1"});
            BOOST_TEST((s.leave(ours('a'), {}, turn, next) == numbers{4, 0, 2'000, -1, s.now()}));
            BOOST_TEST(s.value() == ours('b'));
            BOOST_TEST(s.is_line({}));
        }
}

BOOST_AUTO_TEST_CASE(late_or_repeated_release_enqueues_no_next_owner)
{
    scene s;
    const std::string next = ours('a', 2);
    s.acquire(ours('a'));
    BOOST_TEST((s.leave(ours('a'), {}, 0, next, {.latest = s.now() - 1}) ==
                numbers{1, 0, 0, -1, s.now()}));
    BOOST_TEST(!s.exists(stock));
    BOOST_TEST((s.leave(ours('a'), {}, 0, next) == numbers{0, 0, 0, -1, s.now()}));
    BOOST_TEST(!s.exists(stock));
    s.acquire(ours('a'));
    BOOST_TEST(s.leave(ours('a'), {}, 0, next, {.latest = s.now()}).at(1) == 1);
    // If the counter is rejected, a waiting next owner stays in the queue. Its next request fails.
    for (const bool waits : {false, true}) {
        s.client.done({"FLUSHALL"});
        s.acquire(ours('a'));
        if (waits)
            s.acquire(next);
        s.client.done({"SET", fence, "x"});
        BOOST_TEST((s.leave(ours('a'), {}, 0, next) ==
                    numbers{1, waits ? 2 : 0, 0, waits ? 0 : -1, s.now()}));
        BOOST_TEST(!s.exists(stock));
        BOOST_TEST(s.value(fence) == "x");
        BOOST_TEST(s.is_line(waits ? std::vector{next} : std::vector<std::string>()));
    }
}

BOOST_AUTO_TEST_CASE(released_lock_is_left_free_for_external_clients)
{
    scene s;
    s.acquire(ours('a'));
    s.acquire(ours('b'), {.presence = 50});
    s.acquire(ours('c'));
    s.acquire(ours('d'));
    BOOST_TEST((s.leave(ours('a'), {}, 100) == numbers{5, 0, 100, -1, s.now()}));
    BOOST_TEST(!s.exists(stock));
    s.clock.advance(50ms);
    BOOST_TEST((s.acquire(ours('c')) == numbers{0, 50, 1, 0, s.now()}));
    BOOST_TEST((s.acquire(ours('e')) == numbers{0, 50, 3, 0, s.now()}));
    BOOST_TEST((s.acquire(ours('f'), {.presence = 0}) == numbers{0, 50, -1, 0, s.now()}));
    BOOST_TEST((s.leave(ours('d')) == numbers{3, 0, 0, 0, s.now()}));
    BOOST_TEST((s.acquire(ours('b')) == numbers{0, 50, 0, 0, s.now()})); // b is still present
    s.clock.advance(10ms);
    BOOST_TEST((s.leave(ours('f')) == numbers{0, 0, 0, 0, s.now()}));
    BOOST_TEST((s.acquire(ours('c')) == numbers{0, 40, 1, 0, s.now()}));
    BOOST_TEST(s.is_line({ours('b'), ours('c'), ours('e')}));
    s.clock.advance(40ms);
    BOOST_TEST(s.acquire(ours('b')).at(0) == 1);
    // Without waiters the lock is free. A leaving waiter starts no external turn.
    s.client.done({"FLUSHALL"});
    s.acquire(ours('a'));
    BOOST_TEST((s.leave(ours('a'), {}, 100) == numbers{1, 0, 0, -1, s.now()}));
    s.acquire(ours('a'));
    s.acquire(ours('b'));
    s.acquire(ours('c'));
    s.client.done({"DEL", stock});
    BOOST_TEST((s.leave(ours('b'), {}, 100) == numbers{3, 0, 2'000, -1, s.now()}));
    BOOST_TEST(s.value() == ours('c'));
}

BOOST_AUTO_TEST_CASE(external_time_ends_with_the_first_waiter_and_with_its_limit)
{
    scene s;
    const auto leave_free = [&] {
        s.client.done({"FLUSHALL"});
        s.acquire(ours('a'));
        s.acquire(ours('b'), {.presence = 500});
        s.acquire(ours('c'));
        BOOST_TEST(s.leave(ours('a'), {}, 1'000).at(0) == 5);
    };
    leave_free();
    s.clock.advance(500ms);
    BOOST_TEST(s.acquire(ours('c')).at(0) == 0);
    BOOST_TEST(s.leave(ours('d')).at(2) == 0);
    BOOST_TEST(!s.exists(stock));
    s.clock.advance(1ms);
    BOOST_TEST(s.acquire(ours('c')).at(0) == 1);
    leave_free();
    s.clock.advance(501ms);
    BOOST_TEST((s.leave(ours('d')) == numbers{0, 0, 2'000, -1, s.now()}));
    BOOST_TEST(s.value() == ours('c'));
    // If the clock is set back, no external turn is longer than a second.
    for (const bool by_leaving : {false, true}) {
        leave_free();
        s.client.done({"HSET", waiters, ours('b'),
                       std::to_string(s.now() + 9'000'000) + " 10000 2000 0 " +
                           std::to_string(s.now() + 1'000'001)});
        if (by_leaving)
            BOOST_TEST(s.leave(ours('d')).at(2) == 2'000);
        else
            BOOST_TEST(s.acquire(ours('d'), {.presence = 0}).at(1) == 2'000);
        BOOST_TEST(s.value() == ours('b') + "|w");
    }
    // The next owner enters the queue.
    s.client.done({"FLUSHALL"});
    s.acquire(ours('a'));
    s.acquire(ours('b'));
    BOOST_TEST((s.leave(ours('a'), {}, 100, ours('a', 2)) == numbers{5, 2, 100, 1, s.now()}));
    BOOST_TEST(s.is_line({ours('b'), ours('a', 2)}));
    // It is the only one in the queue.
    s.client.done({"FLUSHALL"});
    s.acquire(ours('a'));
    BOOST_TEST((s.leave(ours('a'), {}, 100, ours('a', 2)) == numbers{5, 2, 100, 0, s.now()}));
    BOOST_TEST(!s.exists(stock));
    BOOST_TEST(s.is_line({ours('a', 2)}));
    s.clock.advance(100ms);
    BOOST_TEST(s.acquire(ours('a', 2)).at(0) == 1);
}

BOOST_AUTO_TEST_CASE(renewal_extends_existing_locks_and_creates_none)
{
    scene s;
    s.client.done({"SET", "free", ours('b'), "PX", "5000"});
    s.client.done({"SET", "marked", ours('a') + "|w", "PX", "5000"});
    s.client.done({"SET", "longer", ours('a'), "PX", "5001"});
    s.client.done({"SET", "endless", ours('a')});
    s.client.done({"HSET", "hash", ours('a'), "1"});
    s.client.done({"SET", "alike", ours('a') + "1", "PX", "5000"});
    s.client.done({"SET", "entered", ours('a') + "|e", "PX", "5000"});
    s.client.done({"HSET", "entered:e", "", "1", "x", "1"});
    s.client.done({"PEXPIRE", "entered:e", "5000"});
    const words locks{"free", "none", "marked", "longer", "endless", "hash", "alike", "entered"};
    words both;
    words brief;
    words full;
    for (const std::string& each : locks) {
        both.insert(both.end(), {each, each + ":e"});
        brief.insert(brief.end(), {ours('a'), "5001"});
        full.insert(full.end(), {ours('a'), "5001", ""});
    }
    BOOST_TEST(
        (s.answer(of_native().renew_brief, locks, brief) == numbers{0, 0, 1, 1, 1, 0, 0, 2}));
    BOOST_TEST(s.left("marked") == 5'001);
    BOOST_TEST(s.left("entered") == 5'000);
    s.client.done({"PEXPIRE", "marked", "5000"});
    BOOST_TEST((s.answer(of_native().renew, both, full) == numbers{0, 0, 1, 1, 1, 0, 0, 1}));
    for (const char* each : {"marked", "longer", "entered", "entered:e"})
        BOOST_TEST(s.left(each) == 5'001);
    for (const char* each : {"free", "alike"})
        BOOST_TEST(s.left(each) == 5'000);
    BOOST_TEST(s.left("endless") == -1);
    BOOST_TEST(!s.exists("none"));
    const auto entry = [&](const std::string& lock, const std::string& which) {
        return s.answer(of_native().renew, {lock, lock + ":e"}, {ours('a'), "6000", which}).at(0);
    };
    BOOST_TEST(entry("entered", "x") == 1);
    BOOST_TEST(s.left("entered") == 6'000);
    BOOST_TEST(entry("entered", "y") == 0);
    BOOST_TEST(entry("marked", "x") == 0);
    s.client.done({"HDEL", "entered:e", ""});
    BOOST_TEST(entry("entered", "") == 0); // the first entry was released
}

BOOST_AUTO_TEST_CASE(renewal_that_fails_is_reported_for_its_lock_alone)
{
    for (const bool brief : {true, false}) {
        scene s;
        s.client.done({"SET", "short", ours('a'), "PX", "1000"});
        s.client.done({"SET", "long", ours('a'), "PX", "9000"});
        s.check_failing_renewal(0, [&](const words& locks) {
            words keys;
            words arguments;
            for (const std::string& each : locks) {
                keys.push_back(each);
                arguments.insert(arguments.end(), {ours('a'), "5000"});
                if (!brief) {
                    keys.push_back(each + ":e");
                    arguments.emplace_back();
                }
            }
            return s.run(brief ? of_native().renew_brief : of_native().renew, keys, arguments);
        });
    }
}

BOOST_AUTO_TEST_CASE(heartbeat_is_recorded_with_the_run_of_the_server)
{
    scene s;
    const auto alive = [&] { return s.answer(of_native().alive, {record('a')}, {}).at(0); };
    BOOST_TEST(alive() == 2);
    s.clock.advance(1s);
    BOOST_TEST(alive() == 1);
    BOOST_TEST(s.left(record('a')) == record_time);
    const std::string run = s.client.info("server").at("run_id");
    BOOST_TEST(s.value(record('a')) == run);
    s.client.done({"SET", record('a'), "of another run"});
    BOOST_TEST(alive() == 2);
    BOOST_TEST(s.value(record('a')) == run);
    BOOST_TEST(s.left(record('a')) == record_time);
    s.client.done({"ACL", "SETUSER", "default", "-info"});
    BOOST_TEST(alive() == 0);
}

BOOST_AUTO_TEST_CASE(holder_without_heartbeats_loses_the_lock_after_its_grace)
{
    scene s;
    const asked promising{.promises = 'a', .grace = 1'000};
    BOOST_TEST(s.acquire(ours('a'), promising).at(2) == 2);
    BOOST_TEST(s.value() == ours('a') + "|g1000");
    BOOST_TEST(s.left(record('a')) == record_time);
    s.clock.advance(400ms);
    BOOST_TEST(
        (s.acquire(ours('b'), {.report_holder = true}) == numbers{3, 600, 0, 0xaa, s.now()}));
    BOOST_TEST(s.value() == ours('a') + "|g1000w");
    s.answer(of_native().alive, {record('a')}, {});
    BOOST_TEST((s.acquire(ours('b')) == numbers{3, 1'000, 0, 0, s.now()}));
    // A lease that ends before the grace limits the wait.
    s.client.done({"PEXPIRE", stock, "300"});
    BOOST_TEST((s.acquire(ours('b')) == numbers{0, 300, 0, 0, s.now()}));
    s.client.done({"PEXPIRE", stock, "10000"});
    s.clock.advance(999ms);
    BOOST_TEST((s.acquire(ours('c'), {.presence = 0}) == numbers{3, 1, -1, 0, s.now()}));
    s.clock.advance(1ms);
    BOOST_TEST(s.acquire(ours('b')).at(0) == 1);
    BOOST_TEST(s.value() == ours('b'));
}

BOOST_AUTO_TEST_CASE(silence_of_a_holder_without_a_record_begins_at_the_next_request)
{
    scene s;
    const std::string run = s.client.info("server").at("run_id");
    s.acquire(ours('a'), {.promises = 'a', .grace = 1'000});
    for (const bool other_run : {false, true}) {
        if (other_run)
            s.client.done({"SET", record('a'), "of another run"});
        else
            s.client.done({"DEL", record('a')});
        BOOST_TEST((s.acquire(ours('b')) == numbers{3, 1'000, 0, 0, s.now()}));
        BOOST_TEST(s.value(record('a')) == run);
        BOOST_TEST(s.left(record('a')) == record_time);
    }
    // The same for a lock without a TTL.
    s.client.done({"PERSIST", stock});
    BOOST_TEST((s.acquire(ours('b')) == numbers{3, 1'000, 0, 0, s.now()}));
    // Without the right to INFO the silence is unknown.
    s.client.done({"PEXPIRE", stock, "10000"});
    s.client.done({"ACL", "SETUSER", "default", "-info"});
    BOOST_TEST((s.acquire(ours('b')) == numbers{0, 10'000, 0, 0, s.now()}));
}

BOOST_AUTO_TEST_CASE(grace_is_that_of_the_last_acquire_and_of_no_reentry)
{
    scene s;
    s.acquire(ours('a'), {.promises = 'a', .grace = 1'000});
    s.acquire(ours('b'));
    s.client.done({"DEL", record('a')});
    BOOST_TEST(s.acquire(ours('a'), {.promises = 'a', .grace = 700}).at(2) == 3);
    BOOST_TEST(s.left(record('a')) == record_time);
    BOOST_TEST(s.value() == ours('a') + "|wg700");
    BOOST_TEST(s.left() == 10'000);
    BOOST_TEST(s.acquire(ours('a')).at(2) == 1);
    BOOST_TEST(s.value() == ours('a') + "|w");
    BOOST_TEST(s.acquire(ours('a'), {.promises = 'a'}).at(2) == 3);
    // A reentrant acquisition has no grace.
    s.reenter(ours('a'), "x");
    BOOST_TEST(s.value() == ours('a') + "|we");
    BOOST_TEST(s.acquire(ours('a'), {.promises = 'a'}).at(2) == 1);
    BOOST_TEST(s.value() == ours('a') + "|we");
    // If the record cannot be written, there is no grace.
    s.client.done({"FLUSHALL"});
    s.client.done({"ACL", "SETUSER", "default", "-info"});
    BOOST_TEST(s.acquire(ours('a'), {.promises = 'a'}).at(2) == 0);
    BOOST_TEST(s.value() == ours('a'));
    BOOST_TEST(!s.exists(record('a')));
}

BOOST_AUTO_TEST_SUITE_END()
