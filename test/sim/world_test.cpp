#include <leasehold/testing/world.hpp>

#include <leasehold/client.hpp>
#include <leasehold/lease.hpp>
#include <leasehold/mutex.hpp>
#include <leasehold/with_lock.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/strand.hpp>
#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;
namespace testing = leasehold::testing;
using namespace std::chrono_literals;

namespace {

// A coroutine that locks and unlocks for ever.
asio::awaitable<void> work(testing::host& where, leasehold::client& locks, int& rounds)
{
    const leasehold::mutex m(locks, "name", {.lease_time = 2s});
    testing::timer pause(where);
    for (;;) {
        leasehold::lease held = co_await m.async_lock();
        pause.expires_after(100ms);
        co_await pause.async_wait();
        co_await held.async_release();
        ++rounds;
    }
}

struct outcome
{
    std::uint64_t hash;
    std::uint64_t events;
    int rounds;
};

outcome run(std::uint64_t seed)
{
    testing::world world(seed);
    testing::server& server = world.make_server();
    testing::host& a = world.make_host("a");
    testing::host& b = world.make_host("b");
    leasehold::client first = a.make_client(server);
    leasehold::client second = b.make_client(server);
    int rounds = 0;
    first.async_run(asio::detached);
    second.async_run(asio::detached);
    asio::co_spawn(a, work(a, first, rounds), asio::detached);
    asio::co_spawn(b, work(b, second, rounds), asio::detached);
    world.run_for(60s);
    return {world.trace_hash(), world.events(), rounds};
}

} // namespace

BOOST_AUTO_TEST_SUITE(world_test)

BOOST_AUTO_TEST_CASE(the_same_seed_gives_the_same_run)
{
    const outcome first = run(1);
    const outcome again = run(1);
    const outcome other = run(2);
    BOOST_TEST(first.rounds > 200);
    BOOST_TEST(first.hash == again.hash);
    BOOST_TEST(first.events == again.events);
    BOOST_TEST(first.hash != other.hash);
}

BOOST_AUTO_TEST_SUITE_END()
