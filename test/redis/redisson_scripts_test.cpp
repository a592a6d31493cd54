// The scripts of the layout `redisson`: each of their replies, at a server whose clock the test
// moves.
#include <boost/test/unit_test.hpp>

#include "redis/protocol/script.hpp"
#include "redis/script_scene.hpp"
#include "support/with_a_clock.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using numbers = script_scene::numbers;
using words = script_scene::words;

const std::string stock = "stock";
const std::string fence = "stock:fence";
const std::string line = "stock:line";
const std::string waiters = "stock:waiters";
const std::string freed = "stock:free";  // the release channel
const std::string turns = "stock:turn:"; // the prefix of turn channels
constexpr std::int64_t whole_day = 86'400'000;

/// An owner of this library, and one of an external client.
std::string ours(char client, int number = 1)
{
    return client_uuid(client) + ':' + std::to_string(number);
}
std::string theirs(char client)
{
    return std::string("0000000") + client + "-1111-4111-8111-111111111111:1";
}

/// The options of a request.
struct asked
{
    std::int64_t lease = 10'000;
    std::int64_t fences = 1;
    std::int64_t latest = 0;
    std::int64_t retention = 0;
    std::string entry{};             ///< Only for `acquire`.
    std::string report_holder = "0"; ///< Report the holder: 0, 1, or - without the right to.
    std::int64_t presence = 20'000;  ///< For `wait` and `leave`.
    std::int64_t claim = 2'000;
    bool listens = false;
};

struct scene : script_scene
{
    /// The words of a waiter, and of the next owner in `leave`. `acquire` uses the first five.
    words of_owner(const std::string& owner, const asked& how)
    {
        return {owner,
                std::to_string(how.lease),
                std::to_string(how.fences),
                std::to_string(how.latest),
                std::to_string(how.retention),
                std::to_string(how.presence),
                std::to_string(how.claim),
                how.listens ? "1" : "0"};
    }

    resp_value run_acquire(const std::string& owner, const asked& how = {})
    {
        words arguments = of_owner(owner, how);
        arguments.resize(5);
        arguments.insert(arguments.end(), {how.entry, how.report_holder});
        return run(redis_store::acquire_script(), {stock, fence, line}, arguments);
    }
    numbers acquire(const std::string& owner, const asked& how = {})
    {
        return numbers_of(run_acquire(owner, how));
    }

    resp_value run_wait(const std::string& owner, const asked& how = {})
    {
        words arguments = of_owner(owner, how);
        arguments.insert(arguments.end(), {turns, how.report_holder});
        return run(redis_store::of_queue().acquire, {stock, fence, line, waiters}, arguments);
    }
    numbers wait(const std::string& owner, const asked& how = {})
    {
        return numbers_of(run_wait(owner, how));
    }

    /// @param next Null: no owner is enqueued.
    numbers leave(const std::string& owner, const std::string& entry = {}, std::int64_t turn = 0,
                  const std::string* next = nullptr, const asked& how = {})
    {
        words arguments{owner, entry, freed, turns, std::to_string(turn)};
        if (next != nullptr) {
            const words joining = of_owner(*next, how);
            arguments.insert(arguments.end(), joining.begin(), joining.end());
        }
        return answer(redis_store::of_queue().leave, {stock, fence, line, waiters}, arguments);
    }

    std::int64_t release(const std::string& owner)
    {
        return answer(redis_store::release_script(), {stock, line}, {owner, freed}).at(0);
    }

    /// Moves the clock to a time whose last four bits decide for or against an external turn.
    void advance_to(std::int64_t chance)
    {
        clock.advance(std::chrono::microseconds((16 + chance - now() % 16) % 16));
        BOOST_TEST_REQUIRE(now() % 16 == chance);
    }

    using script_scene::left;
    std::int64_t left() { return left(stock); }
    std::int64_t counter() { return std::stoll(client.string({"GET", fence})); }
    bool has(const std::string& owner) { return client.integer({"HEXISTS", stock, owner}) == 1; }
    bool is_line(words owners)
    {
        for (std::string& each : owners)
            each.insert(0, "lh:");
        return is_queue(line, waiters, owners);
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(redisson_replies, *with_a_clock())

BOOST_AUTO_TEST_CASE(free_lock_is_taken_with_the_clock_as_its_fence)
{
    scene s;
    BOOST_TEST((s.acquire(ours('a')) == numbers{2 * s.now()}));
    BOOST_TEST(s.client.string({"HGET", stock, ours('a')}) == "1");
    BOOST_TEST(s.left() == 10'000);
    BOOST_TEST(s.counter() == 2 * s.now());
    BOOST_TEST(s.left(fence) == -1);
    BOOST_TEST(!s.exists(line));
}

BOOST_AUTO_TEST_CASE(late_acquire_changes_nothing)
{
    scene s;
    const std::int64_t now = s.now();
    BOOST_TEST((s.acquire(ours('a'), {.latest = now - 1}) == numbers{-1, 0, 0, now}));
    BOOST_TEST((s.wait(ours('a'), {.latest = now - 1}) == numbers{-1, 0, 0, 0, now}));
    BOOST_TEST(s.client.integer({"DBSIZE"}) == 0);
    BOOST_TEST(s.acquire(ours('a'), {.latest = now}).size() == 1u);
    BOOST_TEST(s.wait(ours('b'), {.latest = now}).at(0) == 0);
}

BOOST_AUTO_TEST_CASE(acquire_does_not_overtake_waiters)
{
    scene s;
    s.client.done({"RPUSH", line, "lh:" + ours('b')});
    BOOST_TEST((s.acquire(ours('a')) == numbers{-3, 0, 0, s.now()}));
    BOOST_TEST(!s.exists(stock));
    BOOST_TEST(!s.exists(fence));
}

BOOST_AUTO_TEST_CASE(acquire_of_a_held_lock_returns_its_ttl_and_holder)
{
    scene s;
    s.acquire(ours('a'));
    s.clock.advance(1s);
    BOOST_TEST((s.acquire(ours('b')) == numbers{0, 9'000, 0, s.now()}));
    BOOST_TEST((s.acquire(ours('b'), {.report_holder = "1"}) == numbers{0, 9'000, 0xaa, s.now()}));
    BOOST_TEST(!s.has(ours('b')));
    s.client.done({"DEL", stock});
    s.client.done({"HSET", stock, "somebody", "1"});
    BOOST_TEST((s.acquire(ours('b'), {.report_holder = "1"}) == numbers{0, -1, 0, s.now()}));
}

BOOST_AUTO_TEST_CASE(repeated_acquire_draws_a_fence_and_never_shortens)
{
    scene s;
    s.acquire(ours('a'));
    s.clock.advance(1s);
    BOOST_TEST((s.acquire(ours('a'), {.lease = 8'000}) == numbers{2 * s.now()}));
    BOOST_TEST(s.left() == 9'000);
    BOOST_TEST(
        (s.acquire(ours('a'), {.lease = 12'000}) == numbers{1, 2 * s.now() + 1, 1, s.now()}));
    BOOST_TEST(s.counter() == 2 * s.now() + 1);
    BOOST_TEST(s.left() == 12'000);
    BOOST_TEST(s.client.string({"HGET", stock, ours('a')}) == "1");
    s.client.done({"DEL", fence});
    BOOST_TEST(
        (s.acquire(ours('a'), {.lease = 13'000, .retention = 70'000}) == numbers{2 * s.now()}));
    BOOST_TEST(s.left() == 13'000);
    BOOST_TEST(s.counter() == 2 * s.now());
    BOOST_TEST(s.left(fence) == 70'000);
    // A lock without a TTL keeps none.
    s.client.done({"PERSIST", stock});
    s.acquire(ours('a'), {.lease = 20'000});
    s.acquire(ours('a'), {.lease = 20'000, .entry = "x"});
    s.wait(ours('a'), {.lease = 20'000});
    s.client.done({"DEL", fence});
    s.acquire(ours('a'), {.lease = 20'000});
    BOOST_TEST(s.left() == -1);
}

// Its connection ended before it was executed, and the owner has joined the queue since.
BOOST_AUTO_TEST_CASE(delayed_acquire_of_a_granted_waiter_returns_no_fence_of_the_holder_before)
{
    scene s;
    const std::int64_t before = s.acquire(ours('a')).at(0);
    s.wait(ours('b'));
    s.clock.advance(1ms);
    BOOST_TEST(s.leave(ours('a')).at(0) == 4);
    BOOST_TEST(s.has(ours('b')));
    BOOST_TEST(s.counter() == before);
    BOOST_TEST((s.acquire(ours('b')) == numbers{2 * s.now()}));
}

BOOST_AUTO_TEST_CASE(reentrant_acquisition_counts_once_for_the_holder_only)
{
    scene s;
    BOOST_TEST((s.acquire(ours('a'), {.entry = "x"}) == numbers{-2, 0, 0, s.now()}));
    BOOST_TEST(!s.exists(stock));
    s.acquire(ours('a'));
    const std::int64_t counter = s.counter();
    s.clock.advance(1s);
    for (int i = 0; i < 2; ++i) {
        BOOST_TEST(
            (s.acquire(ours('a'), {.lease = 5'000, .entry = "x"}) == numbers{1, 0, 0, s.now()}));
        BOOST_TEST(s.client.string({"HGET", stock, ours('a')}) == "2");
        BOOST_TEST(s.has(ours('a') + "/x"));
        BOOST_TEST(s.left() == 9'000);
    }
    s.acquire(ours('a'), {.lease = 20'000, .entry = "y"});
    BOOST_TEST(s.client.string({"HGET", stock, ours('a')}) == "3");
    BOOST_TEST(s.left() == 20'000);
    BOOST_TEST(s.counter() == counter);
    BOOST_TEST((s.acquire(ours('b'), {.entry = "x"}) == numbers{-2, 0, 0, s.now()}));
}

// Two fences per microsecond, and at most 10,000, because a server that was down for longer than 5
// ms may have lost its last fences.
BOOST_AUTO_TEST_CASE(block_of_fences_fills_the_range_since_the_block_before)
{
    for (const bool waits : {false, true}) {
        scene s;
        const auto grant = [&](std::int64_t fences) {
            const asked how{.fences = fences, .retention = 60'000};
            numbers said = waits ? s.wait(ours('a'), how) : s.acquire(ours('a'), how);
            if (said.size() == 1) // all of them
                said = {1, said.at(0) - fences + 1, fences};
            BOOST_TEST(s.counter() == said.at(1) + said.at(2) - 1);
            BOOST_TEST(s.left(fence) == 60'000);
            s.client.done({"DEL", stock});
            said.resize(3);
            return said;
        };
        const auto clock = [&] { return 2 * s.now(); };
        BOOST_TEST((grant(1'000) == numbers{1, clock(), 1})); // no counter
        s.clock.advance(1ms);
        BOOST_TEST((grant(1'000) == numbers{1, clock() - 999, 1'000}));
        s.clock.advance(1ms);
        BOOST_TEST((grant(5'000) == numbers{1, clock() - 1'999, 2'000}));
        s.clock.advance(10ms);
        BOOST_TEST((grant(20'000) == numbers{1, clock() - 9'999, 10'000}));
        s.clock.advance(1ms);
        BOOST_TEST((grant(1) == numbers{1, clock(), 1}));
        BOOST_TEST((grant(5) == numbers{1, clock() + 1, 1})); // the clock has not moved
        s.client.done({"SET", fence, std::to_string(clock() + 100)});
        BOOST_TEST((grant(5) == numbers{1, clock() + 101, 1}));
    }
}

BOOST_AUTO_TEST_CASE(counter_without_a_retention_never_expires)
{
    for (const bool waits : {false, true}) {
        scene s;
        const auto grant = [&] { return waits ? s.wait(ours('a')) : s.acquire(ours('a')); };
        for (const std::int64_t ahead : {-100, 100}) {
            s.client.done({"SET", fence, std::to_string(2 * s.now() + ahead), "PX", "60000"});
            grant();
            BOOST_TEST(s.left(fence) == -1);
            BOOST_TEST(s.counter() == 2 * s.now() + (ahead > 0 ? ahead + 1 : 0));
            s.client.done({"DEL", stock});
        }
    }
}

BOOST_AUTO_TEST_CASE(counter_without_a_fence_is_rejected_and_left_unchanged)
{
    scene s;
    for (const std::string text : {"x", "1.5", "9007199254740991"}) {
        s.client.done({"SET", fence, text});
        const resp_value taken = s.run_acquire(ours('a'));
        const resp_value waited = s.run_wait(ours('a'));
        for (const resp_value& said : {taken, waited}) {
            BOOST_TEST(said.is_error());
            BOOST_TEST(said.text == "WRONGTYPE the key stock:fence holds no fence");
        }
        BOOST_TEST(s.client.string({"GET", fence}) == text);
        BOOST_TEST(!s.exists(stock));
        // The request of the holder fails, too, and the lock stays.
        s.client.done({"HSET", stock, ours('a'), "1"});
        BOOST_TEST(s.run_acquire(ours('a')).is_error());
        BOOST_TEST(s.client.string({"GET", fence}) == text);
        BOOST_TEST(s.has(ours('a')));
        s.client.done({"DEL", stock});
    }
    s.client.done({"SET", fence, "9007199254740990"});
    BOOST_TEST((s.acquire(ours('a')) == numbers{1, 9007199254740991, 1, s.now()}));
}

BOOST_AUTO_TEST_CASE(key_of_another_type_is_named_and_left_unchanged)
{
    scene s;
    const auto refused = [&](const std::string& why) {
        const resp_value taken = s.run_acquire(ours('a'));
        BOOST_TEST(taken.text == why);
        const resp_value waited = s.run_wait(ours('a'));
        BOOST_TEST(waited.text == why);
    };
    s.client.done({"SET", stock, "x"});
    refused("WRONGTYPE the key stock holds string, a lock is a hash");
    BOOST_TEST(s.client.string({"GET", stock}) == "x");
    s.client.done({"DEL", stock});
    s.client.done({"LPUSH", fence, "x"});
    refused("WRONGTYPE the key stock:fence holds list, a fence counter is a string");
    s.client.done({"HSET", stock, ours('a'), "1"});
    refused("WRONGTYPE the key stock:fence holds list, a fence counter is a string");
}

// Without these rights a lock without a TTL would remain, or a marker that keeps the lock held.
BOOST_AUTO_TEST_CASE(script_undoes_its_writes_without_the_right_to_finish)
{
    scene s;
    s.acquire(ours('a'));
    s.client.done({"ACL", "SETUSER", "default", "-hincrby"});
    BOOST_TEST(s.run_acquire(ours('a'), {.entry = "x"}).is_error());
    BOOST_TEST(!s.has(ours('a') + "/x"));
    s.client.done({"ACL", "SETUSER", "default", "+hincrby"});
    s.client.done({"RPUSH", line, "lh:" + ours('b')});
    s.client.done({"HSET", waiters, "lh:" + ours('b'),
                   std::to_string(s.now() + 1'000'000) + " 10000 2000 0"});

    s.client.done({"ACL", "SETUSER", "default", "-pexpire"});
    s.advance_to(15);
    BOOST_TEST(s.leave(ours('a')).at(0) == 4);
    BOOST_TEST(!s.exists(stock));
    const std::string next = ours('a', 2);
    s.client.done({"HSET", stock, ours('a'), "1"});
    listener hears(s.server, freed);
    BOOST_TEST((s.leave(ours('a'), {}, 0, &next) == numbers{1, 1, 0, 0, 0, s.now()}));
    BOOST_TEST(!s.exists(stock));
    BOOST_TEST(s.run_acquire(ours('a')).is_error());
    BOOST_TEST(!s.exists(stock));
    BOOST_TEST(s.run_wait(ours('a'), {.presence = 0}).is_error());
    BOOST_TEST(!s.exists(stock));
}

BOOST_AUTO_TEST_CASE(renewal_that_fails_is_reported_for_its_lock_alone)
{
    scene s;
    for (const auto& [lock, left] : {std::pair("short", "1000"), std::pair("long", "9000")}) {
        s.client.done({"HSET", lock, ours('a'), "1"});
        s.client.done({"PEXPIRE", lock, left});
    }
    s.check_failing_renewal(0, [&](const words& locks) {
        words arguments;
        for (std::size_t i = 0; i < locks.size(); ++i)
            arguments.insert(arguments.end(), {ours('a'), "5000"});
        return s.run(redis_store::renew_script(), locks, arguments);
    });
}

BOOST_AUTO_TEST_CASE(last_release_without_waiters_frees_and_publishes)
{
    scene s;
    BOOST_TEST(s.release(ours('a')) == -2);
    s.acquire(ours('a'));
    BOOST_TEST(s.release(ours('b')) == -2);
    s.acquire(ours('a'), {.entry = "x"});
    BOOST_TEST(s.release(ours('a')) == -2); // reentrant acquisition
    BOOST_TEST(s.leave(ours('a'), "x").at(0) == 2);
    s.client.done({"HSET", stock, theirs('b'), "1"});
    BOOST_TEST(s.release(ours('a')) == -2); // another field in the hash
    s.client.done({"HDEL", stock, theirs('b')});
    s.wait(ours('b'));
    BOOST_TEST(s.release(ours('a')) == -2); // there is a waiter
    BOOST_TEST(s.has(ours('a')));
    s.client.done({"DEL", line, waiters});
    listener hears(s.server, freed);
    BOOST_TEST(s.release(ours('a')) == 1);
    BOOST_TEST(!s.exists(stock));
    BOOST_TEST(hears.heard() == "0");
    s.acquire(ours('a'));
    s.client.done({"ACL", "SETUSER", "default", "-publish"});
    BOOST_TEST(s.release(ours('a')) == -1);
    BOOST_TEST(!s.exists(stock));
}

BOOST_AUTO_TEST_CASE(group_of_releases_frees_exactly_the_locks_of_their_owners)
{
    scene s;
    const std::string mine = ours('a');
    for (const char* const name : {"free", "free too", "entered", "waited for"})
        s.client.done({"HSET", name, mine, "1"});
    s.client.done({"HSET", "entered", mine + "/x", "1"});
    s.client.done({"HSET", "of another", ours('b'), "1"});
    s.client.done({"HSET", "twice", mine, "2"});
    s.client.done({"SET", "text", mine});
    s.client.done({"RPUSH", "waited for:line", ours('b')});
    words keys, owners;
    for (const std::string name :
         {"free", "none", "entered", "of another", "twice", "text", "waited for", "free too"}) {
        keys.insert(keys.end(), {name, name + ":line"});
        owners.insert(owners.end(), {mine, name + ":free"});
    }
    const auto release = [&] { return s.answer(redis_store::release_all_script(), keys, owners); };
    listener hears(s.server, "free too:free");
    BOOST_TEST((release() == numbers{0, -2, -2, -2, -2, -2, -2, 1}));
    BOOST_TEST(hears.heard() == "0");
    for (const char* const each : {"free", "free too"})
        BOOST_TEST(!s.exists(each));
    for (const char* const each : {"entered", "of another", "twice", "text", "waited for"})
        BOOST_TEST(s.exists(each));
    // A queue keeps only its own lock from being released.
    s.client.done({"HSET", "free", mine, "1"});
    s.client.done({"ACL", "SETUSER", "default", "-publish"});
    BOOST_TEST((release() == numbers{-1, -2, -2, -2, -2, -2, -2, -2}));
    BOOST_TEST(!s.exists("free"));
}

BOOST_AUTO_TEST_CASE(renewal_extends_existing_locks_and_creates_none)
{
    scene s;
    s.acquire(ours('a'));
    s.clock.advance(1s);
    s.client.done({"SET", "text", "x"});
    s.client.done({"HSET", "endless", ours('a'), "1"});
    const auto renew = [&](std::int64_t lease) {
        words arguments;
        for (int i = 0; i < 4; ++i)
            arguments.insert(arguments.end(), {ours('a'), std::to_string(lease)});
        return s.answer(redis_store::renew_script(), {stock, "none", "text", "endless"}, arguments);
    };
    BOOST_TEST((renew(9'000) == numbers{1, 0, 0, 1}));
    BOOST_TEST(s.left() == 9'000);
    BOOST_TEST((renew(9'001) == numbers{1, 0, 0, 1}));
    BOOST_TEST(s.left() == 9'001);
    BOOST_TEST(s.left("endless") == -1);
    BOOST_TEST(!s.exists("none"));
    BOOST_TEST(
        (s.answer(redis_store::renew_script(), {stock}, {ours('b'), "60000"}) == numbers{0}));
    BOOST_TEST(s.left() == 9'001);
}

BOOST_AUTO_TEST_CASE(acquire_of_a_free_lock_reports_other_waiters)
{
    scene s;
    BOOST_TEST((s.wait(ours('a')) == numbers{1, 2 * s.now(), 1, 0, s.now()}));
    BOOST_TEST(s.client.string({"HGET", stock, ours('a')}) == "1");
    BOOST_TEST(s.left() == 10'000);
    BOOST_TEST(s.is_line({}));
    s.wait(ours('b'));
    s.wait(ours('c'));
    s.client.done({"DEL", stock});
    s.clock.advance(1ms);
    BOOST_TEST((s.wait(ours('b'), {.lease = 7'000}) == numbers{1, 2 * s.now(), 1, 1, s.now()}));
    BOOST_TEST(s.left() == 7'000);
    BOOST_TEST(s.is_line({ours('c')}));
}

BOOST_AUTO_TEST_CASE(waiter_keeps_its_position)
{
    scene s;
    s.acquire(ours('a'));
    for (int round = 0; round < 2; ++round) {
        BOOST_TEST((s.wait(ours('b')) == numbers{0, 10'000, 0, 0, s.now()}));
        BOOST_TEST((s.wait(ours('c')) == numbers{0, 10'000, 1, 0, s.now()}));
        BOOST_TEST((s.wait(ours('d')) == numbers{0, 10'000, 2, 0, s.now()}));
        BOOST_TEST(s.is_line({ours('b'), ours('c'), ours('d')}));
    }
    BOOST_TEST(s.left(line) == whole_day);
    BOOST_TEST(s.left(waiters) == whole_day);
    // A request without presence does not join.
    BOOST_TEST((s.wait(ours('e'), {.presence = 0}) == numbers{0, 10'000, -1, 0, s.now()}));
    BOOST_TEST(s.is_line({ours('b'), ours('c'), ours('d')}));
    // Only the first waiter extends the TTL of the queue.
    s.clock.advance(1s);
    s.wait(ours('c'));
    BOOST_TEST(s.left(line) == whole_day - 1'000);
    s.wait(ours('b'));
    BOOST_TEST(s.left(line) == whole_day);
    BOOST_TEST(s.left(waiters) == whole_day);
    // A position far back is not searched.
    for (int i = 0; i < 30; ++i)
        s.wait(ours('f', i));
    BOOST_TEST(s.wait(ours('f', 28)).at(2) == 31);
    BOOST_TEST(s.wait(ours('f', 29)).at(2) == -2);
}

BOOST_AUTO_TEST_CASE(reply_to_a_waiter_names_the_holder)
{
    scene s;
    s.acquire(ours('a'));
    BOOST_TEST((s.wait(ours('b'), {.report_holder = "1"}) == numbers{0, 10'000, 0, 0xaa, s.now()}));
    BOOST_TEST((s.wait(ours('c'), {.report_holder = "-"}) == numbers{2, 10'000, 1, 0, s.now()}));
    BOOST_TEST((s.wait(ours('d'), {.report_holder = "-"}) == numbers{0, 10'000, 2, 0, s.now()}));
    BOOST_TEST((s.wait(ours('d'), {.report_holder = "1"}) == numbers{0, 10'000, 2, 0xaa, s.now()}));
    // If the holder does not use the queue, the first two waiters subscribe to its release channel.
    s.client.done({"DEL", stock});
    s.client.done({"HSET", stock, theirs('e'), "1"});
    s.client.done({"PEXPIRE", stock, "5000"});
    BOOST_TEST((s.wait(ours('b')) == numbers{2, 5'000, 0, 0, s.now()}));
    BOOST_TEST((s.wait(ours('c'), {.report_holder = "1"}) == numbers{2, 5'000, 1, 14, s.now()}));
    BOOST_TEST((s.wait(ours('d')) == numbers{0, 5'000, 2, 0, s.now()}));
}

BOOST_AUTO_TEST_CASE(holder_is_unknown_without_the_right_to_hrandfield)
{
    scene s;
    s.acquire(ours('a'));
    s.client.done({"ACL", "SETUSER", "default", "-hrandfield"});
    BOOST_TEST((s.acquire(ours('b'), {.report_holder = "1"}) == numbers{0, 10'000, -1, s.now()}));
    BOOST_TEST((s.wait(ours('b')) == numbers{2, 10'000, 0, -1, s.now()}));
    BOOST_TEST((s.wait(ours('c'), {.report_holder = "1"}) == numbers{2, 10'000, 1, -1, s.now()}));
    BOOST_TEST((s.wait(ours('d'), {.report_holder = "1"}) == numbers{0, 10'000, 2, -1, s.now()}));
}

BOOST_AUTO_TEST_CASE(waiter_that_holds_the_lock_gets_a_fence_and_leaves_the_queue)
{
    scene s;
    s.acquire(ours('a'));
    s.wait(ours('b'));
    s.wait(ours('c'));
    s.client.done({"DEL", stock});
    s.client.done({"HSET", stock, ours('c'), "1"}); // past the queue
    s.client.done({"PEXPIRE", stock, "5000"});
    s.clock.advance(1ms);
    BOOST_TEST((s.wait(ours('c')) == numbers{1, 2 * s.now(), 1, 1, s.now()}));
    BOOST_TEST(s.left() == 10'000);
    BOOST_TEST(s.is_line({ours('b')}));
    BOOST_TEST((s.wait(ours('c'), {.lease = 3'000}) == numbers{1, 2 * s.now() + 1, 1, 1, s.now()}));
    BOOST_TEST(s.left() == 10'000);
}

BOOST_AUTO_TEST_CASE(free_lock_is_granted_to_the_first_present_waiter)
{
    scene s;
    s.acquire(ours('a'));
    s.wait(ours('b'), {.presence = 1'000});
    s.wait(ours('c'), {.lease = 3'000, .presence = 30'000, .claim = 2'000});
    s.wait(ours('d'), {.lease = 1'500, .presence = 30'000, .claim = 2'000});
    s.wait(ours('e'));
    s.client.done({"DEL", stock});
    s.clock.advance(1'001ms); // the presence of b has expired
    BOOST_TEST((s.wait(ours('f')) == numbers{0, 2'000, 2, 0, s.now()}));
    BOOST_TEST(s.client.string({"HGET", stock, ours('c')}) == "1");
    BOOST_TEST(s.left() == 2'000); // its claim
    BOOST_TEST((s.leave(ours('f')) == numbers{3, 0, 0, 0, 0, s.now()}));
    BOOST_TEST(s.is_line({ours('d'), ours('e')}));
    s.client.done({"DEL", stock});
    BOOST_TEST((s.wait(ours('f'), {.presence = 0}) == numbers{0, 1'500, -1, 0, s.now()}));
    BOOST_TEST(s.has(ours('d')));
    BOOST_TEST(s.left() == 1'500); // its lease
    BOOST_TEST(s.is_line({ours('e')}));
    // The presence of e ends now.
    s.client.done({"DEL", stock});
    s.clock.advance(18'999ms);
    BOOST_TEST(s.wait(ours('f'), {.presence = 0}).at(0) == 0);
    BOOST_TEST(s.has(ours('e')));
}

BOOST_AUTO_TEST_CASE(listening_waiter_is_notified_and_is_skipped_without_a_subscriber)
{
    for (const bool by_leaving : {false, true}) {
        scene s;
        s.acquire(ours('a'));
        s.wait(ours('b'), {.listens = true});
        s.wait(ours('c'), {.listens = true});
        listener hears(s.server, turns + client_uuid('c'));
        s.advance_to(15);
        if (by_leaving) {
            BOOST_TEST((s.leave(ours('a')) == numbers{4, 0, 0, 2'000, -1, s.now()}));
        }
        else {
            s.client.done({"DEL", stock});
            BOOST_TEST((s.wait(ours('d'), {.presence = 0}) == numbers{0, 2'000, -1, 0, s.now()}));
        }
        BOOST_TEST(hears.heard() == "lh:" + ours('c') + " stock");
        BOOST_TEST(s.has(ours('c')));
        BOOST_TEST(s.is_line({}));
    }
}

BOOST_AUTO_TEST_CASE(at_most_a_hundred_absent_waiters_are_skipped_in_one_step)
{
    for (const bool by_leaving : {false, true}) {
        for (const int absent : {99, 100}) {
            scene s;
            s.acquire(ours('a'));
            for (int i = 0; i < absent; ++i)
                s.client.done({"RPUSH", line, "lh:" + ours('b', i)});
            s.wait(ours('c'));
            s.advance_to(15);
            if (by_leaving) {
                const std::string next = ours('a', 2);
                const numbers said = s.leave(ours('a'), {}, 0, &next);
                BOOST_TEST(said.at(0) == (absent == 99 ? 4 : 1));
                BOOST_TEST(said.at(2) == 2);
                BOOST_TEST(
                    s.is_line(absent == 99 ? std::vector{next} : std::vector{ours('c'), next}));
                BOOST_TEST(s.has(ours('c')) == (absent == 99));
                continue;
            }
            s.client.done({"DEL", stock});
            if (absent == 100)
                BOOST_TEST((s.wait(ours('c')) == numbers{0, 0, 0, 0, s.now()}));
            BOOST_TEST(s.wait(ours('c')).at(0) == 1);
            BOOST_TEST(s.is_line({}));
        }
    }
}

BOOST_AUTO_TEST_CASE(lock_without_waiters_is_freed_and_the_release_is_published)
{
    scene s;
    s.acquire(ours('a'));
    listener hears(s.server, freed);
    BOOST_TEST((s.leave(ours('a')) == numbers{1, 1, 0, 0, -1, s.now()}));
    BOOST_TEST(!s.exists(stock));
    BOOST_TEST(hears.heard() == "0");
    BOOST_TEST((s.leave(ours('a')) == numbers{0, 1, 0, 0, -1, s.now()})); // repeated
}

BOOST_AUTO_TEST_CASE(released_lock_is_granted_to_the_first_present_waiter)
{
    scene s;
    s.acquire(ours('a'));
    s.wait(ours('b'), {.presence = 1'000});
    s.wait(ours('c'), {.lease = 3'000, .claim = 2'000});
    s.wait(ours('d'), {.lease = 1'500, .claim = 2'000});
    s.clock.advance(1'001ms);
    s.advance_to(15);
    BOOST_TEST((s.leave(ours('a')) == numbers{4, 0, 0, 2'000, -1, s.now()}));
    BOOST_TEST(s.client.string({"HGET", stock, ours('c')}) == "1");
    BOOST_TEST(!s.has(ours('a')));
    BOOST_TEST(s.left() == 2'000);
    BOOST_TEST(s.is_line({ours('d')}));
    BOOST_TEST((s.leave(ours('c')) == numbers{4, 0, 0, 1'500, -1, s.now()}));
    BOOST_TEST(s.left() == 1'500);
    BOOST_TEST(s.leave(ours('d')).at(0) == 1);
    BOOST_TEST(!s.exists(stock));
}

BOOST_AUTO_TEST_CASE(lock_is_held_until_each_acquisition_is_released)
{
    scene s;
    s.acquire(ours('a'));
    s.acquire(ours('a'), {.entry = "x"});
    s.acquire(ours('a'), {.entry = "y"});
    BOOST_TEST((s.leave(ours('a'), "z") == numbers{0, 0, 0, 0, 0, s.now()}));
    BOOST_TEST((s.leave(ours('a'), "x") == numbers{2, 0, 0, 0, 0, s.now()}));
    BOOST_TEST((s.leave(ours('a'), "x") == numbers{0, 0, 0, 0, 0, s.now()}));
    BOOST_TEST(s.client.string({"HGET", stock, ours('a')}) == "2");
    BOOST_TEST((s.leave(ours('a')) == numbers{2, 0, 0, 0, 0, s.now()}));
    BOOST_TEST((s.leave(ours('a')) == numbers{0, 0, 0, 0, 0, s.now()})); // repeated
    BOOST_TEST(s.client.string({"HGET", stock, ours('a')}) == "1");
    BOOST_TEST(s.leave(ours('a'), "y").at(0) == 1);
    BOOST_TEST(!s.exists(stock));
}

BOOST_AUTO_TEST_CASE(leaving_waiter_grants_a_free_lock_to_the_next)
{
    scene s;
    s.acquire(ours('a'));
    for (const char each : {'b', 'c', 'd'})
        s.wait(ours(each));
    BOOST_TEST((s.leave(ours('c')) == numbers{3, 0, 0, 0, 0, s.now()}));
    BOOST_TEST((s.leave(ours('c')) == numbers{0, 0, 0, 0, 0, s.now()}));
    BOOST_TEST(s.is_line({ours('b'), ours('d')}));
    BOOST_TEST(s.has(ours('a')));
    // The release of an entry does not remove the waiter.
    BOOST_TEST((s.leave(ours('b'), "x") == numbers{0, 0, 0, 0, 0, s.now()}));
    BOOST_TEST(s.is_line({ours('b'), ours('d')}));
    s.client.done({"DEL", stock}); // the lock has expired
    BOOST_TEST((s.leave(ours('b')) == numbers{3, 0, 0, 2'000, -1, s.now()}));
    BOOST_TEST(s.has(ours('d')));
    BOOST_TEST(s.is_line({}));
}

BOOST_AUTO_TEST_CASE(next_owner_acquires_or_queues_within_the_release)
{
    scene s;
    const std::string next = ours('a', 2);
    s.acquire(ours('a'));
    s.clock.advance(1ms);
    const asked block{.lease = 7'000, .fences = 100, .retention = 60'000};
    BOOST_TEST((s.leave(ours('a'), {}, 0, &next, block) ==
                numbers{1, 0, 1, 2 * s.now() - 99, 100, s.now()}));
    BOOST_TEST(s.has(next));
    BOOST_TEST(!s.has(ours('a')));
    BOOST_TEST(s.left() == 7'000);
    BOOST_TEST(s.left(fence) == 60'000);
    BOOST_TEST(s.is_line({}));
    // The next owner queues behind the other waiters.
    s.wait(ours('b'));
    s.wait(ours('c'));
    s.clock.advance(1s);
    s.advance_to(15);
    const std::string third = ours('a', 3);
    BOOST_TEST((s.leave(next, {}, 0, &third) == numbers{4, 0, 2, 2'000, 1, s.now()}));
    BOOST_TEST(s.is_line({ours('c'), third}));
    BOOST_TEST(s.client.string({"HGET", waiters, "lh:" + third}) ==
               std::to_string(s.now() + 20'000'000) + " 10000 2000 0");
    BOOST_TEST(s.left(line) == whole_day);
    BOOST_TEST(s.left(waiters) == whole_day);
    // The next owner waits already.
    BOOST_TEST((s.leave(ours('b'), {}, 0, &third) == numbers{4, 0, 2, 2'000, 0, s.now()}));
    BOOST_TEST(s.is_line({third}));
    s.clock.advance(16us);
    BOOST_TEST((s.leave(ours('c'), {}, 0, &third) == numbers{1, 0, 1, 2 * s.now(), 1, s.now()}));
    BOOST_TEST(s.is_line({}));
    // Another entry still holds the lock.
    s.acquire(third, {.entry = "x"});
    const std::string fourth = ours('a', 4);
    BOOST_TEST((s.leave(third, {}, 0, &fourth) == numbers{2, 0, 2, 10'000, 0, s.now()}));
    BOOST_TEST(s.is_line({fourth}));
}

BOOST_AUTO_TEST_CASE(next_owner_draws_above_a_counter_that_is_ahead_of_the_clock)
{
    for (const std::int64_t retention : {0, 60'000}) {
        scene s;
        const std::string next = ours('a', 2);
        s.acquire(ours('a'));
        const std::int64_t ahead = 2 * s.now() + 100;
        s.client.done({"SET", fence, std::to_string(ahead)});
        const asked how{.fences = 5, .retention = retention};
        BOOST_TEST(
            (s.leave(ours('a'), {}, 0, &next, how) == numbers{1, 0, 1, ahead + 1, 1, s.now()}));
        BOOST_TEST(s.counter() == ahead + 1);
        BOOST_TEST(s.left(fence) == (retention == 0 ? -1 : retention));
    }
}

BOOST_AUTO_TEST_CASE(next_owner_without_a_counter_draws_one_fence)
{
    scene s;
    const std::string next = ours('a', 2);
    s.acquire(ours('a'));
    s.client.done({"DEL", fence});
    BOOST_TEST((s.leave(ours('a'), {}, 0, &next, {.fences = 100}) ==
                numbers{1, 0, 1, 2 * s.now(), 1, s.now()}));
}

BOOST_AUTO_TEST_CASE(late_or_repeated_release_enqueues_no_next_owner)
{
    scene s;
    const std::string next = ours('a', 2);
    s.acquire(ours('a'));
    BOOST_TEST((s.leave(ours('a'), {}, 0, &next, {.latest = s.now() - 1}) ==
                numbers{1, 0, 0, 0, -1, s.now()}));
    BOOST_TEST(!s.exists(stock));
    s.acquire(ours('b'));
    s.wait(ours('c'));
    s.client.done({"DEL", stock});
    s.advance_to(15);
    BOOST_TEST((s.leave(ours('a'), {}, 0, &next) == numbers{0, 0, 0, 2'000, -1, s.now()}));
    BOOST_TEST(s.has(ours('c')));
    BOOST_TEST(s.is_line({}));
    BOOST_TEST((s.leave(ours('c'), {}, 0, &next, {.latest = s.now()})).at(2) == 1);
}

// If the counter is rejected, a waiting next owner stays in the queue. Its next request fails.
BOOST_AUTO_TEST_CASE(next_owner_without_a_fence_does_not_get_the_lock)
{
    for (const std::string counter : {"x", "1.5", "9007199254740991"}) {
        for (const bool waits : {false, true}) {
            scene s;
            const std::string next = ours('a', 2);
            s.acquire(ours('a'));
            if (waits)
                s.wait(next);
            s.client.done({"SET", fence, counter});
            s.advance_to(15);
            BOOST_TEST((s.leave(ours('a'), {}, 0, &next) ==
                        numbers{1, 0, waits ? 2 : 0, 0, waits ? 0 : -1, s.now()}));
            BOOST_TEST(!s.exists(stock));
            BOOST_TEST(s.client.string({"GET", fence}) == counter);
            BOOST_TEST(s.is_line(waits ? std::vector{next} : std::vector<std::string>()));
        }
    }
}

BOOST_AUTO_TEST_CASE(released_lock_is_left_free_for_external_clients)
{
    scene s;
    s.acquire(ours('a'));
    for (const char each : {'b', 'c', 'd'})
        s.wait(ours(each));
    listener hears(s.server, freed);
    BOOST_TEST((s.leave(ours('a'), {}, 100) == numbers{5, 0, 0, 100, -1, s.now()}));
    BOOST_TEST(hears.heard() == "0");
    BOOST_TEST(!s.exists(stock));
    s.clock.advance(60ms);
    // The turn lasts another 40 ms, and the first waiter listens.
    BOOST_TEST((s.wait(ours('c')) == numbers{0, 40, 1, 0, s.now()}));
    BOOST_TEST((s.wait(ours('e')) == numbers{0, 40, 3, 0, s.now()}));
    BOOST_TEST((s.wait(ours('f'), {.presence = 0}) == numbers{0, 40, -1, 0, s.now()}));
    BOOST_TEST((s.wait(ours('b')) == numbers{2, 40, 0, 0, s.now()}));
    BOOST_TEST((s.leave(ours('d')) == numbers{3, 0, 0, 0, 0, s.now()}));
    BOOST_TEST(!s.exists(stock));
    BOOST_TEST(s.is_line({ours('b'), ours('c'), ours('e')}));
    s.clock.advance(40ms);
    BOOST_TEST((s.wait(ours('b')) == numbers{1, 2 * s.now(), 1, 1, s.now()}));
    BOOST_TEST(s.is_line({ours('c'), ours('e')}));
}

// The first waiter finds the lock held, so the external turn is over.
BOOST_AUTO_TEST_CASE(external_time_ends_when_an_external_client_acquires)
{
    scene s;
    s.acquire(ours('a'));
    s.wait(ours('b'));
    BOOST_TEST(s.leave(ours('a'), {}, 1'000).at(0) == 5);
    s.client.done({"HSET", stock, theirs('e'), "1"});
    BOOST_TEST(s.wait(ours('b')).at(0) == 2);
    s.client.done({"DEL", stock});
    BOOST_TEST(s.wait(ours('b')).at(0) == 1);
}

BOOST_AUTO_TEST_CASE(external_time_ends_when_the_first_waiter_leaves_or_is_absent)
{
    scene s;
    const auto leave_free = [&] {
        s.client.done({"FLUSHALL"});
        s.acquire(ours('a'));
        s.wait(ours('b'), {.presence = 500});
        s.wait(ours('c'));
        BOOST_TEST(s.leave(ours('a'), {}, 1'000).at(0) == 5);
    };
    leave_free();
    BOOST_TEST((s.leave(ours('b')) == numbers{3, 0, 0, 2'000, -1, s.now()}));
    BOOST_TEST(s.has(ours('c')));
    leave_free();
    s.clock.advance(500ms);
    BOOST_TEST(s.wait(ours('c')).at(0) == 0);
    BOOST_TEST(s.leave(ours('d')).at(3) == 0);
    BOOST_TEST(!s.exists(stock));
    s.clock.advance(1ms);
    BOOST_TEST(s.wait(ours('c')).at(0) == 1);
    // The first waiter extends its presence.
    leave_free();
    s.clock.advance(400ms);
    BOOST_TEST((s.wait(ours('b')) == numbers{2, 600, 0, 0, s.now()}));
    s.clock.advance(200ms);
    BOOST_TEST((s.wait(ours('c')) == numbers{0, 400, 1, 0, s.now()}));
    // If the clock is set back, no external turn is longer than a second.
    leave_free();
    s.clock.advance(-1us);
    s.client.done({"HSET", waiters, "lh:" + ours('b'),
                   std::to_string(s.now() + 9'000'000) + " 10000 2000 0 " +
                       std::to_string(s.now() + 1'000'001)});
    BOOST_TEST(s.wait(ours('d'), {.presence = 0}).at(1) == 2'000);
    BOOST_TEST(s.has(ours('b')));
}

BOOST_AUTO_TEST_CASE(leaving_waiter_starts_no_external_time)
{
    scene s;
    s.acquire(ours('a'));
    s.wait(ours('b'));
    s.wait(ours('c'));
    s.client.done({"DEL", stock}); // the lock has expired
    BOOST_TEST((s.leave(ours('b'), {}, 100) == numbers{3, 0, 0, 2'000, -1, s.now()}));
    BOOST_TEST(s.has(ours('c')));
}

BOOST_AUTO_TEST_CASE(next_owner_queues_while_the_lock_is_left_free)
{
    scene s;
    const std::string next = ours('a', 2);
    s.acquire(ours('a'));
    s.wait(ours('b'));
    BOOST_TEST((s.leave(ours('a'), {}, 100, &next) == numbers{5, 0, 2, 100, 1, s.now()}));
    BOOST_TEST(s.is_line({ours('b'), next}));
}

BOOST_AUTO_TEST_CASE(single_next_owner_respects_the_external_time)
{
    scene s;
    const std::string next = ours('a', 2);
    s.acquire(ours('a'));
    BOOST_TEST((s.leave(ours('a'), {}, 100, &next) == numbers{5, 0, 2, 100, 0, s.now()}));
    BOOST_TEST(!s.exists(stock));
    BOOST_TEST(s.is_line({next}));
    BOOST_TEST((s.wait(next) == numbers{2, 100, 0, 0, s.now()}));
    s.clock.advance(100ms);
    BOOST_TEST(s.wait(next).at(0) == 1);
}

// With n waiters, one release of n + 1 leaves the lock free, but at least one of 16. Without a
// subscriber, none does.
BOOST_AUTO_TEST_CASE(external_clients_get_as_many_turns_as_one_waiter)
{
    scene s;
    const auto is_left_free = [&](int count, std::int64_t chance) {
        s.client.done({"FLUSHALL"});
        s.acquire(ours('a'));
        for (int i = 0; i < count; ++i)
            s.wait(ours('b', i));
        s.advance_to(chance);
        const numbers said = s.leave(ours('a'));
        BOOST_TEST((said.at(0) == 4 || (said.at(0) == 5 && said.at(3) == 5)));
        return said.at(0) == 5;
    };
    for (std::int64_t chance = 0; chance < 16; ++chance)
        BOOST_TEST(!is_left_free(1, chance));
    listener hears(s.server, freed);
    for (const int count : {1, 2, 3, 7, 14, 15, 20})
        for (std::int64_t chance = 0; chance < 16; ++chance)
            BOOST_TEST(is_left_free(count, chance) == (chance == 0 || chance * (count + 1) < 16),
                       count << " in line, chance " << chance);
}

BOOST_AUTO_TEST_SUITE_END()
