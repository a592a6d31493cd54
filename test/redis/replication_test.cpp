// Locks that replicas have to confirm.
#include <boost/test/unit_test.hpp>

#include "redis/lab.hpp"
#include "support/replicated_server.hpp"
#include "support/sentinel_deployment.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <thread>

namespace {

using namespace leasehold;
using namespace leasehold::test;

lock_options confirmed_by(std::uint32_t replicas, lock_options options = long_leases())
{
    options.replica_acks = replicas;
    options.replica_timeout = std::min<std::chrono::milliseconds>(2s, options.lease_time / 4);
    return options;
}

/// The error of a lock that the replicas had to confirm and did not.
std::string why_not(client_thread& asked, const taken& got)
{
    BOOST_TEST((got.code == errc::not_replicated), got.code.message());
    asked.seen().wait_for(kind::not_acquired);
    const auto told = asked.seen().events(kind::not_acquired).back();
    asked.seen().clear();
    return told.details.to_string();
}

/// An unconfirmed grant is released.
void is_released(redis_server& server)
{
    resp_client store = server.connect();
    wait_until([&] { return !exists(store); });
}

lock_options briefly(lock_options options)
{
    options.replica_timeout = 50ms;
    return options;
}

} // namespace

BOOST_AUTO_TEST_CASE(replica_stores_a_confirmed_lock)
{
    replicated_server servers(2);
    client_thread one(servers.master());
    client_thread other(servers.master());
    lease held = take(one, confirmed_by(2));
    for (const std::size_t i : {0u, 1u}) {
        resp_client replica = servers.replica(i).connect();
        BOOST_TEST(holder_of(replica, stock) == held.share_owner().id());
    }
    one.seen().wait_for(kind::renewed, 3);
    auto waiting = start_waiting(other, confirmed_by(1));
    BOOST_TEST(!other.release(hand_off(one, std::move(held), waiting)));
    BOOST_TEST(one.stats().renewals_failed == 0);
    is_released(servers.master());
}

BOOST_AUTO_TEST_CASE(too_few_replicas_are_reported_with_their_number)
{
    replicated_server servers(1);
    client_thread one(servers.master());
    // Long enough for the one existing replica, on a busy machine.
    const std::string why = why_not(one, one.lock(stock, confirmed_by(2)));
    BOOST_TEST(why.find("1 of 2 replicas confirmed within 2000 ms") != std::string::npos, why);
    is_released(servers.master());
    // The client continues with locks that can be confirmed.
    lease held = take(one, confirmed_by(1));
    BOOST_TEST(!one.release(std::move(held)));
}

BOOST_AUTO_TEST_CASE(Q2_lock_without_replicas_is_not_replicated)
{
    redis_server alone;
    client_thread one(alone);
    const std::string why = why_not(one, one.try_lock(stock, briefly(confirmed_by(1))));
    BOOST_TEST(why.find("0 of 1 replicas") != std::string::npos, why);
    is_released(alone);
    BOOST_TEST(acquire_and_release(one, 0) > 0);
}

BOOST_AUTO_TEST_CASE(Q2_user_without_wait_gets_the_error_of_the_server)
{
    replicated_server servers(1);
    servers.master().connect().done(
        {"ACL", "SETUSER", "careless", "on", "nopass", "~*", "&*", "+@all", "-wait"});
    redis_config settings = at(servers.master());
    settings.user = "careless";
    settings.password = "none";
    client_thread one(settings);
    const std::string why = why_not(one, one.lock(stock, confirmed_by(1)));
    BOOST_TEST(why.find("NOPERM") != std::string::npos, why);
    is_released(servers.master());
}

BOOST_AUTO_TEST_CASE(reentrant_acquisition_is_confirmed_by_replicas)
{
    replicated_server servers(1);
    client_thread one(servers.master());
    client_thread other(servers.master());
    lease held = take(one, confirmed_by(1));
    taken entry = get(other.start_reenter(stock, confirmed_by(1), held.share_owner()));
    BOOST_TEST_REQUIRE(!entry.code, entry.code.message());
    BOOST_TEST(!one.release(std::move(held)));
    other.seen().wait_for(kind::renewed, 2);
    taken refused = get(
        one.start_reenter(stock, briefly(confirmed_by(2)), entry.held.share_owner()));
    BOOST_TEST((refused.code == errc::not_replicated), refused.code.message());
    BOOST_TEST(!other.release(std::move(entry.held)));
    is_released(servers.master());
}

// An isolated master continues to renew a lock that no other server has.
BOOST_AUTO_TEST_CASE(lease_with_unconfirmed_renewals_expires)
{
    replicated_server servers(1);
    client_thread one(servers.master());
    lease held = take(one, confirmed_by(1, leases_of(5s)));
    lease other = take(one, leases_of(5s), "unconfirmed");
    one.seen().wait_for(kind::renewed, 4);
    auto lost = client_thread::start_wait_lost(held);
    servers.replica(0).pause();
    BOOST_TEST((get(lost) == errc::expired));
    one.seen().wait_for(kind::lost);
    const auto told = one.seen().events(kind::lost);
    BOOST_TEST_REQUIRE(told.size() == 1u);
    BOOST_TEST((told.front().details.cause == errc::not_replicated));
    BOOST_TEST(told.front().details.to_string().find("0 of 1 replicas") != std::string::npos);
    // A lease without confirmation was not delayed.
    BOOST_TEST(other.valid());
    servers.replica(0).resume();
    servers.wait_for(1);
    BOOST_TEST(!one.release(take(one, confirmed_by(1))));
}

// The replica that a lease needs responds. Another lease needs two replicas, and keeps requesting
// them.
BOOST_AUTO_TEST_CASE(confirmed_lease_does_not_wait_for_another_lease)
{
    replicated_server servers(2);
    client_thread one(servers.master());
    lock_options demanding = long_leases();
    demanding.replica_acks = 2;
    demanding.replica_timeout = 4s;
    lock_options modest;
    modest.lease_time = 3s;
    modest.replica_acks = 1;
    lease more = take(one, demanding);
    lease held = take(one, modest, "modest");
    auto lost = client_thread::start_wait_lost(held);
    servers.replica(1).pause();
    one.seen().clear();
    const auto renewed = [&] {
        const auto all = one.seen().events(kind::renewed);
        return std::count_if(all.begin(), all.end(),
                             [](const auto& each) { return each.name == "modest"; });
    };
    wait_until([&] { return renewed() >= 8 || !held.valid(); });
    BOOST_TEST(held.valid());
    BOOST_TEST((lost.wait_for(0s) == std::future_status::timeout));
    BOOST_TEST(one.seen().count(kind::renewal_late) >= 1u);
    servers.replica(1).resume();
    BOOST_TEST(!one.release(std::move(held)));
    BOOST_TEST(!one.release(std::move(more)));
}

// During a wait for replicas, all other requests continue.
BOOST_AUTO_TEST_CASE(unresponsive_replica_delays_no_unconfirmed_lock)
{
    replicated_server servers(1);
    client_thread one(servers.master());
    BOOST_TEST(!one.release(take(one, confirmed_by(1))));
    servers.replica(0).pause();
    auto slow = one.start_lock("slow", confirmed_by(1));
    resp_client store = servers.master().connect();
    wait_until([&] { return exists(store, "slow"); });
    for (int i = 0; i < 20; ++i)
        BOOST_TEST(!one.release(take(one)));
    BOOST_TEST((slow.wait_for(0s) == std::future_status::timeout));
    BOOST_TEST((get(slow).code == errc::not_replicated));
    servers.replica(0).resume();
}

// Two waiters get the same error. A waiter without replicas gets the lock.
BOOST_AUTO_TEST_CASE(waiters_that_need_as_many_replicas_fail_together)
{
    replicated_server servers(1);
    client_thread holder(servers.master());
    client_thread one(servers.master());
    lease held = take(holder);
    auto first = one.start_lock(stock, briefly(confirmed_by(2)));
    auto second = one.start_lock(stock, briefly(confirmed_by(3)));
    auto third = one.start_lock(stock, long_leases());
    one.seen().wait_for(kind::waiting, 1);
    BOOST_TEST(!holder.release(std::move(held)));
    BOOST_TEST((get(first).code == errc::not_replicated));
    BOOST_TEST((get(second).code == errc::not_replicated));
    taken got = get(third);
    BOOST_TEST_REQUIRE(!got.code, got.code.message());
    BOOST_TEST(!one.release(std::move(got.held)));
    is_released(servers.master());
}

BOOST_AUTO_TEST_CASE(renewal_script_is_loaded_once_per_connection_and_after_a_flush)
{
    replicated_server servers(1);
    resp_client store = servers.master().connect();
    const auto loads = [&] {
        std::istringstream lines(store.command({"INFO", "commandstats"}).text);
        for (std::string line; std::getline(lines, line);)
            if (line.starts_with("cmdstat_script|load:calls="))
                return std::stoi(line.substr(line.find('=') + 1));
        return 0;
    };
    client_thread one(servers.master());
    BOOST_TEST(!one.release(take(one, confirmed_by(1))));
    const int first = loads();
    for (int i = 0; i < 3; ++i)
        BOOST_TEST(!one.release(take(one, confirmed_by(1))));
    BOOST_TEST(loads() == first);
    store.done({"SCRIPT", "FLUSH"});
    BOOST_TEST(!one.release(take(one, confirmed_by(1))));
    BOOST_TEST(loads() == first + 1);
}

// The script cache and the connections are lost: neither is needed for a correct result.
BOOST_AUTO_TEST_CASE(ended_connection_does_not_end_a_confirmed_lease)
{
    replicated_server servers(1);
    client_thread one(servers.master());
    lease held = take(one, confirmed_by(1));
    for (int i = 0; i < 3; ++i) {
        const auto before = one.stats().renewed;
        servers.master().connect().command({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
        wait_until([&] { return one.stats().renewed > before + 2; });
    }
    BOOST_TEST(held.valid());
    BOOST_TEST(!one.release(std::move(held)));
}

// A lock that was confirmed before the master died exists at the next master.
BOOST_AUTO_TEST_CASE(Q1_next_master_has_the_confirmed_lock)
{
    sentinel_deployment deployment;
    client_thread holder(at(deployment.url()));
    client_thread other(at(deployment.url()));
    lock_options outliving = confirmed_by(2);
    outliving.wait_limit = 60s;
    lease held = take(holder, outliving);
    deployment.kill_master();
    deployment.wait_for_new_master();
    resp_client store = deployment.master().connect();
    BOOST_TEST(holder_of(store, stock) == held.share_owner().id());
    // One replica is left.
    lock_options alone = confirmed_by(1);
    alone.wait_limit = 0ms;
    wait_until([&] { return other.lock(stock, alone).code == errc::held; }, 30s);
    BOOST_TEST(held.valid());
}

// One connection leads to the old master, which renews. The other leads to the new one, which also
// has the lock, with the TTL that it knows. Its replicas confirm only its own data.
BOOST_AUTO_TEST_CASE(row_09_renewal_counts_only_at_the_master_of_its_replicas)
{
    sentinel_deployment deployment;
    client_thread holder(at(deployment.url()));
    lock_options limited = confirmed_by(1, leases_of(5s));
    limited.replica_timeout = 200ms;
    lease held = take(holder, limited);
    wait_until([&] {
        for (std::size_t i = 0; i < sentinel_deployment::server_count; ++i) {
            resp_client server = deployment.server(i).connect();
            if (!exists(server))
                return false;
        }
        return true;
    });
    resp_client old = deployment.master().connect();
    deployment.isolate_master();
    std::istringstream all(old.string({"CLIENT", "LIST"}));
    for (std::string line; std::getline(all, line);)
        if (line.find(" cmd=wait ") != std::string::npos)
            old.done({"CLIENT", "KILL", "ID", line.substr(3, line.find(' ') - 3)});
    deployment.wait_for_new_master();
    const auto end = clock::now() + 10s;
    try {
        resp_client next = deployment.master().connect();
        while (clock::now() < end && held.valid()) {
            const auto until = held.deadline();
            const std::chrono::milliseconds left(next.integer({"PTTL", stock}));
            // The reply may have been delayed.
            const auto answered = clock::now();
            if (held.valid())
                BOOST_TEST_REQUIRE((answered + left + 1ms >= until));
            std::this_thread::sleep_for(5ms);
        }
    }
    catch (const resp_disconnected&) {
        // On a loaded machine, Sentinel may replace that master, too.
    }
}

// The old master still answers, but its grants are not confirmed.
BOOST_AUTO_TEST_CASE(isolated_master_grants_nothing)
{
    sentinel_deployment deployment;
    client_thread holder(at(deployment.url()));
    client_thread other(at(deployment.url()));
    lock_options limited = confirmed_by(1, leases_of(5s));
    limited.wait_limit = 60s;
    lease held = take(holder, limited);
    auto lost = client_thread::start_wait_lost(held);
    deployment.isolate_master();
    limited.replica_timeout = 200ms;
    BOOST_TEST((holder.lock("another", limited).code == errc::not_replicated));
    deployment.wait_for_new_master();
    // A client at the new master gets the lock when the lease has expired, which the holder knows
    // by then. One connection of the client still leads to the old master. At first, the new master
    // has no replica.
    taken next;
    wait_until(
        [&] {
            next = other.lock(stock, limited);
            return next.code != errc::not_replicated;
        },
        60s);
    BOOST_TEST_REQUIRE(!next.code, next.code.message());
    BOOST_TEST(!held.valid());
    BOOST_TEST((get(lost) == condition::lease_ended));
    BOOST_TEST(next.held.valid());
}
