// The examples of the reference for the simulator and for tests of stores. A part has the name of
// its header.
#include "expect.hpp"

#include <leasehold.hpp>
#include <leasehold/testing/store_session.hpp>
#include <leasehold/testing/world.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <chrono>
#include <cstddef>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

namespace asio = boost::asio;
namespace testing = leasehold::testing;
using namespace std::chrono_literals;

namespace {

// [testing_timer]
asio::awaitable<void> pass(testing::host& here, std::chrono::milliseconds how_long)
{
    testing::timer timer(here);
    timer.expires_after(how_long);
    co_await timer.async_wait(); // in virtual time: it takes no real time
}
// [/testing_timer]

asio::awaitable<void> hold(testing::host& here, leasehold::client& locks, int& lost)
{
    const leasehold::mutex report(locks, "report", {.lease_time = 2s});
    leasehold::lease lease = co_await report.async_lock();
    co_await pass(here, 10s);
    if (!lease.valid())
        ++lost;
}

// [testing_host]
/// Pauses a holder for longer than its lease. Returns the number of lost leases.
int pause_a_holder()
{
    testing::world world(1);
    testing::server& redis = world.make_server();
    testing::host& a = world.make_host("a");
    leasehold::client locks = a.make_client(redis);
    locks.async_run(asio::detached);
    int lost = 0;
    asio::co_spawn(a, hold(a, locks, lost), asio::detached);
    world.after(1s, [&] { a.pause(5s); }); // as SIGSTOP
    world.run_for(20s);
    return lost;
}
// [/testing_host]

// [testing_server]
/// Restarts a server without its data. Returns the number of lost leases.
int empty_a_server()
{
    testing::world world(1);
    testing::server& redis = world.make_server();
    testing::host& a = world.make_host("a");
    leasehold::client locks = a.make_client(redis);
    locks.async_run(asio::detached);
    int lost = 0;
    asio::co_spawn(a, hold(a, locks, lost), asio::detached);
    world.after(1s, [&] { redis.restart(testing::server::data::lost, 100ms); });
    world.run_for(20s);
    return lost;
}
// [/testing_server]

// [testing_network]
/// Holds a lock while a tenth of the replies is lost. Returns whether some were lost.
bool lose_replies()
{
    testing::world world(1);
    testing::server& redis = world.make_server();
    testing::host& a = world.make_host("a");
    testing::conditions bad;
    bad.reply_loss = 100'000; // of a million messages
    a.network(bad);
    leasehold::client locks = a.make_client(redis);
    locks.async_run(asio::detached);
    int lost = 0;
    asio::co_spawn(a, hold(a, locks, lost), asio::detached);
    world.run_for(60s);
    return a.mishaps().replies_lost > 0;
}
// [/testing_network]

// [testing_cluster]
/// Fails over the shard of a lock without a lost write. Returns the number of lost leases.
int fail_over_a_shard()
{
    testing::world world(1);
    testing::cluster& redis = world.make_cluster();
    testing::host& a = world.make_host("a");
    leasehold::client locks = a.make_client(redis, {});
    locks.async_run(asio::detached);
    int lost = 0;
    asio::co_spawn(a, hold(a, locks, lost), asio::detached);
    const std::size_t shard = redis.shard_of("report");
    world.after(1s, [&redis, shard] { redis.fail_over(shard, 0s, 500ms, 5s); });
    world.run_for(20s);
    return lost;
}
// [/testing_cluster]

// [testing_executor]
/// Runs two tasks of a host in order: without the strand, the seed decides their order.
std::string in_order()
{
    testing::world world(1);
    testing::host& a = world.make_host("a");
    const auto strand = asio::make_strand(a.get_executor());
    std::string order;
    asio::post(strand, [&] { order += '1'; });
    asio::post(strand, [&] { order += '2'; });
    world.run_for(1s);
    return order;
}
// [/testing_executor]

// [testing_store_session]
/// A test of a store, one request after the other.
bool excludes(std::string_view url)
{
    asio::io_context context;
    testing::store_session session(context, leasehold::make_store(url));
    session.wait_until_connected();
    leasehold::acquire_request request{};
    request.name = "stock";
    request.owner = "a";
    request.lease = 10s;
    request.budget = 5s;
    const auto first = session.acquire(request);
    request.owner = "b";
    const auto second = session.acquire(request);
    using outcome = leasehold::acquire_reply::outcome;
    return first.reply.result == outcome::granted && second.reply.result == outcome::held;
}
// [/testing_store_session]

} // namespace

int main()
try {
    expect(pause_a_holder() == 1, "the lease ended during the pause");
    expect(empty_a_server() == 1, "the lease was lost with the data");
    expect(lose_replies(), "replies were lost");
    expect(fail_over_a_shard() == 0, "the lease survives the failover");
    expect(in_order() == "12", "in the order of the calls");
    expect(excludes("memory:reference"), "one holder");
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n';
    return 1;
}
