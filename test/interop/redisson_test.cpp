// Features of the locks of Redisson besides exclusion. The keys of Redisson are those of the layout
// `redisson`.
#include <boost/test/unit_test.hpp>

#include "interop/peer.hpp"
#include "redis/lab.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <future>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using steady = std::chrono::steady_clock;

/// Counters of fences that are shared with Redisson never expire.
redis_config shared(const redis_server& server)
{
    redis_config settings = at(server);
    settings.fence_retention = redis_config::forever;
    return settings;
}

struct handoffs
{
    /// From the release of one library to the grant of the other, in us.
    std::vector<std::int64_t> times;

    void add(steady::duration took)
    {
        times.push_back(std::chrono::duration_cast<std::chrono::microseconds>(took).count());
    }

    [[nodiscard]] std::int64_t part(std::size_t percent)
    {
        std::sort(times.begin(), times.end());
        return times[(times.size() - 1) * percent / 100];
    }

    void show(const char* which)
    {
        BOOST_TEST_MESSAGE(which << ": p50 " << part(50) << " us, p99 " << part(99) << " us, most "
                                 << part(100) << " us, of " << times.size());
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(redisson_only)

// The message of the release wakes them: no client polls so often, and no TTL is so short.
BOOST_AUTO_TEST_CASE(release_by_one_library_wakes_the_other)
{
    constexpr int times = 200;
    redis_server server({}, {.tcp = true});
    client_thread ours(shared(server));
    peer theirs(server);
    handoffs to_us;
    handoffs to_them;
    lock_options seldom = long_leases();
    seldom.backoff_floor = seldom.backoff_ceiling = 60s;
    lease held = take(ours, seldom);
    for (int i = 0; i < times; ++i) {
        theirs.start_lock(stock, 60s, 60s);
        resp_client store = server.connect();
        wait_until([&] { return store.subscribers(stock_channel) > 0; });
        auto begun = steady::now();
        BOOST_TEST_REQUIRE(!ours.release(std::move(held)));
        BOOST_TEST_REQUIRE(theirs.locked());
        to_them.add(steady::now() - begun);

        ours.seen().clear();
        auto waiting = ours.start_lock(stock, seldom);
        ours.seen().wait_for(kind::waiting, 1);
        begun = steady::now();
        BOOST_TEST_REQUIRE(theirs.unlock(stock));
        taken got = get(waiting);
        to_us.add(steady::now() - begun);
        BOOST_TEST_REQUIRE(!got.code, got.code.message());
        held = std::move(got.held);
    }
    BOOST_TEST(!ours.release(std::move(held)));
    to_them.show("from leasehold to Redisson");
    to_us.show("from Redisson to leasehold");
    // A machine may be busy at times, but no wait is as long as the time between two polls.
    for (handoffs* each : {&to_us, &to_them}) {
        BOOST_TEST(each->part(95) < 100'000);
        BOOST_TEST(each->part(100) < 30'000'000);
    }
}

BOOST_AUTO_TEST_CASE(both_libraries_draw_fences_from_one_counter)
{
    redis_server server({}, {.tcp = true});
    client_thread ours(shared(server));
    peer theirs(server);
    std::uint64_t last = 0;
    for (int i = 0; i < 20; ++i) {
        lease held = take(ours);
        BOOST_TEST(held.fence() > last);
        last = held.fence();
        BOOST_TEST(!ours.release(std::move(held)));
        BOOST_TEST_REQUIRE(theirs.lock(stock, 60s));
        const std::uint64_t token = std::stoull(theirs.ask("token", stock));
        BOOST_TEST(token > last);
        last = token;
        BOOST_TEST(theirs.unlock(stock));
    }
}

BOOST_AUTO_TEST_CASE(redisson_sees_the_locks_of_this_library)
{
    redis_server server({}, {.tcp = true});
    client_thread ours(shared(server));
    peer theirs(server);
    // Whether the lock is held, has a TTL, belongs to this owner, and how many times it is held.
    BOOST_TEST(theirs.ask("state", stock) == "false false false 0");
    lease held = take(ours);
    BOOST_TEST(theirs.ask("state", stock) == "true true false 0");
    BOOST_TEST(!theirs.unlock(stock));
    BOOST_TEST(held.valid());
    // The lock is removed by force, which the next renewal reports.
    auto lost = client_thread::start_wait_lost(held);
    BOOST_TEST(theirs.ask("force", stock) == "forced");
    BOOST_TEST((get(lost) == errc::lost));
    BOOST_TEST(theirs.ask("state", stock) == "false false false 0");
    // Redisson counts its own acquisitions during ours.
    BOOST_TEST_REQUIRE(theirs.lock(stock, 60s));
    BOOST_TEST_REQUIRE(theirs.lock(stock, 60s));
    lock_options once = long_leases();
    once.wait_limit = 0ms;
    BOOST_TEST((ours.lock(stock, once).code == errc::held));
    BOOST_TEST(theirs.ask("state", stock) == "true true true 2");
    BOOST_TEST(theirs.unlock(stock));
    BOOST_TEST((ours.lock(stock, once).code == errc::held));
    BOOST_TEST(theirs.unlock(stock));
    BOOST_TEST(take(ours).valid());
}

// The watchdogs of both libraries, over many lease times of each, with a second lock that the other
// library waits for.
BOOST_AUTO_TEST_CASE(each_library_renews_while_the_other_waits)
{
    redis_server server({}, {.tcp = true});
    client_thread ours(shared(server));
    peer theirs(server);
    resp_client store = server.connect();
    BOOST_TEST(theirs.ask("renewing", stock) == "locked");
    auto waiting = start_waiting(ours);
    lease other = take(ours, leases_of(1s), "another");
    // The TTL of 1.5 s decreases until the renewal, after half a second.
    int renewed = 0;
    for (std::int64_t last = 1500; renewed < 15;) {
        const std::int64_t left = store.integer({"PTTL", stock});
        BOOST_TEST_REQUIRE(left > 0);
        renewed += left > last ? 1 : 0;
        last = left;
        std::this_thread::sleep_for(10ms);
    }
    BOOST_TEST((waiting.wait_for(0s) == std::future_status::timeout));
    BOOST_TEST(other.valid());
    BOOST_TEST(theirs.unlock(stock));
    taken got = get(waiting);
    BOOST_TEST_REQUIRE(!got.code, got.code.message());

    theirs.start_lock("another", 60s, 60s);
    wait_until([&] { return store.subscribers("redisson_lock__channel:{another}") > 0; });
    ours.seen().clear();
    ours.seen().wait_for(kind::renewed, 50); // of two locks, one of which has a lease of one second
    BOOST_TEST(!theirs.has_answered());
    BOOST_TEST(!ours.release(std::move(other)));
    BOOST_TEST(theirs.locked());
}

// Its watchdog ends with the process, and the last TTL frees the lock.
BOOST_AUTO_TEST_CASE(lock_of_a_killed_jvm_is_acquired_by_a_waiter)
{
    redis_server server({}, {.tcp = true});
    client_thread ours(shared(server));
    peer theirs(server);
    resp_client store = server.connect();
    BOOST_TEST(theirs.ask("renewing", stock) == "locked");
    auto waiting = start_waiting(ours);
    wait_until([&] { return store.integer({"PTTL", stock}) < 1250; });
    wait_until([&] { return store.integer({"PTTL", stock}) > 1250; }); // the watchdog renews it
    theirs.kill();
    const auto begun = steady::now();
    const taken got = get(waiting);
    BOOST_TEST_REQUIRE(!got.code, got.code.message());
    // At most 1.5 s, and the delays of a busy machine.
    BOOST_TEST((steady::now() - begun < 10s));
}

// RFairLock and RSpinLock have the same hash under the name, and wait in different ways: RFairLock
// listens to its own channel, and RSpinLock polls repeatedly.
BOOST_AUTO_TEST_CASE(fair_and_spin_locks_of_redisson_exclude_too)
{
    redis_server server({}, {.tcp = true});
    client_thread ours(shared(server));
    peer theirs(server);
    lock_options once = long_leases();
    once.wait_limit = 0ms;
    for (const std::string verb : {"fair", "spin"})
        BOOST_TEST_CONTEXT(verb)
        {
            lease held = take(ours);
            BOOST_TEST(theirs.ask(verb, stock) == "busy");
            BOOST_TEST(!ours.release(std::move(held)));
            BOOST_TEST_REQUIRE(theirs.ask(verb, stock) == "locked");
            BOOST_TEST((ours.lock(stock, once).code == errc::held));
            ours.seen().clear();
            auto waiting = start_waiting(ours); // its next poll finds the lock free
            BOOST_TEST(theirs.ask(verb + "_unlock", stock) == "unlocked");
            taken got = get(waiting);
            BOOST_TEST_REQUIRE(!got.code, got.code.message());
            BOOST_TEST(!ours.release(std::move(got.held)));
        }
}

// Four requests of this library wait and may hand the lock over to each other, and one of Redisson
// waits.
BOOST_AUTO_TEST_CASE(both_libraries_get_the_lock_and_lose_no_increment)
{
    constexpr int times = 500;
    constexpr std::int64_t in_all = 10'000;
    redis_server server({}, {.tcp = true});
    client_thread ours(shared(server));
    peer theirs(server);
    resp_client store = server.connect();
    store.done({"SET", "counter", "0"});
    lock_options patient = long_leases();
    patient.wait_limit = 120s;
    theirs.start_count(stock, "counter", times);
    std::array<std::future<taken>, 4> waiting;
    for (std::future<taken>& each : waiting)
        each = ours.start_lock(stock, patient);
    std::int64_t counted = 0;
    std::int64_t counted_here = 0;
    std::uint64_t by_store = 0; // grants to this library until Redisson has finished
    while (by_store == 0 || counted < in_all) {
        for (std::future<taken>& each : waiting) {
            taken got = get(each, 120s);
            BOOST_TEST_REQUIRE(!got.code, got.code.message());
            counted = std::stoll(store.string({"GET", "counter"})) + 1;
            store.done({"SET", "counter", std::to_string(counted)});
            ++counted_here;
            each = ours.start_lock(stock, patient); // there is always a waiter
            BOOST_TEST_REQUIRE(!ours.release(std::move(got.held)));
        }
        if (by_store == 0 && theirs.has_answered()) {
            const client_stats seen = ours.stats();
            by_store = seen.acquired - seen.handed_off;
        }
    }
    for (std::future<taken>& each : waiting) {
        taken got = get(each);
        BOOST_TEST_REQUIRE(!got.code, got.code.message());
        BOOST_TEST(!ours.release(std::move(got.held)));
    }
    BOOST_TEST(theirs.counted());
    BOOST_TEST(std::stoll(store.string({"GET", "counter"})) == counted_here + times);
    // Redisson asks again at once, and gets slightly more than half of the grants. Each library
    // must get at least a quarter.
    BOOST_TEST_MESSAGE("of " << by_store + times << " grants by the store Redisson had " << times);
    BOOST_TEST(by_store * 3 >= std::uint64_t{times});
    BOOST_TEST(std::uint64_t{times} * 3 >= by_store);
}

BOOST_AUTO_TEST_SUITE_END()
