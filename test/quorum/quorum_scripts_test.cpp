// The scripts of a quorum member: each of their replies, at a server whose clock the test moves.
#include <boost/test/unit_test.hpp>

#include "redis/protocol/script.hpp"
#include "redis/script_scene.hpp"
#include "support/with_a_clock.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using numbers = script_scene::numbers;
using redis_store::of_quorum;

constexpr std::int64_t day = 86'400'000'000; // microseconds

/// A request to a member, with defaults.
struct offer
{
    std::string name = "lock";
    std::string owner = "lhq:000000aa-1111-1111-1111-111111111111:1";
    std::int64_t first = 0;
    std::int64_t count = 1;
    std::int64_t epoch = 1;
    std::int64_t latest = 0;
    std::int64_t retention = 0;
    std::int64_t lease = 10'000;
    bool only_ours = false;
    bool needs_holder = false;
};

struct member : script_scene
{
    numbers inspect(std::int64_t nonce = 7)
    {
        return answer(of_quorum().inspect, {"member"}, {std::to_string(nonce)});
    }

    numbers seed(std::int64_t nonce, std::int64_t epoch, std::int64_t floor, std::int64_t silence,
                 std::int64_t lease = 0, std::int64_t began = 0)
    {
        return answer(of_quorum().seed, {"member"},
                      {std::to_string(nonce), std::to_string(epoch), std::to_string(floor),
                       std::to_string(silence), std::to_string(lease), std::to_string(began)});
    }

    void join(std::int64_t epoch = 1)
    {
        inspect();
        BOOST_TEST_REQUIRE(seed(7, epoch, 0, 0).at(0) == 1);
    }

    numbers acquire(const offer& what)
    {
        return answer(of_quorum().acquire, {what.name, what.name + ":fence", "member"},
                      {what.owner, std::to_string(what.lease), std::to_string(what.first),
                       std::to_string(what.count), std::to_string(what.latest),
                       std::to_string(what.epoch), std::to_string(what.retention),
                       what.only_ours ? "1" : "0", what.needs_holder ? "1" : "0"});
    }

    std::int64_t reenter(const std::string& entry, std::int64_t lease = 10'000,
                         std::int64_t latest = 0, const std::string& owner = offer().owner)
    {
        return answer(of_quorum().reenter, {"lock", "lock:entries", "member"},
                      {owner, std::to_string(lease), std::to_string(latest), entry})
            .at(0);
    }

    std::int64_t release(const std::string& entry, const std::string& owner = offer().owner)
    {
        return answer(of_quorum().release, {"lock", "lock:entries", "lock:fence"},
                      {owner, entry, ""})
            .at(0);
    }

    std::int64_t renew(std::int64_t lease, bool create, std::int64_t latest = 0,
                       const std::string& entry = {}, const std::string& owner = offer().owner)
    {
        return answer(of_quorum().renew, {"lock", "lock:entries"},
                      {std::to_string(latest), owner, std::to_string(lease), entry,
                       create ? "1" : "0"})
            .at(0);
    }

    using script_scene::left;
    std::int64_t left() { return left("lock"); }
};

} // namespace

BOOST_AUTO_TEST_SUITE(quorum_scripts, *with_a_clock())

BOOST_AUTO_TEST_CASE(blank_server_grants_nothing_until_its_silence_ends)
{
    member m;
    BOOST_TEST(m.acquire({.first = m.now()}).at(0) == -3);
    const numbers found = m.inspect(7);
    BOOST_TEST((found == numbers{0, 0, 0, 0, 7, 0, 0, m.now()}));
    m.clock.advance(2s);
    BOOST_TEST(m.seed(8, 3, 100, 5'000).at(0) == 0); // the nonce of another blank server
    BOOST_TEST((m.seed(7, 3, 100, 5'000, 4'000, 21) == numbers{1, 3'000, m.now()}));
    BOOST_TEST((m.seed(7, 4, 100, 9'000) == numbers{2, 3'000, m.now()}));
    BOOST_TEST((m.inspect(9) == numbers{1, 3, 100, 4'000, 7, 3'000, 21, m.now()}));
    BOOST_TEST((m.acquire({.first = m.now(), .epoch = 3}) == numbers{-4, 0, 3'000, 0, m.now()}));
    m.clock.advance(3s);
    BOOST_TEST(m.inspect(9).at(5) == 0);
    BOOST_TEST(m.acquire({.first = m.now(), .epoch = 3}).at(0) == 1);
}

BOOST_AUTO_TEST_CASE(silence_is_not_extended_by_a_clock_that_was_set_back)
{
    member m;
    m.inspect();
    m.clock.advance(-1h);
    BOOST_TEST(m.seed(7, 1, 0, 5'000).at(1) == 5'000);
}

BOOST_AUTO_TEST_CASE(each_fence_is_accepted_once)
{
    member m;
    m.join();
    const std::int64_t first = m.now();
    BOOST_TEST((m.acquire({.first = first, .count = 5}) == numbers{1, first + 4, 0, 0, m.now()}));
    BOOST_TEST((m.acquire({.first = first + 4}) == numbers{2, first + 4, 0, 0, m.now()}));
    BOOST_TEST((m.acquire({.first = first + 5}) == numbers{1, first + 5, 0, 0, m.now()}));
    // A request that must not take a free lock does not report a holder.
    BOOST_TEST((m.acquire({.name = "free", .first = first, .only_ours = true}) ==
                numbers{0, 0, -2, 0, m.now()}));
    BOOST_TEST(m.client.integer({"EXISTS", "free", "free:fence"}) == 0);
}

BOOST_AUTO_TEST_CASE(acquire_of_a_held_lock_returns_its_ttl_and_holder)
{
    member m;
    m.join();
    const std::int64_t first = m.now();
    m.acquire({.first = first});
    m.clock.advance(1s);
    BOOST_TEST(
        (m.acquire({.owner = "b", .first = first + 9}) == numbers{0, first, 9'000, 0, m.now()}));
    BOOST_TEST((m.acquire({.owner = "b", .first = first + 9, .needs_holder = true}) ==
                numbers{0, first, 9'000, 0xaa, m.now()}));
    // The owner extends the lock, but never shortens it.
    m.acquire({.first = first + 10, .lease = 3'000});
    BOOST_TEST(m.left() == 9'000);
    m.acquire({.first = first + 11, .lease = 20'000});
    BOOST_TEST(m.left() == 20'000);
}

BOOST_AUTO_TEST_CASE(late_or_outdated_requests_are_rejected)
{
    member m;
    m.join(3);
    const std::int64_t now = m.now();
    BOOST_TEST(
        (m.acquire({.first = now, .epoch = 3, .latest = now - 1}) == numbers{-1, 0, 0, 0, now}));
    BOOST_TEST((m.acquire({.first = now, .epoch = 2}) == numbers{-5, 0, 3, 0, now}));
    BOOST_TEST(
        (m.acquire({.first = now + day - 2, .count = 4, .epoch = 3}) == numbers{-6, 0, 0, 0, now}));
    BOOST_TEST(m.client.integer({"EXISTS", "lock", "lock:fence"}) == 0);
    BOOST_TEST(m.acquire({.first = now, .epoch = 3, .latest = now}).at(0) == 1);
    BOOST_TEST(m.acquire({.first = now + day - 3, .count = 4, .epoch = 4}).at(0) == 1);
    BOOST_TEST(m.inspect().at(1) == 4); // from now on
    BOOST_TEST((m.acquire({.first = now, .epoch = 3}) == numbers{-5, 0, 4, 0, now}));
}

BOOST_AUTO_TEST_CASE(fence_of_a_forgotten_name_exceeds_all_forgotten_fences)
{
    for (const bool forgotten : {false, true}) {
        member m;
        m.join();
        const std::int64_t first = m.now();
        m.acquire({.first = first, .retention = 9'000, .lease = 100});
        m.clock.advance(forgotten ? 9'001ms : 2'000ms);
        const numbers said = m.acquire({.name = "other", .first = 50, .retention = 9'000});
        BOOST_TEST(said.at(0) == (forgotten ? 2 : 1));
        BOOST_TEST(m.client.integer({"EXISTS", "lock:fence"}) == (forgotten ? 0 : 1));
        BOOST_TEST(m.acquire({.first = first, .retention = 9'000}).at(0) == 2);
    }
}

// The age of any fence is unknown then.
BOOST_AUTO_TEST_CASE(clock_that_was_set_back_expires_all_fences)
{
    member m;
    m.join();
    const std::int64_t first = m.now();
    m.clock.advance(5s);
    m.acquire({.first = first, .retention = 9'000});
    m.clock.advance(-3s);
    const numbers said = m.acquire({.name = "other", .first = 50, .retention = 9'000});
    BOOST_TEST(said.at(0) == 2);
    BOOST_TEST(said.at(1) == first);
}

BOOST_AUTO_TEST_CASE(member_that_adopts_an_epoch_returns_its_record)
{
    member m;
    const auto adopt = [&](int epoch) {
        return m.answer(of_quorum().adopt, {"member"}, {std::to_string(epoch)});
    };
    BOOST_TEST(adopt(9).at(0) == 0); // not a member
    m.join(3);
    const std::int64_t first = m.now();
    m.acquire({.first = first, .epoch = 3});
    BOOST_TEST((adopt(5) == numbers{1, 5, first, 10'000, m.now()}));
    BOOST_TEST((adopt(4) == numbers{1, 5, first, 10'000, m.now()}));
    BOOST_TEST(m.acquire({.first = first, .epoch = 4}).at(0) == -5);
}

BOOST_AUTO_TEST_CASE(renewal_creates_a_lock_only_on_request_and_in_time)
{
    member m;
    m.join();
    const std::int64_t now = m.now();
    BOOST_TEST(m.renew(5'000, false) == 2);
    BOOST_TEST(m.renew(5'000, true, now - 1) == 2);
    BOOST_TEST(m.client.integer({"EXISTS", "lock"}) == 0);
    BOOST_TEST(m.renew(5'000, true, now) == 1);
    BOOST_TEST(m.left() == 5'000);
    BOOST_TEST(m.renew(3'000, false) == 1);
    BOOST_TEST(m.left() == 5'000); // no shorter
    BOOST_TEST(m.renew(9'000, false) == 1);
    BOOST_TEST(m.left() == 9'000);
    BOOST_TEST(m.renew(20'000, true, 0, {}, "b") == 0); // another owner
    BOOST_TEST(m.left() == 9'000);
    BOOST_TEST(m.renew(20'000, false, 0, "e1") == 2); // not acquired reentrantly
    BOOST_TEST(m.renew(20'000, true, 0, "e1", "b") == 0);
    BOOST_TEST(m.left() == 9'000);
    BOOST_TEST(m.reenter("e1") == 1);
    BOOST_TEST(m.renew(20'000, false, 0, "e1") == 1);
    BOOST_TEST(m.left() == 20'000);
    BOOST_TEST(m.left("lock:entries") == 20'000);
}

BOOST_AUTO_TEST_CASE(missing_acquisition_is_added_to_existing_ones)
{
    member m;
    m.join();
    m.acquire({});
    BOOST_TEST(m.renew(10'000, false, 0, "e1") == 2);
    BOOST_TEST(m.renew(10'000, true, m.now() - 1, "e1") == 2); // too late
    BOOST_TEST(m.renew(10'000, true, 0, "e1") == 1);
    BOOST_TEST(m.renew(10'000, false, 0, "e1") == 1);
    BOOST_TEST(m.renew(10'000, false) == 1); // the first entry still exists
    BOOST_TEST(m.renew(10'000, false, 0, "e2") == 2);
    BOOST_TEST(m.release("") == 2);
    BOOST_TEST(m.renew(10'000, false) == 2);
    BOOST_TEST(m.renew(10'000, true, 0, "e2") == 1);
    BOOST_TEST(m.release("e1") == 2);
    BOOST_TEST(m.release("e2") == 1);
    BOOST_TEST(m.client.integer({"EXISTS", "lock", "lock:entries"}) == 0);
    // The lock was free, so the first entry may have been released.
    BOOST_TEST(m.renew(10'000, true, 0, "e1") == 1);
    BOOST_TEST(m.renew(10'000, false) == 2);
    BOOST_TEST(m.renew(10'000, true) == 1);
    BOOST_TEST(m.release("e1") == 2);
    BOOST_TEST(m.release("") == 1);
}

BOOST_AUTO_TEST_CASE(lock_is_not_created_partly_without_memory)
{
    member m;
    m.join();
    const std::string owner = offer().owner;
    m.client.done({"CONFIG", "SET", "maxmemory", "1"});
    // Two entries of one owner in one call: neither is created. The third lock is no error, so the
    // results are returned.
    const resp_client::words keys{"lock",         "lock:entries", "lock",
                                  "lock:entries", "own",          "own:entries"};
    const numbers both = m.answer(
        of_quorum().renew, keys,
        {"0", owner, "5000", "", "1", owner, "5000", "e1", "1", owner, "5000", "", "0"});
    BOOST_TEST((both == numbers{-1, -1, 2}));
    BOOST_TEST(m.client.integer({"EXISTS", "lock", "lock:entries"}) == 0);
    m.client.done({"CONFIG", "SET", "maxmemory", "0"});
    m.acquire({.first = m.now()});
    m.client.done({"CONFIG", "SET", "maxmemory", "1"});
    BOOST_TEST(m.renew(5'000, false) == 1);
    m.client.done({"CONFIG", "SET", "maxmemory", "0"});
    BOOST_TEST(m.reenter("e1") == 1);
    m.client.done({"CONFIG", "SET", "maxmemory", "1"});
    const numbers entry = m.answer(of_quorum().renew,
                                   {"lock", "lock:entries", "own", "own:entries"},
                                   {"0", owner, "5000", "e2", "1", owner, "5000", "", "0"});
    BOOST_TEST((entry == numbers{-1, 2}));
    m.client.done({"CONFIG", "SET", "maxmemory", "0"});
    BOOST_TEST(m.renew(5'000, false, 0, "e2") == 2);
}

BOOST_AUTO_TEST_CASE(lock_is_freed_by_the_last_release_of_its_owner)
{
    member m;
    m.join();
    const std::int64_t now = m.now();
    BOOST_TEST(m.reenter("e1") == -2);
    m.acquire({.first = now});
    BOOST_TEST(m.reenter("e1", 10'000, now - 1) == -1);
    BOOST_TEST(m.reenter("e1", 10'000, now, "b") == -2);
    BOOST_TEST(m.reenter("e1", 60'000, now) == 1);
    BOOST_TEST(m.inspect().at(3) == 60'000); // the longest requested one
    BOOST_TEST(m.left() == 10'000);          // this member may be one of a minority
    BOOST_TEST(m.left("lock:entries") == 10'000);
    BOOST_TEST(m.reenter("e2") == 1);
    BOOST_TEST(m.reenter("e2") == 1);
    BOOST_TEST(m.inspect().at(3) == 60'000);
    BOOST_TEST(m.release("e1", "b") == 0);
    BOOST_TEST(m.release("e1") == 2);
    BOOST_TEST(m.release("e1") == 0);
    BOOST_TEST(m.release("") == 2);
    BOOST_TEST(m.client.integer({"EXISTS", "lock"}) == 1);
    BOOST_TEST(m.release("e2") == 1);
    BOOST_TEST(m.client.integer({"EXISTS", "lock", "lock:entries"}) == 0);
}

BOOST_AUTO_TEST_CASE(expired_fence_raises_the_floor_of_all_names_in_thirds)
{
    // A large fence, and after each pause a small one of another name: 1 accepted, 2 outbid.
    const auto votes = [](const std::vector<std::chrono::milliseconds>& pauses) {
        member m;
        m.join();
        const std::int64_t first = m.now();
        const auto vote = [&](const std::string& name, std::int64_t from) {
            return m.acquire({.name = name, .first = from, .retention = 9'000, .lease = 100});
        };
        BOOST_TEST(vote("large", first).at(0) == 1);
        numbers results;
        for (const auto pause : pauses) {
            m.clock.advance(pause);
            const numbers said = vote("small" + std::to_string(results.size()), 50);
            results.push_back(said.at(0));
            BOOST_TEST(said.at(1) == (said.at(0) == 1 ? 50 : first));
        }
        return results;
    };
    BOOST_TEST((votes({3s, 3s}) == numbers{1, 2}));
    BOOST_TEST((votes({2'999ms, 2'999ms}) == numbers{1, 1}));
    BOOST_TEST((votes({6s}) == numbers{2}));
    BOOST_TEST((votes({5'999ms}) == numbers{1}));
    BOOST_TEST((votes({1s, 1s, 1s, 1s, 1s, 1s}) == numbers{1, 1, 1, 1, 1, 2}));
}

BOOST_AUTO_TEST_CASE(member_keeps_the_shortest_retention)
{
    member m;
    m.join();
    const auto kept = [&](std::int64_t retention) {
        m.acquire({.first = m.now(), .retention = retention});
        return m.client.maybe_string({"HGET", "member", "keep"}).value_or("");
    };
    BOOST_TEST(kept(0) == "");
    BOOST_TEST(kept(9'000) == "9000");
    BOOST_TEST(kept(10'000) == "9000");
    BOOST_TEST(kept(8'000) == "8000");
    BOOST_TEST(kept(0) == "8000");
}

BOOST_AUTO_TEST_CASE(restarted_member_is_a_blank_server)
{
    member m;
    m.join(3);
    BOOST_TEST(m.inspect().at(0) == 1);
    m.client.done({"HSET", "member", "run", "another"});
    for (int i = 0; i < 2; ++i) {
        BOOST_TEST(m.inspect(9).at(0) == 0);
        BOOST_TEST(m.acquire({.first = m.now(), .epoch = 3}).at(0) == -3);
    }
    BOOST_TEST(m.inspect(10).at(4) == 9); // the nonce of its first look
}

BOOST_AUTO_TEST_CASE(key_of_another_type_is_named_in_the_error)
{
    member m;
    m.join();
    const auto refused = [&] {
        return m.client
            .command({"EVAL", std::string(of_quorum().acquire.text), "3", "lock", "lock:fence",
                      "member", offer().owner, "10000", "1", "1", "0", "1", "0", "0", "0"})
            .text;
    };
    m.client.done({"LPUSH", "lock", "x"});
    BOOST_TEST(refused() == "WRONGTYPE the key lock holds list, a lock is a string");
    m.client.done({"DEL", "lock"});
    m.client.done({"LPUSH", "lock:fence", "x"});
    BOOST_TEST(refused() == "WRONGTYPE the key lock:fence holds list, a fence is a string");
    m.client.done({"SET", "lock:fence", "x"});
    BOOST_TEST(refused() == "WRONGTYPE the key lock:fence holds no fence");
    BOOST_TEST(m.client.integer({"EXISTS", "lock"}) == 0);
}

BOOST_AUTO_TEST_CASE(release_is_published_with_its_fence)
{
    member m;
    m.join();
    const auto release = [&](const std::string& channel) {
        return m.answer(of_quorum().release, {"lock", "lock:entries", "lock:fence"},
                        {offer().owner, "", channel});
    };
    std::int64_t first = m.now();
    m.acquire({.first = first});
    BOOST_TEST((release("") == numbers{1, 0, first}));
    BOOST_TEST(m.client.integer({"EXISTS", "lock"}) == 0);
    listener hears(m.server, "free");
    m.acquire({.first = ++first});
    BOOST_TEST(m.release("e1") == 0); // there is no such entry
    BOOST_TEST((release("free") == numbers{1, 1, first}));
    const std::string heard = hears.heard();
    BOOST_TEST(heard.substr(0, heard.find(' ')) == std::to_string(first));
    m.acquire({.first = ++first});
    m.client.done({"ACL", "SETUSER", "default", "-publish"});
    BOOST_TEST((release("free") == numbers{1, -1, first}));
}

BOOST_AUTO_TEST_CASE(reentrant_acquisitions_of_an_earlier_owner_are_removed)
{
    member m;
    m.join();
    const auto leave_behind = [&] {
        m.client.done({"HSET", "lock:entries", "owner", "b", "e:", "1", "e:old", "1"});
        m.client.done({"PEXPIRE", "lock:entries", "1000"});
    };
    leave_behind();
    BOOST_TEST(m.renew(5'000, true) == 1); // the lock is created
    BOOST_TEST(m.client.integer({"EXISTS", "lock:entries"}) == 0);
    leave_behind();
    BOOST_TEST(m.renew(6'000, false) == 1);
    BOOST_TEST(m.left("lock:entries") == 1'000);
    BOOST_TEST(m.renew(6'000, true, 0, "e1") == 1); // an entry is created
    BOOST_TEST(m.client.integer({"HLEN", "lock:entries"}) == 3);
    BOOST_TEST(m.left("lock:entries") == 6'000);
    leave_behind();
    BOOST_TEST(m.reenter("e2") == 1);
    BOOST_TEST(m.client.integer({"HLEN", "lock:entries"}) == 3);
}

BOOST_AUTO_TEST_CASE(reentrant_acquisitions_have_the_ttl_of_their_lock)
{
    member m;
    m.join();
    m.acquire({.first = m.now(), .lease = 9'000});
    m.reenter("e1");
    m.client.done({"PEXPIRE", "lock:entries", "1000"});
    BOOST_TEST(m.renew(5'000, false) == 1);
    BOOST_TEST(m.left("lock:entries") == 9'000);
    m.client.done({"PERSIST", "lock"}); // a lock without a TTL
    m.client.done({"PEXPIRE", "lock:entries", "1000"});
    BOOST_TEST(m.renew(5'000, false) == 1);
    BOOST_TEST(m.left() == -1);
    BOOST_TEST(m.left("lock:entries") == 5'000);
}

BOOST_AUTO_TEST_CASE(failed_renewal_is_reported_for_its_lock_alone)
{
    member m;
    m.join();
    for (const auto& [lock, left] : {std::pair("short", "1000"), std::pair("long", "9000")})
        m.client.done({"SET", lock, offer().owner, "PX", left});
    m.check_failing_renewal(2, [&](const resp_client::words& locks) {
        resp_client::words keys;
        resp_client::words arguments{"0"};
        for (const std::string& each : locks) {
            keys.insert(keys.end(), {each, each + ":e"});
            arguments.insert(arguments.end(), {offer().owner, "5000", "", "0"});
        }
        return m.run(of_quorum().renew, keys, arguments);
    });
}

BOOST_AUTO_TEST_SUITE_END()
