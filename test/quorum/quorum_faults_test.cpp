// A quorum of real servers, some of which are killed, stopped or emptied.
#include <boost/test/unit_test.hpp>

#include "redis/lab.hpp"
#include "support/documented_rights.hpp"
#include "support/quorum_deployment.hpp"

#include <cstdint>
#include <future>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;

/// Short limits, so that unresponsive members are detected soon.
redis_config settings_of(const quorum_deployment& servers, std::uint32_t grants = 0)
{
    redis_config settings = servers.settings();
    settings.health_check = 100ms;
    settings.quorum = grants;
    return settings;
}

/// A member without data is silent for this time. It is longer than an answer takes on a busy
/// machine, because a release is given up with its lease.
constexpr std::chrono::milliseconds short_lease = 1s;

void wait_until_member(quorum_deployment& servers, std::size_t number)
{
    wait_until([&] { return servers.is_member(number); });
}

/// A client that has acquired the lock once, so that all servers are members.
struct lab
{
    explicit lab(std::size_t members, std::uint32_t grants = 0)
        : servers(members), a(settings_of(servers, grants)), b(settings_of(servers, grants))
    {
        fence = acquire_and_release(a, 0, leases_of(short_lease));
        fence = acquire_and_release(b, fence, leases_of(short_lease));
        for (std::size_t i = 0; i < members; ++i)
            wait_until_member(servers, i);
    }

    // While members fail, a majority takes longer to answer.
    void grants(int times)
    {
        for (int i = 0; i < times; ++i)
            fence = acquire_and_release(i % 2 == 0 ? a : b, fence, leases_of(10s));
    }

    quorum_deployment servers;
    client_thread a;
    client_thread b;
    std::uint64_t fence = 0;
};

error_code refused_by(client_thread& client, std::chrono::milliseconds lease = 60s)
{
    return client.try_lock(stock, leases_of(lease)).code;
}

} // namespace

BOOST_AUTO_TEST_CASE(Q8_dead_or_unresponsive_minority_does_not_affect_locks)
{
    lab l(5);
    l.servers[0].kill();
    l.servers[3].pause();
    l.grants(20);
    lease held = take(l.a, leases_of(short_lease));
    l.a.seen().wait_for(kind::renewed, 12); // longer than the lease time
    BOOST_TEST(held.valid());
    BOOST_TEST((refused_by(l.b) == errc::held));
    BOOST_TEST(!l.a.release(std::move(held)));
    l.servers[3].resume();
    l.grants(4);
}

BOOST_AUTO_TEST_CASE(Q15_first_grant_of_a_new_client_is_completed_at_all_members)
{
    lab l(3);
    client_thread fresh(settings_of(l.servers));
    const lease held = take(fresh, leases_of(60s)); // the first renewal is far away
    for (std::size_t each = 0; each < l.servers.size(); ++each)
        wait_until([&] {
            resp_client store = l.servers[each].connect();
            return exists(store);
        });
    BOOST_TEST(held.valid());
}

BOOST_AUTO_TEST_CASE(Q15_lease_survives_a_member_that_fails_right_after_the_grant)
{
    lab l(3);
    l.servers[2].kill();
    lease held = take(l.a, leases_of(2s));
    l.servers[0].kill();
    l.servers[2].start();
    l.a.seen().wait_for(kind::renewed, 8); // longer than the lease time
    BOOST_TEST(held.valid());
    resp_client created = l.servers[2].connect();
    BOOST_TEST(exists(created));
    BOOST_TEST(!l.a.release(std::move(held)));
}

BOOST_AUTO_TEST_CASE(locks_are_granted_again_after_a_lost_majority_returns)
{
    lab l(5);
    lease held = take(l.a, leases_of(500ms));
    for (const std::size_t each : {0u, 1u, 2u})
        l.servers[each].pause();
    auto lost = client_thread::start_wait_lost(held);
    BOOST_TEST((get(lost) == errc::expired));
    BOOST_TEST(!held.valid());
    const error_code refused = refused_by(l.b);
    BOOST_TEST((refused == errc::no_quorum || refused == errc::outcome_unknown), refused.message());
    for (const std::size_t each : {0u, 1u, 2u})
        l.servers[each].resume();
    l.fence = held.fence();
    l.grants(6);
}

BOOST_AUTO_TEST_CASE(lock_without_a_quorum_fails_with_no_quorum)
{
    lab l(3);
    l.servers[1].kill();
    l.servers[2].kill();
    wait_until([&] { return refused_by(l.a) == errc::no_quorum; });
    l.servers[1].start();
    l.servers[2].start();
}

// One member after the other loses all its data. The held lock is created again at each of them,
// and its lease survives.
BOOST_AUTO_TEST_CASE(Q6_lease_survives_members_that_are_emptied_in_turn)
{
    lab l(3);
    lease held = take(l.a, leases_of(2s));
    for (std::size_t each = 0; each < l.servers.size(); ++each) {
        l.servers[each].restart_empty();
        wait_until([&] {
            resp_client store = l.servers[each].connect();
            return exists(store);
        });
        wait_until_member(l.servers, each);
        BOOST_TEST(held.valid());
        BOOST_TEST((refused_by(l.b, short_lease) == errc::held));
    }
    // The silence of the next member that loses its data is known, although no member was asked
    // since.
    for (std::size_t each = 0; each < l.servers.size(); ++each)
        BOOST_TEST(l.servers[each].connect().command({"HGET", "leasehold:quorum", "lease"}).text ==
                   "2000");
    l.fence = held.fence();
    BOOST_TEST(!l.a.release(std::move(held)));
    l.grants(6);
}

BOOST_AUTO_TEST_CASE(Q6_fences_rise_while_members_are_emptied_in_turn)
{
    lab l(5);
    for (std::size_t round = 0; round < 5; ++round) {
        l.grants(3);
        if (round % 2 == 0)
            l.servers[round].connect().command({"FLUSHALL"});
        else
            l.servers[round].restart_empty();
        l.grants(6);
        wait_until_member(l.servers, round);
        l.grants(3);
    }
}

BOOST_AUTO_TEST_CASE(fences_rise_when_two_of_five_members_lose_their_data)
{
    lab l(5, 4);
    l.grants(4);
    l.servers[1].connect().command({"FLUSHALL"});
    l.servers[4].connect().command({"FLUSHALL"});
    l.grants(6); // waiters get the lock when the two servers are members again
    wait_until_member(l.servers, 1);
    wait_until_member(l.servers, 4);
    l.grants(4);
}

BOOST_AUTO_TEST_CASE(too_few_members_are_an_error_until_the_record_is_deleted)
{
    lab l(3);
    for (const std::size_t each : {0u, 1u})
        l.servers[each].connect().command({"FLUSHALL"});
    wait_until([&] { return refused_by(l.a, short_lease) == errc::no_quorum; });
    wait_until([&] { return refused_by(l.b, short_lease) == errc::no_quorum; });
    for (int i = 0; i < 20; ++i)
        BOOST_TEST((refused_by(l.b, short_lease) == errc::no_quorum));
    l.servers.command({"DEL", "leasehold:quorum"});
    wait_until([&] { return !refused_by(l.a, short_lease); });
}

BOOST_AUTO_TEST_CASE(first_start_needs_all_members)
{
    quorum_deployment servers(3);
    servers[2].kill();
    client_thread a(settings_of(servers));
    BOOST_TEST((refused_by(a, short_lease) == errc::no_quorum));
    servers[2].start();
    lock_options patient = leases_of(short_lease);
    acquire_and_release(a, 0, patient);
    // From here on, a majority is enough.
    servers[0].kill();
    acquire_and_release(a, 0, patient);
}

BOOST_AUTO_TEST_CASE(fences_rise_after_all_members_restart_at_once)
{
    quorum_deployment servers(3, {"--appendonly", "yes"});
    client_thread a(settings_of(servers));
    client_thread b(settings_of(servers));
    std::uint64_t fence = acquire_and_release(a, 0, leases_of(short_lease));
    for (std::size_t i = 0; i < servers.size(); ++i)
        servers[i].kill();
    for (std::size_t i = 0; i < servers.size(); ++i)
        servers[i].start();
    fence = acquire_and_release(b, fence, leases_of(short_lease));
    acquire_and_release(a, fence, leases_of(short_lease));
}

BOOST_AUTO_TEST_CASE(Q4_release_reaches_unresponsive_members_later)
{
    lab l(3);
    lease held = take(l.a);
    wait_until([&] { return l.servers.count(stock) == 3; });
    l.servers[1].pause();
    BOOST_TEST(!l.a.release(std::move(held)));
    l.servers[1].resume();
    // The lease time is a minute.
    wait_until([&] { return l.servers.count(stock) == 0; });
}

BOOST_AUTO_TEST_CASE(Q4_F9_failed_acquire_leaves_no_lock_at_any_member)
{
    lab l(5);
    for (const std::size_t each : {0u, 2u, 4u})
        l.servers[each].pause();
    BOOST_TEST(bool(refused_by(l.a)));
    for (const std::size_t each : {0u, 2u, 4u})
        l.servers[each].resume();
    wait_until([&] { return l.servers.count(stock) == 0; });
    // No late request takes effect.
    l.grants(4);
    wait_until([&] { return l.servers.count(stock) == 0; });
}

BOOST_AUTO_TEST_CASE(locks_exclude_those_of_other_redlock_libraries)
{
    lab l(3);
    for (const std::size_t each : {0u, 1u})
        l.servers[each].connect().done({"SET", stock, "another", "PX", "60000"});
    BOOST_TEST((refused_by(l.a) == errc::held));
    l.servers[0].connect().done({"DEL", stock});
    lease held = take(l.a);
    // Two of three members reject other libraries, which need a majority.
    int refusals = 0;
    for (std::size_t i = 0; i < l.servers.size(); ++i) {
        auto store = l.servers[i].connect();
        refusals += store.maybe_string({"SET", stock, "other", "NX", "PX", "60000"}) ? 0 : 1;
    }
    BOOST_TEST(refusals >= 2);
    BOOST_TEST(!l.a.release(std::move(held)));
}

BOOST_AUTO_TEST_CASE(release_wakes_the_waiter)
{
    lab l(5);
    lease held = take(l.a);
    lock_options patient = long_leases();
    patient.backoff_floor = 20s; // only the release can wake the waiter in time
    patient.backoff_ceiling = 20s;
    for (int i = 0; i < 10; ++i) {
        client_thread& from = i % 2 == 0 ? l.a : l.b;
        client_thread& to = i % 2 == 0 ? l.b : l.a;
        auto waiting = start_waiting(to, patient);
        held = hand_off(from, std::move(held), waiting, 15s);
    }
    BOOST_TEST(!l.a.release(std::move(held)));
}

BOOST_AUTO_TEST_CASE(reentrant_acquisition_holds_the_lock_at_a_quorum)
{
    lab l(5);
    lease first = take(l.a);
    taken second = get(l.b.start_reenter(stock, long_leases(), first.share_owner()));
    BOOST_TEST_REQUIRE(!second.code, second.code.message());
    BOOST_TEST(second.held.fence() == first.fence());
    BOOST_TEST(!l.a.release(std::move(first)));
    l.servers[0].pause();
    BOOST_TEST((refused_by(l.a) == errc::held));
    l.servers[0].resume();
    BOOST_TEST(!l.b.release(std::move(second.held)));
    wait_until([&] { return l.servers.count(stock) == 0; });
}

// With the documented rights.
BOOST_AUTO_TEST_CASE(documented_rights_are_sufficient_at_each_member)
{
    const auto command = documented_rights("At each member of a `redlock://`");
    quorum_deployment servers(3);
    servers.command(command);
    redis_config settings = settings_of(servers);
    settings.user = command.at(2);
    settings.password = "secret";
    client_thread a(settings);
    client_thread b(settings);
    const std::string name = "orders:1";
    lease held = take(a, leases_of(short_lease), name);
    a.seen().wait_for(kind::renewed, 3);
    taken again = get(b.start_reenter(name, leases_of(short_lease), held.share_owner()));
    BOOST_TEST_REQUIRE(!again.code, again.code.message());
    BOOST_TEST(!b.release(std::move(again.held)));
    auto waiting = b.start_lock(name, leases_of(short_lease));
    b.seen().wait_for(kind::waiting);
    BOOST_TEST(!a.release(std::move(held)));
    taken next = get(waiting);
    BOOST_TEST_REQUIRE(!next.code, next.code.message());
    BOOST_TEST(!b.release(std::move(next.held)));
    // A blank server becomes a member again.
    servers[0].connect().command({"DEL", "leasehold:quorum"});
    BOOST_TEST(!b.release(take(b, leases_of(short_lease), name)));
    wait_until_member(servers, 0);
    for (std::size_t i = 0; i < servers.size(); ++i) {
        resp_client there = servers[i].connect();
        BOOST_TEST(refused_by(there) == "");
    }
}

BOOST_AUTO_TEST_CASE(most_acquires_take_one_round_trip)
{
    lab l(5);
    const auto asked = [&] {
        std::int64_t calls = 0;
        for (std::size_t i = 0; i < l.servers.size(); ++i) {
            const std::string text = l.servers[i].connect().string({"INFO", "commandstats"});
            const std::string name = "cmdstat_evalsha:calls=";
            calls += std::stoll(text.substr(text.find(name) + name.size()));
        }
        return calls;
    };
    constexpr int cycles = 200;
    const std::int64_t before = asked();
    l.grants(cycles);
    const std::int64_t calls = asked() - before;
    // An acquire and a release at each member, and a second round for some.
    const double second = double(calls) / 5 / cycles - 2;
    BOOST_TEST_MESSAGE(cycles << " acquires by two clients in turn: "
                              << 100 * (1 - std::min(second, 1.0)) << " % in one round trip, "
                              << double(calls) / cycles << " commands each with its release");
    BOOST_TEST(second < 0.5);
}
