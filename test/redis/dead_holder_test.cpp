// Holders that stop sending heartbeats (`lock_options::dead_holder_grace`), with a server.
#include <boost/test/unit_test.hpp>

#include "redis/lab.hpp"
#include "support/fault_proxy.hpp"
#include "support/holder.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using std::chrono::milliseconds;
using steady = std::chrono::steady_clock;

// Long enough that no test passes because a lease has expired.
constexpr milliseconds lease_time = 10min;
constexpr milliseconds grace = 2s;
// A machine may be stopped for a while, and the lease must not be lost then.
constexpr milliseconds long_grace = 30s;
// The TTL of a record after a heartbeat.
constexpr milliseconds recorded = 2min;

lock_options promised(milliseconds silence = grace)
{
    lock_options options;
    options.lease_time = lease_time;
    options.dead_holder_grace = silence;
    return options;
}

milliseconds since(steady::time_point begin)
{
    return std::chrono::duration_cast<milliseconds>(steady::now() - begin);
}

std::string value_of_lock(resp_client& store)
{
    return store.maybe_string({"GET", stock}).value_or("");
}

/// The record of the client that holds the lock.
std::string record_in(resp_client& store)
{
    const std::string value = value_of_lock(store);
    return "leasehold:alive:" + value.substr(3, value.find(':', 3) - 3);
}

/// The grace has passed, whatever the server still stores.
void wait_for_loss(client_thread& by)
{
    by.seen().wait_for(kind::lost);
}

} // namespace

BOOST_AUTO_TEST_CASE(killed_holder_is_superseded_long_before_its_lease_ends)
{
    redis_server server;
    resp_client store = server.connect();
    client_thread other(server);
    holder dying(server);
    const auto fence = dying.lock(stock, lease_time, grace);
    auto waiting = other.start_lock(stock, long_leases());
    const std::string record = record_in(store);
    const auto looked = steady::now();
    const milliseconds silent = recorded - milliseconds(store.integer({"PTTL", record}));
    dying.kill();
    const auto killed = steady::now();
    taken next = get(waiting, 60s);
    BOOST_TEST_REQUIRE(!next.code, next.code.message());
    BOOST_TEST_MESSAGE("granted " << since(killed).count() << " ms after SIGKILL, grace "
                                  << grace.count() << " ms");
    BOOST_TEST(next.held.fence() > fence);
    // Not earlier than allowed. The server counts in milliseconds.
    BOOST_TEST((since(looked) >= grace - silent - 5ms));
    BOOST_TEST(!other.release(std::move(next.held)));
}

// docs/choosing/dead_holder.md states this time for an idle machine.
BOOST_AUTO_TEST_CASE(next_process_gets_the_lock_of_a_killed_holder_after_the_grace)
{
    constexpr milliseconds usual_lease = 30s;
    redis_server server;
    resp_client store = server.connect();
    holder dying(server);
    holder next(server);
    const auto fence = dying.lock(stock, usual_lease, grace);
    next.ask_for_lock(stock, usual_lease);
    wait_until([&] { return waiters_of(store, stock) == 1; });
    dying.kill();
    const auto killed = steady::now();
    BOOST_TEST(next.locked() > fence);
    const milliseconds took = since(killed);
    BOOST_TEST_MESSAGE("from SIGKILL to the next grant: " << took.count() << " ms");
    BOOST_TEST((took < usual_lease / 2));
    BOOST_TEST(next.ask("release") == "released success");
}

BOOST_AUTO_TEST_CASE(first_waiter_without_the_option_supersedes_a_dead_holder)
{
    redis_server server;
    resp_client store = server.connect();
    client_thread first(server);
    client_thread second(server);
    holder dying(server);
    dying.lock(stock, lease_time, 3 * grace); // enough time for two clients to enter the queue
    auto waiting = start_waiting(first);
    wait_until([&] { return waiters_of(store, stock) == 1; });
    auto behind = start_waiting(second);
    wait_until([&] { return waiters_of(store, stock) == 2; });
    dying.kill();
    taken next = get(waiting, 60s);
    BOOST_TEST_REQUIRE(!next.code, next.code.message());
    // The successor has no grace recorded, and is not superseded.
    BOOST_TEST((value_of_lock(store).find("|g") == std::string::npos));
    lease last = hand_off(first, std::move(next.held), behind);
    BOOST_TEST(!second.release(std::move(last)));
    BOOST_TEST(!exists(store));
}

BOOST_AUTO_TEST_CASE(living_holder_keeps_its_lock_while_others_wait)
{
    redis_server server;
    client_thread first(server);
    client_thread second(server);
    lock_options quick = promised();
    quick.dead_holder_grace = 400ms;
    lease held = take(first, quick);
    auto waiting = second.start_lock(stock, long_leases());
    // Several times the grace.
    const auto begin = steady::now();
    while (since(begin) < 5 * quick.dead_holder_grace && held.valid())
        std::this_thread::sleep_for(10ms);
    const bool kept = waiting.wait_for(0s) != std::future_status::ready;
    // On a machine that was stopped, the lease may be lost. The loss is then reported.
    BOOST_TEST((kept || !held.valid()));
    if (held.valid())
        first.release(std::move(held));
    taken next = get(waiting, 60s);
    BOOST_TEST_REQUIRE(!next.code, next.code.message());
    BOOST_TEST(!second.release(std::move(next.held)));
}

BOOST_AUTO_TEST_CASE(stopped_holder_is_superseded_and_reports_the_loss_when_resumed)
{
    redis_server server;
    resp_client store = server.connect();
    client_thread other(server);
    holder stopped(server);
    const auto fence = stopped.lock(stock, lease_time, grace);
    stopped.pause();
    lease next = take(other);
    BOOST_TEST(next.fence() > fence);
    const std::string value = value_of_lock(store);
    stopped.write_line("valid");
    stopped.resume();
    std::string lines[2] = {stopped.read_line().value(), stopped.read_line().value()};
    std::sort(lines, lines + 2);
    BOOST_TEST(lines[0] == "lost silent");
    BOOST_TEST(lines[1] == "valid 0");
    // The stopped holder no longer holds the lock that it releases.
    BOOST_TEST(stopped.ask("release") != "released success");
    BOOST_TEST(value_of_lock(store) == value);
    BOOST_TEST(!other.release(std::move(next)));
}

BOOST_AUTO_TEST_CASE(disconnected_holder_loses_its_lease_before_the_next_grant)
{
    redis_server server;
    fault_proxy proxy(server);
    client_thread cut(redis_config(proxy.url()));
    client_thread other(server);
    lease held = take(cut, promised());
    auto waiting = other.start_lock(stock, long_leases());
    proxy.stall(); // for the server, the client is still connected
    taken next = get(waiting, 60s);
    BOOST_TEST_REQUIRE(!next.code, next.code.message());
    BOOST_TEST(!held.valid());
    wait_for_loss(cut);
    BOOST_TEST(!other.release(std::move(next.held)));
    proxy.forward();
}

BOOST_AUTO_TEST_CASE(lost_notifications_do_not_end_a_lease)
{
    redis_server server;
    resp_client store = server.connect();
    client_thread first(server);
    client_thread second(server);
    lease held = take(first, promised());
    auto waiting = second.start_lock(stock, long_leases());
    const auto begin = steady::now();
    while (since(begin) < 2 * grace && held.valid()) {
        store.done({"CLIENT", "LIST"});
        store.command({"CLIENT", "KILL", "TYPE", "pubsub"});
        std::this_thread::sleep_for(50ms);
    }
    const bool kept = waiting.wait_for(0s) != std::future_status::ready;
    BOOST_TEST((kept || !held.valid()));
    if (held.valid())
        first.release(std::move(held));
    taken next = get(waiting, 60s);
    BOOST_TEST_REQUIRE(!next.code, next.code.message());
    BOOST_TEST(!second.release(std::move(next.held)));
}

BOOST_AUTO_TEST_CASE(holder_with_a_missing_or_replaced_record_is_not_superseded)
{
    redis_server server;
    resp_client store = server.connect();
    client_thread first(server);
    client_thread second(server);
    lease held = take(first, promised(long_grace));
    const std::string record = record_in(store);
    BOOST_TEST(store.integer({"EXISTS", record}) == 1);
    // As if another server had written the record, longer ago than the grace.
    const milliseconds left = recorded - 2 * long_grace;
    for (const std::vector<std::string>& change :
         {std::vector<std::string>{"SET", record, "0123", "PX", std::to_string(left.count())},
          {"DEL", record}}) {
        store.done(change);
        BOOST_TEST((second.try_lock(stock, promised()).code == errc::held));
    }
    BOOST_TEST(held.valid());
    BOOST_TEST(!first.release(std::move(held)));
    BOOST_TEST(!exists(store));
}

BOOST_AUTO_TEST_CASE(next_heartbeat_detects_a_flushed_server)
{
    redis_server server;
    resp_client store = server.connect();
    client_thread first(server);
    lease held = take(first, promised(4 * grace));
    store.done({"FLUSHALL"});
    wait_for_loss(first); // minutes before the next renewal
    BOOST_TEST(!held.valid());
    BOOST_TEST((first.seen().events(kind::lost).at(0).code == errc::lost));
}

BOOST_AUTO_TEST_CASE(reentrant_acquisition_ends_the_grace)
{
    redis_server server;
    resp_client store = server.connect();
    client_thread inner(server);
    holder dying(server);
    client_thread outer(server);
    lease held = take(outer, promised(long_grace));
    BOOST_TEST((value_of_lock(store).find("|g") != std::string::npos));
    taken again = get(inner.start_reenter(stock, long_leases(), held.share_owner()));
    BOOST_TEST_REQUIRE(!again.code, again.code.message());
    BOOST_TEST((value_of_lock(store).find('g') == std::string::npos));
    BOOST_TEST(!inner.release(std::move(again.held)));
    BOOST_TEST(!outer.release(std::move(held)));
    BOOST_TEST(!exists(store));
}

// Two operations of one client wait for one name. The acquire of the first, with a grace, was
// granted without a reply. Its owner is released, and the second operation uses another owner.
BOOST_AUTO_TEST_CASE(next_waiter_does_not_inherit_the_grace)
{
    redis_server server;
    resp_client store = server.connect();
    fault_proxy proxy(server);
    client_thread locks(redis_config(proxy.url()));
    client_thread other(server);
    lease warm = take(locks, long_leases(), "another"); // so that the client is connected
    lock_options first = promised();
    first.wait_limit = 2s;
    proxy.forward_then_reset("leasehold:alive:");
    proxy.refuse();
    auto waiting = locks.start_lock(stock, first);
    auto behind = locks.start_lock(stock, long_leases());
    BOOST_TEST(!!get(waiting).code);
    const std::string unheard = value_of_lock(store);
    BOOST_TEST_REQUIRE((unheard.find("|g") != std::string::npos));
    proxy.accept();
    taken next = get(behind);
    BOOST_TEST_REQUIRE(!next.code, next.code.message());
    const std::string heard = value_of_lock(store);
    BOOST_TEST((heard.find('|') == std::string::npos));
    BOOST_TEST(heard != unheard.substr(0, unheard.find('|')));
    // As if the client had been silent for longer than the grace of the first operation.
    store.done({"PEXPIRE", record_in(store), "1000"});
    BOOST_TEST((other.try_lock(stock, long_leases()).code == errc::held));
    BOOST_TEST(next.held.valid());
    BOOST_TEST(!locks.release(std::move(next.held)));
    BOOST_TEST(!locks.release(std::move(warm)));
}

BOOST_AUTO_TEST_CASE(user_without_info_gets_a_lease_without_grace)
{
    redis_server server;
    resp_client store = server.connect();
    store.done(
        {"ACL", "SETUSER", "some", "on", ">secret", "allkeys", "allchannels", "+@all", "-info"});
    redis_config as_some(server.unix_url());
    as_some.user = "some";
    as_some.password = "secret";
    client_thread some(as_some);
    lease held = take(some, promised());
    BOOST_TEST((value_of_lock(store).find('|') == std::string::npos));
    BOOST_TEST((held.deadline() - leasehold::clock::now() > grace));
    BOOST_TEST(!some.release(std::move(held)));
}

BOOST_AUTO_TEST_CASE(store_without_heartbeats_rejects_the_option)
{
    redis_server server;
    const auto refused = [](errc with) {
        return [with](const boost::system::system_error& failed) { return failed.code() == with; };
    };
    redis_config other(server.unix_url());
    other.layout = redis_config::key_layout::redisson;
    for (const redis_config& each :
         {other, redis_config("redis+cluster://127.0.0.1:1"),
          redis_config("redlock://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3")}) {
        client_thread locks(each);
        BOOST_CHECK_EXCEPTION(mutex(locks.locks(), stock, promised()), boost::system::system_error,
                              refused(errc::not_supported));
    }
    client_thread locks(server);
    lock_options both = promised();
    both.replica_acks = 1;
    lock_options too_long = promised();
    too_long.lease_time = too_long.dead_holder_grace;
    for (const lock_options& each : {both, too_long})
        BOOST_CHECK_EXCEPTION(mutex(locks.locks(), stock, each), boost::system::system_error,
                              refused(errc::invalid_option));
}
