// Locks at a master that Sentinels watch, when the master is lost.
#include <boost/test/unit_test.hpp>

#include "redis/lab.hpp"
#include "support/fault_proxy.hpp"
#include "support/sentinel_deployment.hpp"

#include <optional>
#include <thread>

namespace {

using namespace leasehold;
using namespace leasehold::test;

/// The replacement of a server may take seconds. Some leases outlive that and others do not, on
/// purpose.
lock_options outliving()
{
    lock_options options = long_leases();
    options.wait_limit = 60s;
    return options;
}

/// Waits until all writes are on the replicas.
void replicate(sentinel_deployment& deployment)
{
    resp_client store = deployment.master().connect();
    store.done({"SET", "marker", "1"});
    BOOST_TEST_REQUIRE(store.integer({"WAIT", "2", "20000"}) == 2);
}

/// The holder renews at the current master.
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
            return false; // disconnected with the others
        }
    };
    wait_until(demoted, 60s);
}

/// One lease that outlives a failover and one that does not, each with a waiter.
struct held_and_waited_for
{
    held_and_waited_for()
    {
        other.seen().wait_for(kind::waiting, 2);
        replicate(deployment);
    }

    /// The master is lost, or does not answer.
    void comes_through()
    {
        deployment.wait_for_new_master();
        // Without a server for longer than its lease, the holder got the report. The end of its key
        // depends on the next request.
        taken next = get(brief_waiting, 60s);
        BOOST_TEST_REQUIRE(!next.code, next.code.message());
        BOOST_TEST(!brief.valid());
        BOOST_TEST((get(lost) == condition::lease_ended));
        BOOST_TEST(next.held.fence() > brief_fence);

        // The other lease survives, and the new master has its lock.
        goes_on(holder, held);
        BOOST_TEST(held.fence() == fence);
        BOOST_TEST((waiting.wait_for(0s) != std::future_status::ready));
        resp_client store = deployment.master().connect();
        BOOST_TEST(holder_of(store, stock) == held.share_owner().id());
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

BOOST_AUTO_TEST_CASE(lock_survives_a_killed_master)
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

// The writes of the old master during its isolation are lost. A second grant is then possible, and
// the fence distinguishes the two.
BOOST_AUTO_TEST_CASE(row_09_fence_exceeds_a_grant_lost_in_a_failover)
{
    sentinel_deployment deployment;
    client_thread holder(at(deployment.url()));
    std::uint64_t fence = acquire_and_release(holder, 0, outliving());
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
    // At the first contact with the new master, the holder gets the report.
    old.kill();
    BOOST_TEST((get(lost, 60s) == errc::lost));
    BOOST_TEST(!held.valid());
    goes_on(other, next);
    BOOST_TEST((holder.release(std::move(held)) == errc::lost));
    BOOST_TEST(next.valid());
}

// The connection remains open and answers READONLY from now on. That does not end a lease, but the
// client looks for the master.
BOOST_AUTO_TEST_CASE(row_10_lock_survives_a_planned_demotion)
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
    // The Sentinels choose the new master, and are notified afterwards. For a while, there is no
    // master at all.
    const auto next_index = (deployment.master_index() + 1) % sentinel_deployment::server_count;
    on_old.done({"REPLICAOF", "127.0.0.1", std::to_string(deployment.server(next_index).port())});
    BOOST_TEST(on_old.command({"SET", "k", "v"}).text.starts_with("READONLY"));
    holder.seen().wait_for(kind::renewal_late, 1, 60s);
    BOOST_TEST(held.valid());
    // Sentinel may make it the master again, which it still is for the Sentinels, or promote
    // another one.
    goes_on(holder, held);
    BOOST_TEST(held.fence() == fence);
    BOOST_TEST((waiting.wait_for(0s) != std::future_status::ready));
    BOOST_TEST(hand_off(holder, std::move(held), waiting, 60s).valid());
}

BOOST_AUTO_TEST_CASE(row_10_lock_survives_a_planned_switch)
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
    BOOST_TEST(holder_of(store, stock) == held.share_owner().id());
    lease next = hand_off(holder, std::move(held), waiting, 60s);
    BOOST_TEST(exists(store));
    BOOST_TEST(!other.release(std::move(next)));
    BOOST_TEST(!exists(store));
}

// The old master answers no request and ends no connection. When it continues, it is a replica.
BOOST_AUTO_TEST_CASE(lock_survives_a_stopped_master)
{
    held_and_waited_for s;
    redis_server& old = s.deployment.master();
    s.deployment.pause_master();
    s.comes_through();

    // Outstanding requests to the old master are executed there now, without an effect on the new
    // one.
    old.resume();
    becomes_a_replica(old);
    goes_on(s.holder, s.held);
    BOOST_TEST((s.waiting.wait_for(0s) != std::future_status::ready));
    resp_client store = s.deployment.master().connect();
    BOOST_TEST(holder_of(store, stock) == s.held.share_owner().id());
    BOOST_TEST(hand_off(s.holder, std::move(s.held), s.waiting, 60s).valid());
}

// The last Sentinel is enough to find the master. Without any, existing connections continue.
BOOST_AUTO_TEST_CASE(lock_survives_the_loss_of_all_sentinels)
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

BOOST_AUTO_TEST_CASE(master_is_reached_at_the_address_of_the_address_map)
{
    sentinel_deployment deployment;
    const fault_proxy gateway(deployment.master());
    redis_config settings = at(deployment.url());
    settings.address_map = {
        {{"127.0.0.1", deployment.master().port()}, {"127.0.0.1", gateway.port()}}};
    client_thread holder(settings);
    const lease held = take(holder, outliving());
    BOOST_TEST(held.valid());
    BOOST_TEST(gateway.count().accepted > 0u);
}

// Stopped Sentinels accept connections and do not answer. The client does not wait for their whole
// timeout, neither at its start nor when it reconnects.
BOOST_AUTO_TEST_CASE(stopped_sentinels_hardly_delay_a_connection)
{
    sentinel_deployment deployment;
    deployment.pause_sentinel(0);
    deployment.pause_sentinel(1);
    redis_config settings = at(deployment.url());
    settings.timeout = 10s;
    const auto seconds_for = [](auto action) {
        const auto begin = std::chrono::steady_clock::now();
        action();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    client_thread user(settings);
    lease held;
    BOOST_TEST(seconds_for([&] { held = take(user); }) < 5);
    user.seen().clear();
    deployment.master().connect().command({"CLIENT", "KILL", "TYPE", "normal"});
    BOOST_TEST(seconds_for([&] { user.seen().wait_for(kind::connected); }) < 5);
    user.seen().wait_for(kind::renewed);
    BOOST_TEST(held.valid());
    BOOST_TEST(!user.release(std::move(held)));
    deployment.resume_sentinel(0);
    deployment.resume_sentinel(1);
}
