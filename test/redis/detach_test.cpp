// Locks whose leases were detached, on real servers.
#include <boost/test/unit_test.hpp>

#include "redis/lab.hpp"
#include "support/quorum_deployment.hpp"

#include <leasehold/memory.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace {

using namespace leasehold;
using namespace leasehold::test;

lock_options brief()
{
    lock_options options = leases_of(1s);
    options.renew_interval = 100ms;
    return options;
}

} // namespace

BOOST_AUTO_TEST_CASE(detached_lock_is_held_until_its_ttl_ends)
{
    redis_server server;
    client_thread other(server);
    const auto granted = std::chrono::steady_clock::now();
    std::uint64_t fence = 0;
    {
        client_thread job(server);
        lease held = take(job, brief());
        fence = held.fence();
        held.detach();
    } // the client has ended
    resp_client store = server.connect();
    BOOST_TEST(exists(store));
    BOOST_TEST(store.integer({"PTTL", stock}) <= 1'000);
    BOOST_TEST((other.try_lock(stock, brief()).code == errc::held));
    lease next = take(other, brief());
    // The TTL begins when the server executes the request.
    BOOST_TEST((std::chrono::steady_clock::now() - granted >= 990ms));
    BOOST_TEST(next.fence() > fence);
    BOOST_TEST(!other.release(std::move(next)));
}

BOOST_AUTO_TEST_CASE(waiters_of_the_client_and_of_others_get_the_lock_in_turn)
{
    redis_server server;
    client_thread job(server);
    client_thread other(server);
    lease held = take(job, brief());
    auto mine = job.start_lock(stock, brief());
    auto theirs = start_waiting(other, brief());
    held.detach();
    BOOST_TEST((mine.wait_for(0s) != std::future_status::ready));
    for (int i = 0; i < 2; ++i) {
        wait_until([&] {
            return (mine.valid() && mine.wait_for(0s) == std::future_status::ready) ||
                   (theirs.valid() && theirs.wait_for(0s) == std::future_status::ready);
        });
        const bool is_mine = mine.valid() && mine.wait_for(0s) == std::future_status::ready;
        taken got = get(is_mine ? mine : theirs);
        BOOST_TEST_REQUIRE(!got.code, got.code.message());
        BOOST_TEST(!job.release(std::move(got.held)));
    }
}

BOOST_AUTO_TEST_CASE(detached_reentrant_acquisition_keeps_the_lock_of_its_owner)
{
    redis_server server;
    client_thread job(server);
    client_thread other(server);
    lease held = take(job, brief());
    taken inner = get(other.start_reenter(stock, brief(), held.share_owner()));
    BOOST_TEST_REQUIRE(!inner.code, inner.code.message());
    inner.held.detach();
    BOOST_TEST(!job.release(std::move(held)));
    resp_client store = server.connect();
    BOOST_TEST(exists(store));
    BOOST_TEST((other.try_lock(stock, brief()).code == errc::held));
    BOOST_TEST(!other.release(take(other, brief())));
}

// The lease of the owner is detached, and a reentrant one released.
BOOST_AUTO_TEST_CASE(released_reentrant_acquisition_leaves_a_detached_lock)
{
    redis_server server;
    client_thread job(server);
    lease held = take(job, long_leases());
    taken inner = get(job.start_reenter(stock, long_leases(), held.share_owner()));
    BOOST_TEST_REQUIRE(!inner.code, inner.code.message());
    held.detach();
    BOOST_TEST(!job.release(std::move(inner.held)));
    resp_client store = server.connect();
    BOOST_TEST(exists(store));
    BOOST_TEST((job.try_lock(stock, brief()).code == errc::held));
}

BOOST_AUTO_TEST_CASE(detached_lock_stays_at_each_member_of_a_quorum)
{
    quorum_deployment servers;
    auto job = std::make_unique<client_thread>(servers.settings());
    lease held = take(*job, brief());
    wait_until([&] { return servers.count(stock) == 3; }); // two of them have granted it
    held.detach();
    job.reset();
    BOOST_TEST(servers.count(stock) == 3u);
    client_thread other(servers.settings());
    BOOST_TEST((other.try_lock(stock, brief()).code == errc::held));
    BOOST_TEST(!other.release(take(other, brief())));
}

BOOST_AUTO_TEST_CASE(detached_lock_in_memory_is_held_until_its_ttl_ends)
{
    const std::string url = "memory:detach_test";
    boost::asio::io_context context;
    client one(context, url);
    client two(context, url);
    one.async_run(boost::asio::detached);
    two.async_run(boost::asio::detached);
    const mutex mine(one, stock, {.lease_time = 200ms});
    const mutex theirs(two, stock, {.lease_time = 200ms});
    bool done = false;
    mine.async_lock([&](error_code failed, lease held) {
        BOOST_TEST(!failed);
        const auto deadline = held.deadline();
        held.detach();
        theirs.async_try_lock([&, deadline](error_code busy, lease) {
            BOOST_TEST((busy == errc::held));
            theirs.async_lock([&, deadline](error_code code, lease next) {
                BOOST_TEST(!code);
                BOOST_TEST((clock::now() >= deadline));
                done = next.valid();
                one.cancel();
                two.cancel();
            });
        });
    });
    context.run();
    BOOST_TEST(done);
}
