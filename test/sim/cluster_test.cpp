// The effect of a simulated cluster on clients with locks in it.
#include <leasehold/client.hpp>
#include <leasehold/lease.hpp>
#include <leasehold/mutex.hpp>
#include <leasehold/testing/world.hpp>

#include <boost/asio/detached.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace asio = boost::asio;
namespace testing = leasehold::testing;
using leasehold::error_code;
using namespace std::chrono_literals;

namespace {

struct cluster_party
{
    cluster_party(testing::world& world, testing::cluster& where)
        : locks(world.make_host().make_client(where, {}))
    {
        locks.async_run(asio::detached);
    }

    void lock(const std::string& name, std::uint32_t replicas = 0)
    {
        leasehold::mutex(locks, name, {.lease_time = 3s, .replica_acks = replicas})
            .async_lock([this](error_code failed, leasehold::lease got) {
                code = failed;
                held = std::move(got);
                if (!failed)
                    held.async_wait_lost([this](error_code reason) { lost = reason; });
            });
    }

    leasehold::client locks;
    leasehold::lease held;
    std::optional<error_code> code;
    std::optional<error_code> lost;
};

struct cluster_scene
{
    /// A name whose slot belongs to that shard.
    std::string name_in(std::size_t shard) const
    {
        for (int i = 0;; ++i)
            if (const std::string name = "name-" + std::to_string(i); where.shard_of(name) == shard)
                return name;
    }

    testing::world world{17};
    testing::cluster& where = world.make_cluster();
    cluster_party a{world, where};
    cluster_party b{world, where};
};

} // namespace

BOOST_AUTO_TEST_SUITE(simulated_cluster)

BOOST_AUTO_TEST_CASE(lock_is_stored_at_the_node_of_its_slot)
{
    cluster_scene s;
    for (std::size_t shard = 0; shard < 3; ++shard) {
        const std::string name = s.name_in(shard);
        s.a.lock(name);
        s.world.run_for(1s);
        BOOST_TEST(s.a.held.valid());
        BOOST_TEST(!s.where.master(shard).holder(name).empty());
    }
}

BOOST_AUTO_TEST_CASE(lease_survives_a_moving_slot)
{
    cluster_scene s;
    const std::string name = s.name_in(0);
    s.a.lock(name);
    s.world.run_for(1s);
    const std::string owner = s.where.master(0).holder(name);
    BOOST_TEST(s.where.move_slot_of(name, 1, 800ms, 20s));
    s.b.lock(name);
    s.world.run_for(20s);
    BOOST_TEST(s.a.held.valid());
    BOOST_TEST(s.where.master(1).holder(name) == owner);
    BOOST_TEST(s.where.master(0).locks() == 0u);
    s.a.held.async_release(asio::detached);
    BOOST_TEST(s.world.run_until([&] { return s.b.held.valid(); }, 100ms));
}

BOOST_AUTO_TEST_CASE(promoted_replica_has_no_lock_of_a_slot_that_moved_away)
{
    cluster_scene s;
    const std::string name = s.name_in(0);
    s.a.lock(name);
    s.world.run_for(1s);
    s.where.master(0).flush_all();
    BOOST_TEST(s.where.move_slot_of(name, 1, 1ms, 1s));
    s.world.run_for(100ms);
    BOOST_TEST(s.where.fail_over(0, 1s, 300ms, 5s)); // the replica has not seen the flush
    s.world.run_for(500ms);
    BOOST_TEST(s.where.master(0).locks() == 0u);
}

// The node rejects an UNSUBSCRIBE without a subscription, which Boost.Redis writes before commands
// that it does not know.
BOOST_AUTO_TEST_CASE(valkey_8_notifies_waiters)
{
    cluster_scene s;
    for (std::size_t shard = 0; shard < 3; ++shard)
        s.where.master(shard).imitate(testing::server::product::valkey_8);
    const std::string name = s.name_in(0);
    s.a.lock(name);
    s.world.run_for(1s);
    cluster_party* holder = &s.a;
    cluster_party* next = &s.b;
    for (int i = 0; i < 10; ++i, std::swap(holder, next)) {
        next->lock(name);
        s.world.run_for(1s);
        holder->held.async_release(asio::detached);
        BOOST_TEST(s.world.run_until([&] { return next->held.valid(); }, 20ms));
    }
}

BOOST_AUTO_TEST_CASE(lock_with_replicas_survives_a_moving_slot)
{
    cluster_scene s;
    const std::string name = s.name_in(0);
    s.a.lock(name, 1);
    s.world.run_for(1s);
    BOOST_TEST(s.where.move_slot_of(name, 1, 5s, 20s));
    s.world.run_for(30s);
    BOOST_TEST(s.a.held.valid());
    BOOST_TEST(!s.a.lost.has_value());
    BOOST_TEST(!s.where.master(1).holder(name).empty());
}

BOOST_AUTO_TEST_CASE(replicated_lock_survives_a_failover)
{
    cluster_scene s;
    const std::string name = s.name_in(0);
    s.a.lock(name);
    s.world.run_for(1s);
    BOOST_TEST(s.where.fail_over(0, 0ms, 500ms, 5s));
    s.world.run_for(20s);
    BOOST_TEST(s.a.held.valid());
    BOOST_TEST(!s.a.lost.has_value());
}

BOOST_AUTO_TEST_CASE(unreplicated_lock_is_reported_lost_after_a_failover)
{
    cluster_scene s;
    const std::string name = s.name_in(0);
    s.a.lock(name);
    s.world.run_for(500ms);
    const auto deadline = s.a.held.deadline();
    const auto fence = s.a.held.fence();
    BOOST_TEST(s.where.fail_over(0, 1s, 300ms, 5s));
    s.b.lock(name);
    BOOST_TEST(s.world.run_until([&] { return s.a.lost.has_value(); }, 3s));
    BOOST_TEST(!s.a.held.valid());
    BOOST_TEST((s.a.held.deadline() <= deadline));
    BOOST_TEST(s.world.run_until([&] { return s.b.held.valid(); }, 5s));
    BOOST_TEST(s.b.held.fence() > fence);
}

BOOST_AUTO_TEST_CASE(dead_machine_is_detected_and_its_replica_serves)
{
    cluster_scene s;
    const std::string name = s.name_in(0);
    s.a.lock(name);
    s.world.run_for(1s);
    BOOST_TEST(s.where.switch_off(0, 0ms, 500ms, 60s));
    s.world.run_for(1s);
    BOOST_TEST(s.a.locks.stats().disconnects == 0u); // without a notification
    BOOST_TEST(s.world.run_until([&] { return s.a.locks.stats().disconnects != 0; }, 10s));
    s.b.lock(name);
    BOOST_TEST(s.world.run_until([&] { return s.b.held.valid(); }, 20s));
}

BOOST_AUTO_TEST_CASE(lost_shard_does_not_affect_the_others)
{
    cluster_scene s;
    s.a.lock(s.name_in(0));
    s.b.lock(s.name_in(1));
    s.world.run_for(1s);
    BOOST_TEST(s.where.shut(0, 20s));
    s.world.run_for(10s);
    BOOST_TEST(!s.a.held.valid());
    BOOST_TEST(s.b.held.valid());
    BOOST_TEST(s.b.locks.stats().renewals_failed == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
