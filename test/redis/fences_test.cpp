// Fences rise after any loss of the data of their counter.
#include <boost/test/unit_test.hpp>

#include "redis/lab.hpp"
#include "support/only_on.hpp"

#include <filesystem>
#include <future>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;

/// A few grants of two clients in turn. Each must have a larger fence than the one before.
std::uint64_t grants(client_thread& a, client_thread& b, std::uint64_t after, int count = 6)
{
    for (int i = 0; i < count; ++i)
        after = acquire_and_release(i % 2 == 0 ? a : b, after);
    return after;
}

/// Handoffs within the client use up the fences of a reserved block.
std::uint64_t handed_off(client_thread& of, std::uint64_t after)
{
    const auto before = of.stats().handed_off;
    lock_options options = long_leases();
    options.handoff_time = 10s;
    std::vector<std::future<taken>> waiting;
    for (int i = 0; i < 50; ++i)
        waiting.push_back(of.start_lock(stock, options));
    for (auto& each : waiting) {
        taken next = get(each);
        BOOST_TEST(!next.code);
        BOOST_TEST(next.held.fence() > after);
        after = next.held.fence();
        BOOST_TEST(!of.release(std::move(next.held)));
    }
    BOOST_TEST(of.stats().handed_off > before);
    return after;
}

} // namespace

BOOST_AUTO_TEST_CASE(fences_rise_while_the_data_is_kept)
{
    redis_server server;
    client_thread a(server);
    client_thread b(server);
    std::uint64_t fence = grants(a, b, 0);
    for (int i = 0; i < 5; ++i)
        fence = grants(a, b, handed_off(i % 2 == 0 ? a : b, fence), 2);
    // A double holds them exactly.
    BOOST_TEST(fence < std::uint64_t{1} << 53);
}

BOOST_AUTO_TEST_CASE(fences_rise_after_flushall_and_lost_counters)
{
    redis_server server;
    resp_client store = server.connect();
    client_thread a(server);
    client_thread b(server);
    std::uint64_t fence = grants(a, b, 0);
    for (int i = 0; i < 10; ++i) {
        fence = handed_off(a, fence);
        if (i % 2 == 0)
            store.done({"FLUSHALL"});
        else
            BOOST_TEST(store.integer({"DEL", stock_fence}) == 1);
        fence = grants(b, a, fence, 2);
    }
}

BOOST_AUTO_TEST_CASE(fences_rise_after_repeated_loss_of_data)
{
    redis_server server;
    resp_client store = server.connect();
    client_thread a(server);
    client_thread b(server);
    std::uint64_t fence = 0;
    for (int i = 0; i < 50; ++i) {
        fence = grants(a, b, fence, 3);
        store.done({"FLUSHALL"});
    }
}

BOOST_AUTO_TEST_CASE(fences_rise_after_an_empty_restart)
{
    redis_server server;
    client_thread a(server);
    client_thread b(server);
    std::uint64_t fence = grants(a, b, 0);
    for (int i = 0; i < 3; ++i) {
        fence = handed_off(a, fence);
        server.restart_empty();
        fence = grants(b, a, fence, 2);
    }
}

BOOST_AUTO_TEST_CASE(fences_rise_after_a_restored_snapshot)
{
    redis_server server({"--dbfilename", "dump.rdb"});
    const auto snapshot = server.directory() / "dump.rdb";
    const auto copy = server.directory() / "old.rdb";
    client_thread a(server);
    client_thread b(server);
    std::uint64_t fence = grants(a, b, 0);
    const std::string old = [&] {
        resp_client store = server.connect();
        store.done({"SAVE"});
        return store.string({"GET", stock_fence});
    }();
    std::filesystem::copy_file(snapshot, copy);
    for (int i = 0; i < 2; ++i) {
        fence = grants(a, b, handed_off(a, fence));
        server.kill();
        std::filesystem::copy_file(copy, snapshot,
                                   std::filesystem::copy_options::overwrite_existing);
        server.start();
        if (tested_layout() == redis_config::key_layout::redisson) // `native` raises it at once
            BOOST_TEST_REQUIRE(server.connect().string({"GET", stock_fence}) == old);
        fence = grants(b, a, fence, 2);
    }
}

// The snapshot contains a lock that was released since. The lock is restored with the old data,
// until it expires.
BOOST_AUTO_TEST_CASE(fences_rise_after_a_snapshot_with_a_lock)
{
    redis_server server({"--dbfilename", "dump.rdb"});
    const auto snapshot = server.directory() / "dump.rdb";
    const auto copy = server.directory() / "old.rdb";
    client_thread a(server);
    client_thread b(server);
    lease held = take(a, leases_of(1s));
    server.connect().done({"SAVE"});
    std::filesystem::copy_file(snapshot, copy);
    std::uint64_t fence = held.fence();
    BOOST_TEST(!a.release(std::move(held)));
    fence = grants(b, a, fence);
    server.kill();
    std::filesystem::copy_file(copy, snapshot, std::filesystem::copy_options::overwrite_existing);
    server.start();
    grants(b, a, fence, 2);
}

BOOST_AUTO_TEST_CASE(fences_rise_after_the_counter_has_expired,
                     *only_on(redis_config::key_layout::redisson))
{
    redis_server server;
    resp_client store = server.connect();
    redis_config settings = at(server);
    settings.fence_retention = 1s;
    client_thread a(settings);
    client_thread b(settings);
    std::uint64_t fence = handed_off(a, grants(a, b, 0));
    const auto left = store.integer({"PTTL", stock_fence});
    BOOST_TEST((left > 0 && left <= 1000));
    wait_until([&] { return !exists(store, stock_fence); });
    BOOST_TEST(store.integer({"DBSIZE"}) == 0); // nothing stays behind
    grants(b, a, fence, 2);
}

// INCRBY does not read the clock. While the counter is ahead of the clock, no client draws more
// fences than it needs.
BOOST_AUTO_TEST_CASE(fences_rise_by_one_while_the_counter_is_ahead_of_the_clock,
                     *only_on(redis_config::key_layout::native))
{
    redis_server server;
    resp_client store = server.connect();
    const std::int64_t second = std::stoll(store.strings({"TIME"}).at(0));
    const std::int64_t ahead = 2'000'000 * (second + 600);
    store.done({"SET", stock_fence, std::to_string(ahead)});
    client_thread a(server);
    client_thread b(server);
    constexpr int times = 50;
    const auto last = grants(a, b, static_cast<std::uint64_t>(ahead), times);
    BOOST_TEST(last == static_cast<std::uint64_t>(ahead) + times);
    BOOST_TEST(std::stoll(store.string({"GET", stock_fence})) == ahead + times);
}

BOOST_AUTO_TEST_CASE(fences_rise_with_a_counter_that_never_expires)
{
    redis_server server;
    resp_client store = server.connect();
    redis_config settings = at(server);
    if (settings.layout == redis_config::key_layout::redisson)
        settings.fence_retention = redis_config::forever;
    client_thread a(settings);
    client_thread b(settings);
    std::uint64_t fence = grants(a, b, 0);
    BOOST_TEST(store.integer({"PTTL", stock_fence}) == -1);
    store.done({"FLUSHALL"});
    fence = grants(a, b, fence);
    // Ahead of the clock, as another program may have set it.
    const std::uint64_t ahead = fence + 1'000'000'000'000;
    store.done({"SET", stock_fence, std::to_string(ahead)});
    BOOST_TEST(grants(a, b, ahead, 3) < ahead + 10'000);
}
