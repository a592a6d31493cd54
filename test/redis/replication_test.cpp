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

/// Of an attempt that replicas had to confirm and did not.
std::string why_not(client_thread& asked, const taken& got)
{
    BOOST_TEST((got.code == errc::not_replicated), got.code.message());
    asked.seen().wait_for(kind::not_acquired);
    const auto told = asked.seen().events(kind::not_acquired).back();
    asked.seen().clear();
    return told.details.to_string();
}

/// An unconfirmed grant is released.
void is_given_back(redis_server& server)
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

BOOST_AUTO_TEST_CASE(a_replica_has_what_was_confirmed)
{
    replicated_server servers(2);
    client_thread one(servers.master());
    client_thread other(servers.master());
    lease held = take(one, confirmed_by(2));
    for (const std::size_t i : {0u, 1u}) {
        resp_client replica = servers.replica(i).connect();
        BOOST_TEST(holder_of(replica, stock) == held.owner().id());
    }
    one.seen().wait_for(kind::renewed, 3);
    auto waiting = start_waiting(other, confirmed_by(1));
    BOOST_TEST(!other.release(hand_over(one, std::move(held), waiting)));
    BOOST_TEST(one.stats().renewals_failed == 0);
    is_given_back(servers.master());
}

BOOST_AUTO_TEST_CASE(too_few_replicas_are_an_error_that_says_how_many)
{
    replicated_server servers(1);
    client_thread one(servers.master());
    // Long enough for the one that there is, on a machine that is busy.
    const std::string why = why_not(one, one.lock(stock, confirmed_by(2)));
    BOOST_TEST(why.find("1 of 2 replicas confirmed within 2000 ms") != std::string::npos, why);
    is_given_back(servers.master());
    // The client continues with locks that can be confirmed.
    lease held = take(one, confirmed_by(1));
    BOOST_TEST(!one.release(std::move(held)));
}

BOOST_AUTO_TEST_CASE(Q2_no_replicas_are_too_few)
{
    redis_server alone;
    client_thread one(alone);
    const std::string why = why_not(one, one.try_lock(stock, briefly(confirmed_by(1))));
    BOOST_TEST(why.find("0 of 1 replicas") != std::string::npos, why);
    is_given_back(alone);
    BOOST_TEST(next_gets_in(one, 0) > 0);
}

BOOST_AUTO_TEST_CASE(Q2_a_user_that_may_not_wait_for_replicas_hears_so)
{
    replicated_server servers(1);
    servers.master().connect().done(
        {"ACL", "SETUSER", "careless", "on", "nopass", "~*", "&*", "+@all", "-wait"});
    config settings = at(servers.master());
    settings.user = "careless";
    settings.password = "none";
    client_thread one(settings);
    const std::string why = why_not(one, one.lock(stock, confirmed_by(1)));
    BOOST_TEST(why.find("NOPERM") != std::string::npos, why);
    is_given_back(servers.master());
}

BOOST_AUTO_TEST_CASE(a_reentry_is_confirmed_too)
{
    replicated_server servers(1);
    client_thread one(servers.master());
    client_thread other(servers.master());
    lease held = take(one, confirmed_by(1));
    taken entry = get(other.start_enter(stock, confirmed_by(1), held.owner()));
    BOOST_TEST_REQUIRE(!entry.code, entry.code.message());
    BOOST_TEST(!one.release(std::move(held)));
    other.seen().wait_for(kind::renewed, 2);
    taken refused = get(one.start_enter(stock, briefly(confirmed_by(2)), entry.held.owner()));
    BOOST_TEST((refused.code == errc::not_replicated), refused.code.message());
    BOOST_TEST(!other.release(std::move(entry.held)));
    is_given_back(servers.master());
}

// A master that was cut off continues to renew a lock that no other server knows.
BOOST_AUTO_TEST_CASE(a_lease_whose_renewals_nobody_confirms_ends_at_its_deadline)
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
    // What needs no confirmation was not held up.
    BOOST_TEST(other.valid());
    servers.replica(0).resume();
    servers.wait_for(1);
    BOOST_TEST(!one.release(take(one, confirmed_by(1))));
}

// The one replica that a lease needs is there; another lease needs two, and requests them all the
// time.
BOOST_AUTO_TEST_CASE(who_has_its_replicas_waits_for_nobody_who_has_not)
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

// While replicas are waited for, all other requests continue.
BOOST_AUTO_TEST_CASE(a_replica_that_stands_still_holds_nothing_else_up)
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

// Two waiters get the same error; one that needs no replicas gets the lock.
BOOST_AUTO_TEST_CASE(waiters_that_want_as_many_are_told_the_same)
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
    is_given_back(servers.master());
}

BOOST_AUTO_TEST_CASE(the_script_that_renews_is_sent_once_a_connection_and_again_when_it_is_gone)
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
BOOST_AUTO_TEST_CASE(a_connection_that_ends_is_no_confirmation)
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

// What was confirmed before the master died is on the one that follows.
BOOST_AUTO_TEST_CASE(Q1_the_next_master_has_what_was_confirmed)
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
    BOOST_TEST(holder_of(store, stock) == held.owner().id());
    // One replica is left.
    lock_options alone = confirmed_by(1);
    alone.wait_limit = 0ms;
    wait_until([&] { return other.lock(stock, alone).code == errc::held; }, 30s);
    BOOST_TEST(held.valid());
}

// One connection leads to the old master, which renews; the other to the new one, which has the
// lock as well, for as long as it knew of. Its replicas confirm only what it has itself.
BOOST_AUTO_TEST_CASE(row_09_a_renewal_counts_where_its_replicas_are)
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
            // The reply may have been on its way for long.
            const auto answered = clock::now();
            if (held.valid())
                BOOST_TEST_REQUIRE((answered + left + 1ms >= until));
            std::this_thread::sleep_for(5ms);
        }
    }
    catch (const resp_disconnected&) {
        // On a loaded machine Sentinel may replace that one, too.
    }
}

// The old master still answers; its grants are not confirmed.
BOOST_AUTO_TEST_CASE(a_master_that_was_cut_off_grants_nothing)
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
    // A client at the new master gets the lock when the lease ends; by then the holder knows. One
    // of its connections is still to the old master. The new one has no replica at first.
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
