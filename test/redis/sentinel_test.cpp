// A master that Sentinels watch, and what becomes of locks when it goes.
#include <boost/test/unit_test.hpp>

#include "redis/lab.hpp"
#include "support/sentinel_deployment.hpp"

#include <optional>
#include <thread>

namespace {

using namespace leasehold;
using namespace leasehold::test;

/// A server may need seconds to be replaced: leases that outlive that, and others that do not, are
/// wanted on purpose.
lock_options outliving()
{
    lock_options options = long_leases();
    options.wait_limit = 60s;
    return options;
}

/// All that has been written is on the replicas.
void replicate(sentinel_deployment& deployment)
{
    resp_client store = deployment.master().connect();
    store.done({"SET", "marker", "1"});
    BOOST_TEST_REQUIRE(store.integer({"WAIT", "2", "20000"}) == 2);
}

/// The holder renews where the master is now.
void goes_on(client_thread& of, const lease& held)
{
    of.seen().clear();
    of.seen().wait_for(kind::renewed, 2, 60s);
    BOOST_TEST(held.valid());
}

void becomes_a_replica(redis_server& old)
{
    const auto demoted = [&] {
        try {
            return old.connect().command({"ROLE"}).items.at(0).text == "slave";
        }
        catch (const resp_disconnected&) {
            return false; // sent away with the others
        }
    };
    wait_until(demoted, 60s);
}

/// One lease that outlives a failover and one that does not, each of them waited for.
struct held_and_waited_for
{
    held_and_waited_for()
    {
        other.seen().wait_for(kind::waiting, 2);
        replicate(deployment);
    }

    /// The master has gone, or does not answer.
    void comes_through()
    {
        deployment.wait_for_new_master();
        // Without a server for longer than its lease: it got the report; its end depends on when it
        // is requested again.
        taken next = get(brief_waiting, 60s);
        BOOST_TEST_REQUIRE(!next.code, next.code.message());
        BOOST_TEST(!brief.valid());
        BOOST_TEST((get(lost) == condition::lease_ended));
        BOOST_TEST(next.held.fence() > brief_fence);

        // The other one came through, with the lock that the new master knows.
        goes_on(holder, held);
        BOOST_TEST(held.fence() == fence);
        BOOST_TEST((waiting.wait_for(0s) != std::future_status::ready));
        resp_client store = deployment.master().connect();
        BOOST_TEST(holder_of(store, stock) == held.owner().id());
    }

    sentinel_deployment deployment;
    client_thread holder{at(deployment.url())};
    client_thread other{at(deployment.url())};
    lease held = take(holder, outliving());
    lease brief = take(holder, leases_of(500ms), "brief");
    std::future<taken> waiting = start_waiting(other, outliving());
    std::future<taken> brief_waiting = other.start_lock("brief", outliving());
    std::future<error_code> lost = client_thread::start_wait_lost(brief);
    const std::uint64_t fence = held.fence();
    const std::uint64_t brief_fence = brief.fence();
};

} // namespace

BOOST_AUTO_TEST_CASE(master_killed)
{
    held_and_waited_for s;
    s.deployment.kill_master();
    s.comes_through();
    resp_client store = s.deployment.master().connect();
    BOOST_TEST(!s.holder.release(std::move(s.held)));
    taken next = get(s.waiting, 60s);
    BOOST_TEST(!next.code);
    BOOST_TEST(next.held.fence() > s.fence);
    BOOST_TEST(!s.other.release(std::move(next.held)));
    BOOST_TEST(!exists(store));
}

// The writes that the old master took while it was cut off are lost: a second grant is possible
// then, and the fence is what tells them apart.
BOOST_AUTO_TEST_CASE(row_09_failover_with_lost_writes)
{
    sentinel_deployment deployment;
    client_thread holder(at(deployment.url()));
    std::uint64_t fence = next_gets_in(holder, 0, outliving());
    replicate(deployment);
    deployment.isolate_master();
    lease held = take(holder, outliving());
    BOOST_TEST(held.fence() > fence);
    fence = held.fence();
    auto lost = client_thread::start_wait_lost(held);
    redis_server& old = deployment.master();
    deployment.wait_for_new_master();

    client_thread other(at(deployment.url()));
    lease next = take(other, outliving());
    BOOST_TEST(next.fence() > fence);
    // At the first contact with the new master it gets the report.
    old.kill();
    BOOST_TEST((get(lost, 60s) == errc::lost));
    BOOST_TEST(!held.valid());
    goes_on(other, next);
    BOOST_TEST((holder.release(std::move(held)) == errc::lost));
    BOOST_TEST(next.valid());
}

// The connection stays open and answers READONLY from now on: that is no failure of a lock, but a
// reason to look for the master.
BOOST_AUTO_TEST_CASE(row_10_planned_demotion)
{
    sentinel_deployment deployment;
    client_thread holder(at(deployment.url()));
    client_thread other(at(deployment.url()));
    lease held = take(holder, outliving());
    auto waiting = start_waiting(other, outliving());
    replicate(deployment);
    const auto fence = held.fence();

    redis_server& old = deployment.master();
    resp_client on_old = old.connect();
    // The Sentinels choose the new one; they are notified afterwards, so that for a while there is
    // no master at all.
    const auto next_index = (deployment.master_index() + 1) % sentinel_deployment::server_count;
    on_old.done({"REPLICAOF", "127.0.0.1", std::to_string(deployment.server(next_index).port())});
    BOOST_TEST(on_old.command({"SET", "k", "v"}).text.starts_with("READONLY"));
    holder.seen().wait_for(kind::renewal_late, 1, 60s);
    BOOST_TEST(held.valid());
    // Sentinel may turn it back into the master, which it never stopped to be for them, or another
    // one takes over.
    goes_on(holder, held);
    BOOST_TEST(held.fence() == fence);
    BOOST_TEST((waiting.wait_for(0s) != std::future_status::ready));
    BOOST_TEST(hand_over(holder, std::move(held), waiting, 60s).valid());
}

BOOST_AUTO_TEST_CASE(row_10_planned_switch)
{
    sentinel_deployment deployment;
    client_thread holder(at(deployment.url()));
    client_thread other(at(deployment.url()));
    lease held = take(holder, outliving());
    auto waiting = start_waiting(other, outliving());
    replicate(deployment);
    redis_server& old = deployment.master();
    deployment.switch_master();
    // Until then there are two masters, and writes to the old one are lost.
    becomes_a_replica(old);
    goes_on(holder, held);
    resp_client store = deployment.master().connect();
    BOOST_TEST(holder_of(store, stock) == held.owner().id());
    lease next = hand_over(holder, std::move(held), waiting, 60s);
    BOOST_TEST(exists(store));
    BOOST_TEST(!other.release(std::move(next)));
    BOOST_TEST(!exists(store));
}

// It answers no request and ends no connection; when it continues it is a replica.
BOOST_AUTO_TEST_CASE(master_stopped)
{
    held_and_waited_for s;
    redis_server& old = s.deployment.master();
    s.deployment.pause_master();
    s.comes_through();

    // What was on its way to the old one runs there now, and has no effect on the new one.
    old.resume();
    becomes_a_replica(old);
    goes_on(s.holder, s.held);
    BOOST_TEST((s.waiting.wait_for(0s) != std::future_status::ready));
    resp_client store = s.deployment.master().connect();
    BOOST_TEST(holder_of(store, stock) == s.held.owner().id());
    BOOST_TEST(hand_over(s.holder, std::move(s.held), s.waiting, 60s).valid());
}

// The last Sentinel is enough to find the master; with none, connections that are there go on.
BOOST_AUTO_TEST_CASE(sentinels_die_one_after_the_other)
{
    sentinel_deployment deployment;
    client_thread holder(at(deployment.url()));
    lease held = take(holder, outliving());
    deployment.kill_sentinel(0);
    deployment.kill_sentinel(1);
    {
        client_thread other(at(deployment.url()));
        BOOST_TEST(!other.release(take(other, outliving(), "another")));
    }
    holder.seen().clear();
    deployment.master().connect().command({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    holder.seen().wait_for(kind::connected, 1, 60s);
    goes_on(holder, held);

    deployment.kill_sentinel(2);
    goes_on(holder, held);
    client_thread late(at(deployment.url()));
    lock_options briefly = outliving();
    briefly.wait_limit = 500ms;
    BOOST_TEST((late.lock("another", briefly).code == errc::store_unavailable));
    BOOST_TEST(!holder.release(std::move(held)));
}
