// The Redis store over simulated connections, with a server that rejects requests or revokes a
// right.
#include <leasehold/client.hpp>
#include <leasehold/lease.hpp>
#include <leasehold/mutex.hpp>
#include <leasehold/testing/world.hpp>

#include <boost/asio/detached.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;
namespace testing = leasehold::testing;
using leasehold::clock;
using leasehold::error_code;
using namespace std::chrono_literals;
using trouble = testing::server::trouble;

namespace {

struct party
{
    party(testing::host& on, testing::server& server, const testing::connecting& how)
        : host(on), locks(on.make_client(server, how))
    {
        locks.async_run(asio::detached);
    }

    void lock()
    {
        leasehold::mutex(locks, "name", {.lease_time = 2s})
            .async_lock([this](error_code failed, leasehold::lease got) {
                code = failed;
                held = std::move(got);
            });
    }

    testing::host& host;
    leasehold::client locks;
    leasehold::lease held;
    std::optional<error_code> code;
};

struct scene
{
    party& add(const testing::connecting& how = {})
    {
        parties.push_back(std::make_unique<party>(world.make_host(), server, how));
        return *parties.back();
    }

    bool has_lock(const party& client, clock::duration limit)
    {
        return world.run_until([&] { return client.held.valid(); }, limit);
    }

    testing::world world{11};
    testing::server& server = world.make_server();
    std::vector<std::unique_ptr<party>> parties;
};

} // namespace

BOOST_AUTO_TEST_SUITE(server_faults)

BOOST_AUTO_TEST_CASE(loading_or_busy_server_is_tried_again)
{
    for (const bool shared : {false, true})
        for (const trouble why : {trouble::busy, trouble::loading}) {
            scene s;
            s.server.refuse(3s, why);
            party& a = s.add({.shared = shared});
            a.lock();
            s.world.run_for(2900ms);
            BOOST_TEST(a.locks.stats().connects == 0u);
            BOOST_TEST(s.has_lock(a, 3s));
        }
}

BOOST_AUTO_TEST_CASE(server_that_cannot_write_is_tried_until_it_can)
{
    for (const trouble why :
         {trouble::out_of_memory, trouble::cannot_save, trouble::cluster_down}) {
        scene s;
        party& a = s.add();
        s.world.run_for(1s);
        s.server.refuse(2s, why);
        a.lock();
        s.world.run_for(1900ms);
        BOOST_TEST(!a.held.valid());
        BOOST_TEST(s.server.locks() == 0u);
        BOOST_TEST(s.has_lock(a, 3s));
    }
}

BOOST_AUTO_TEST_CASE(client_of_a_replica_reconnects_to_the_master)
{
    for (const bool shared : {false, true}) {
        scene s;
        party& a = s.add({.shared = shared});
        s.world.run_for(1s);
        s.server.refuse(4s, trouble::read_only);
        a.lock();
        // An application's connection stays at its server.
        BOOST_TEST(s.has_lock(a, 1s) == !shared);
        BOOST_TEST(s.has_lock(a, 5s));
    }
}

// The waiter also gets wake-ups there: its subscription at the replica uses another connection,
// which remains open.
BOOST_AUTO_TEST_CASE(waiter_is_notified_by_the_next_master)
{
    scene s;
    testing::connecting how;
    how.limits.layout = leasehold::redis_config::key_layout::native;
    party& a = s.add(how);
    party& b = s.add(how);
    a.lock();
    BOOST_TEST_REQUIRE(s.has_lock(a, 1s));
    b.lock();
    s.world.run_for(1s);
    s.server.refuse(20s, trouble::read_only);
    s.world.run_for(5s);
    for (int i = 0; i < 3; ++i) {
        party& holder = a.held.valid() ? a : b;
        party& other = a.held.valid() ? b : a;
        BOOST_TEST_REQUIRE(holder.held.valid());
        holder.held = leasehold::lease();
        BOOST_TEST(s.has_lock(other, 20ms));
        holder.lock();
        s.world.run_for(200ms);
    }
}

BOOST_AUTO_TEST_CASE(server_that_flushes_scripts_serves_locks)
{
    scene s;
    party& a = s.add();
    s.world.run_for(1s);
    s.server.flush_scripts(5s);
    std::vector<leasehold::lease> held(3);
    for (std::size_t i = 0; i < held.size(); ++i)
        leasehold::mutex(a.locks, "name-" + std::to_string(i))
            .async_lock([&held, i](error_code, leasehold::lease got) { held[i] = std::move(got); });
    s.world.run_for(20ms);
    const auto is_valid = [](const leasehold::lease& each) { return each.valid(); };
    BOOST_TEST(std::all_of(held.begin(), held.end(), is_valid));
    std::size_t released = 0;
    for (leasehold::lease& each : held)
        each.async_release([&released](error_code failed) { released += failed ? 0 : 1; });
    s.world.run_for(20ms);
    BOOST_TEST(released == held.size());
    BOOST_TEST(s.server.locks() == 0u);
}

BOOST_AUTO_TEST_CASE(scripts_are_sent_as_text_without_script_load)
{
    scene s;
    s.server.forbid("SCRIPT");
    party& a = s.add();
    a.lock();
    BOOST_TEST(s.has_lock(a, 1s));
    s.server.flush_scripts();
    s.world.run_for(3s);
    BOOST_TEST(a.held.valid()); // renewed
}

BOOST_AUTO_TEST_CASE(restored_right_ends_the_rejection)
{
    scene s;
    party& a = s.add();
    a.lock();
    BOOST_REQUIRE(s.has_lock(a, 1s));
    a.held = {};
    s.server.forbid("SET");
    a.lock();
    BOOST_TEST(!s.has_lock(a, 3s));
    BOOST_TEST((*a.code == leasehold::errc::permission_denied));
    s.server.permit("SET");
    a.lock();
    BOOST_TEST(s.has_lock(a, 1s));
}

BOOST_AUTO_TEST_CASE(client_of_one_server_rejects_a_node_of_a_cluster)
{
    scene s;
    s.server.cluster_mode(true);
    party& a = s.add();
    a.lock();
    BOOST_TEST(!s.has_lock(a, 3s));
    BOOST_TEST((*a.code == leasehold::errc::not_supported));
    s.server.cluster_mode(false);
    party& b = s.add();
    b.lock();
    BOOST_TEST(s.has_lock(b, 1s));
}

BOOST_AUTO_TEST_CASE(waiter_without_a_subscription_polls)
{
    scene s;
    s.server.forbid("SUBSCRIBE");
    party& a = s.add();
    party& b = s.add();
    a.lock();
    BOOST_REQUIRE(s.has_lock(a, 1s));
    b.lock();
    s.world.run_for(2s);
    BOOST_TEST(s.server.watches() == 0u);
    a.held = {};
    BOOST_TEST(s.has_lock(b, 3s));
}

BOOST_AUTO_TEST_CASE(release_without_publish_succeeds)
{
    scene s;
    s.server.forbid("PUBLISH");
    party& a = s.add();
    a.lock();
    BOOST_REQUIRE(s.has_lock(a, 1s));
    std::optional<error_code> released;
    a.held.async_release([&](error_code failed) { released = failed; });
    s.world.run_for(1s);
    BOOST_REQUIRE(released.has_value());
    BOOST_TEST(!*released);
    BOOST_TEST(s.server.locks() == 0u);
}

BOOST_AUTO_TEST_CASE(subscriptions_are_restored_after_a_restart)
{
    scene s;
    testing::connecting how;
    how.limits.layout =
        leasehold::redis_config::key_layout::redisson; // with a channel for each name
    party& a = s.add(how);
    const std::vector<std::string> names = {"one", "two", "three"};
    // Clients that publish their releases there and do not use the queue.
    std::vector<std::string> external;
    std::size_t taken = 0;
    for (const std::string& each : names) {
        external.push_back(s.server.acquire_externally(each, 60s));
        leasehold::mutex(a.locks, each).async_lock([&taken](error_code failed, leasehold::lease) {
            taken += failed ? 0 : 1;
        });
    }
    s.world.run_for(1s);
    const std::size_t all = names.size() + 1; // one of them for grants
    BOOST_TEST(s.server.watches() == all);
    s.server.restart(testing::server::data::kept, 100ms);
    s.world.run_for(1s);
    BOOST_TEST(s.server.watches() == all);
    for (std::size_t i = 0; i < names.size(); ++i)
        BOOST_TEST(s.server.release_externally(names[i], external[i]));
    s.world.run_for(50ms);
    BOOST_TEST(taken == names.size());
}

BOOST_AUTO_TEST_CASE(clients_reconnect_to_a_restarted_server_at_different_times)
{
    scene s;
    std::vector<clock::duration> back;
    clock::time_point up{};
    for (int i = 0; i < 40; ++i)
        s.add().host.on_step([&](testing::step done) {
            if (done == testing::step::connected && up != clock::time_point())
                back.push_back(s.world.now() - up);
        });
    s.world.run_for(1s);
    up = s.world.now();
    s.server.restart(testing::server::data::kept, 1ms);
    s.world.run_for(2s);
    BOOST_REQUIRE(back.size() == 40u);
    std::sort(back.begin(), back.end());
    BOOST_TEST((back.front() >= 120ms));
    BOOST_TEST((back.back() <= 390ms));
    for (std::size_t i = 15; i < back.size(); ++i)
        BOOST_TEST((back[i] - back[i - 15] > 10ms));
}

BOOST_AUTO_TEST_CASE(application_connection_serves_locks)
{
    for (const bool wakeups : {true, false}) {
        scene s;
        party& a = s.add({.shared = true, .wakeups = wakeups});
        party& b = s.add({.shared = true, .wakeups = wakeups});
        a.lock();
        BOOST_REQUIRE(s.has_lock(a, 1s));
        b.lock();
        s.world.run_for(3s);
        BOOST_TEST(a.held.valid());
        BOOST_TEST(s.server.watches() == (wakeups ? 1u : 0u));
        a.host.reset_connections();
        s.world.run_for(4s);
        BOOST_TEST(a.held.valid());
        a.held = {};
        BOOST_TEST(s.has_lock(b, wakeups ? clock::duration(20ms) : clock::duration(3s)));
    }
}

BOOST_AUTO_TEST_SUITE_END()
