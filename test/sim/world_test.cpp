// The guarantees of the simulated world for users that write their own code for it.
#include <leasehold/client.hpp>
#include <leasehold/lease.hpp>
#include <leasehold/mutex.hpp>
#include <leasehold/testing/world.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;
namespace testing = leasehold::testing;
using leasehold::errc;
using leasehold::error_code;
using namespace std::chrono_literals;

namespace {

// A coroutine that locks and unlocks forever.
asio::awaitable<void> work(testing::host& on, leasehold::client& locks, int& rounds)
{
    const leasehold::mutex m(locks, "name", {.lease_time = 2s});
    testing::timer pause(on);
    for (;;) {
        leasehold::lease held = co_await m.async_lock();
        pause.expires_after(100ms);
        co_await pause.async_wait();
        co_await held.async_release();
        ++rounds;
    }
}

struct outcome
{
    std::uint64_t hash;
    std::uint64_t events;
    int rounds;
};

outcome run(std::uint64_t seed)
{
    testing::world world(seed);
    testing::server& server = world.make_server();
    testing::host& a = world.make_host("a");
    testing::host& b = world.make_host("b");
    leasehold::client first = a.make_client(server);
    leasehold::client second = b.make_client(server);
    int rounds = 0;
    first.async_run(asio::detached);
    second.async_run(asio::detached);
    asio::co_spawn(a, work(a, first, rounds), asio::detached);
    asio::co_spawn(b, work(b, second, rounds), asio::detached);
    world.run_for(60s);
    return {world.trace_hash(), world.events(), rounds};
}

/// One host that holds a lock of two seconds.
struct holder
{
    explicit holder(leasehold::lock_options options = {.lease_time = 2s})
        : locks(host.make_client(server))
    {
        locks.async_run(asio::detached);
        leasehold::mutex(locks, "name", options)
            .async_lock([this](error_code failed, leasehold::lease got) {
                BOOST_TEST(!failed);
                held = std::move(got);
                held.async_wait_lost([this](error_code why) { lost = why; });
            });
        BOOST_REQUIRE(world.run_until([this] { return static_cast<bool>(held); }, 1s));
    }

    /// The time until the loss is reported. Empty if it is not reported within `limit`.
    std::optional<leasehold::clock::duration> lost_within(leasehold::clock::duration limit)
    {
        const auto since = world.now();
        if (!world.run_until([this] { return lost.has_value(); }, limit))
            return std::nullopt;
        return world.now() - since;
    }

    testing::world world{7};
    testing::server& server = world.make_server();
    testing::host& host = world.make_host("holder");
    leasehold::client locks;
    leasehold::lease held;
    std::optional<error_code> lost;
};

} // namespace

BOOST_AUTO_TEST_SUITE(world_test)

BOOST_AUTO_TEST_CASE(same_seed_gives_the_same_run)
{
    const outcome first = run(1);
    const outcome again = run(1);
    const outcome other = run(2);
    BOOST_TEST(first.rounds > 200);
    BOOST_TEST(first.hash == again.hash);
    BOOST_TEST(first.events == again.events);
    BOOST_TEST(first.hash != other.hash);
}

BOOST_AUTO_TEST_CASE(time_advances_only_while_the_world_runs)
{
    testing::world world;
    testing::host& fast = world.make_host();
    const auto start = fast.now();
    BOOST_TEST((fast.now() == start));
    fast.drift(100'000); // a tenth
    world.run_for(10s);
    BOOST_TEST((fast.now() - start == 11s));
    BOOST_TEST((world.age() == 10s));

    testing::timer timer(fast);
    std::optional<leasehold::clock::duration> after;
    timer.expires_after(11s);
    timer.async_wait([&](error_code failed) {
        BOOST_TEST(!failed);
        after = world.age();
    });
    world.run_for(20s);
    BOOST_REQUIRE(after.has_value());
    BOOST_TEST((*after == 20s));
}

BOOST_AUTO_TEST_CASE(clock_drift_moves_outstanding_timers)
{
    testing::world world;
    testing::host& host = world.make_host();
    testing::timer timer(host);
    std::optional<leasehold::clock::duration> after;
    timer.expires_after(10s);
    timer.async_wait([&](error_code) { after = world.age(); });
    world.run_for(5s);
    host.drift(1'000'000); // twice as fast
    world.run_for(5s);
    BOOST_REQUIRE(after.has_value());
    BOOST_TEST((*after == 7500ms));
}

BOOST_AUTO_TEST_CASE(timer_is_cancelled_by_slot_cancel_or_destructor)
{
    testing::world world;
    testing::host& host = world.make_host();
    std::vector<error_code> said;
    const auto note = [&](error_code e) { said.push_back(e); };
    asio::cancellation_signal signal;
    {
        testing::timer timer(host);
        timer.expires_after(1s);
        timer.async_wait(asio::bind_cancellation_slot(signal.slot(), note));
        signal.emit(asio::cancellation_type::partial);
        BOOST_TEST(said.empty()); // never within the call
        world.run_for(0s);
        BOOST_TEST(said.size() == 1u);
        timer.async_wait(note);
        timer.cancel();
        world.run_for(0s);
        BOOST_TEST(said.size() == 2u);
        timer.async_wait(note);
    }
    world.run_for(2s);
    BOOST_TEST(said.size() == 3u);
    for (const error_code& each : said)
        BOOST_TEST((each == asio::error::operation_aborted));
}

BOOST_AUTO_TEST_CASE(seed_orders_ready_handlers_except_in_a_strand)
{
    std::vector<std::string> free_orders;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        testing::world world(seed);
        testing::host& host = world.make_host();
        std::string free;
        std::string ordered;
        const auto strand = asio::make_strand(host.get_executor());
        for (const char c : {'a', 'b', 'c', 'd'}) {
            asio::post(host.get_executor(), [&free, c] { free += c; });
            asio::post(strand, [&ordered, c] { ordered += c; });
        }
        world.run_for(0s);
        BOOST_TEST(ordered == "abcd");
        BOOST_TEST(free.size() == 4u);
        if (std::find(free_orders.begin(), free_orders.end(), free) == free_orders.end())
            free_orders.push_back(free);
    }
    BOOST_TEST(free_orders.size() > 3u);
}

BOOST_AUTO_TEST_CASE(lease_without_a_fault_is_kept)
{
    holder h;
    BOOST_TEST(!h.lost_within(60s).has_value());
    BOOST_TEST(h.held.valid());
    BOOST_TEST(h.server.holder("name") != "");
}

BOOST_AUTO_TEST_CASE(process_paused_beyond_its_lease_loses_it)
{
    holder h;
    h.host.pause(5s);
    h.world.run_for(4s);
    BOOST_TEST(h.host.is_paused());
    BOOST_TEST(!h.lost.has_value()); // none of its code runs
    BOOST_TEST(!h.held.valid());     // but a check would show it
    BOOST_TEST(h.lost_within(2s).has_value());
    BOOST_TEST((*h.lost == errc::expired));
}

BOOST_AUTO_TEST_CASE(lease_survives_a_short_pause)
{
    holder h;
    h.host.pause(500ms);
    BOOST_TEST(!h.lost_within(10s).has_value());
}

BOOST_AUTO_TEST_CASE(suspended_machine_detects_the_loss_within_a_second)
{
    holder h;
    h.host.suspend(10s);
    h.world.run_for(10s);
    BOOST_TEST(!h.held.valid());
    BOOST_TEST(h.lost_within(1001ms).has_value());
}

BOOST_AUTO_TEST_CASE(disconnected_holder_loses_its_lease_at_the_deadline)
{
    for (const auto way : {testing::direction::both, testing::direction::to_server,
                           testing::direction::from_server}) {
        holder h;
        h.host.cut_off(way, 10s);
        const auto deadline = h.held.deadline();
        const auto now = h.host.now();
        const auto told = h.lost_within(10s);
        BOOST_REQUIRE(told.has_value());
        BOOST_TEST((*h.lost == errc::expired));
        BOOST_TEST((*told >= deadline - now)); // a renewal that was outstanding may have arrived
        BOOST_TEST((*told <= 2s));
        BOOST_TEST(!h.held.valid());
    }
}

BOOST_AUTO_TEST_CASE(lease_survives_a_short_cut_and_a_reset)
{
    holder h;
    h.host.cut_off(testing::direction::both, 300ms);
    h.world.run_for(2s);
    h.host.reset_connections();
    BOOST_TEST(!h.lost_within(10s).has_value());
    BOOST_TEST(h.locks.stats().disconnects >= 1u);
}

BOOST_AUTO_TEST_CASE(lost_data_is_detected_by_the_next_renewal)
{
    const std::vector<void (*)(testing::server&)> losses = {
        [](testing::server& s) { s.flush_all(); },
        [](testing::server& s) { BOOST_TEST(s.erase("name")); },
        [](testing::server& s) { s.overwrite("name"); },
        [](testing::server& s) { s.seize("name", 1s); },
        [](testing::server& s) { s.restart(testing::server::data::lost, 10ms); },
        [](testing::server& s) { s.fail_over(1s, 10ms); },
        [](testing::server& s) { s.restart(testing::server::data::last_second_lost, 10ms); },
    };
    for (const auto lose : losses) {
        holder h;
        lose(h.server);
        BOOST_TEST(h.lost_within(1s).has_value());
        BOOST_TEST((*h.lost == errc::lost));
    }
}

BOOST_AUTO_TEST_CASE(old_enough_data_survives_a_failover)
{
    holder h;
    h.world.run_for(5s);
    h.server.restart(testing::server::data::last_second_lost, 100ms);
    h.world.run_for(5s);
    h.server.fail_over(1s, 100ms);
    h.world.run_for(5s);
    h.server.restart(testing::server::data::kept, 100ms);
    h.server.flush_scripts();
    BOOST_TEST(!h.lost_within(10s).has_value());
}

BOOST_AUTO_TEST_CASE(lease_survives_a_short_fault_of_the_server)
{
    holder h;
    h.server.stall(500ms);
    h.world.run_for(3s);
    h.server.refuse(500ms);
    h.world.run_for(3s);
    h.server.slow(100ms);
    BOOST_TEST(!h.lost_within(10s).has_value());
}

BOOST_AUTO_TEST_CASE(server_clock_that_jumps_forward_expires_locks)
{
    holder h({.lease_time = 2s, .renew = false});
    BOOST_TEST(h.server.locks() == 1u);
    h.server.step_clock(3s);
    BOOST_TEST(h.server.locks() == 0u);
    BOOST_TEST(h.held.valid()); // the client cannot know
}

BOOST_AUTO_TEST_CASE(wall_clock_does_not_affect_leases)
{
    holder h;
    const auto date = h.host.wall_clock();
    h.host.step_wall_clock(std::chrono::hours(24 * 3650));
    BOOST_TEST((h.host.wall_clock() - date == std::chrono::hours(24 * 3650)));
    BOOST_TEST(!h.lost_within(10s).has_value());
}

BOOST_AUTO_TEST_CASE(crash_destroys_handlers_and_leaves_the_lock_to_its_ttl)
{
    holder h;
    auto token = std::make_shared<int>();
    bool called = false;
    testing::timer timer(h.host);
    timer.expires_after(1s);
    timer.async_wait([token, &called](error_code) { called = true; });
    const std::weak_ptr<int> alive = std::exchange(token, nullptr);
    h.host.crash();
    h.world.run_for(1s);
    BOOST_TEST(h.host.is_crashed());
    BOOST_TEST(alive.expired());
    BOOST_TEST(!called);
    BOOST_TEST(!h.lost.has_value());
    BOOST_TEST(!h.held.valid());
    BOOST_TEST(h.server.locks() == 1u);
    h.world.run_for(2s);
    BOOST_TEST(h.server.locks() == 0u);
}

BOOST_AUTO_TEST_CASE(fault_can_be_placed_at_a_step)
{
    // The command is executed, its reply is lost, and the lock is released.
    testing::world world(3);
    testing::server& server = world.make_server();
    testing::host& host = world.make_host();
    leasehold::client locks = host.make_client(server);
    locks.async_run(asio::detached);
    std::vector<testing::step> steps;
    host.on_step([&](testing::step s) {
        steps.push_back(s);
        if (s == testing::step::acquire_ran && steps.size() < 5)
            host.cut_off(testing::direction::from_server, 1s);
    });
    std::optional<error_code> outcome;
    leasehold::mutex(locks, "name", {.lease_time = 30s})
        .async_try_lock_for(500ms, [&](error_code failed, leasehold::lease) { outcome = failed; });
    world.run_for(600ms);
    BOOST_REQUIRE(outcome.has_value());
    BOOST_TEST((*outcome == errc::outcome_unknown));
    BOOST_TEST(server.locks() == 1u);
    world.run_for(5s);
    BOOST_TEST(server.locks() == 0u);
    BOOST_REQUIRE(steps.size() > 3u);
    BOOST_TEST((std::find(steps.begin(), steps.end(), testing::step::connected) != steps.end()));
    const auto sent = std::find(steps.begin(), steps.end(), testing::step::acquire_sent);
    BOOST_TEST((std::find(sent, steps.end(), testing::step::acquire_ran) != steps.end()));
}

BOOST_AUTO_TEST_CASE(network_conditions_apply_to_messages)
{
    holder h;
    testing::conditions all_lost = h.host.network();
    all_lost.loss = 1'000'000;
    h.host.network(all_lost);
    BOOST_TEST(h.lost_within(3s).has_value());
    BOOST_TEST((*h.lost == errc::expired));

    holder doubled;
    testing::conditions twice = doubled.host.network();
    twice.duplication = twice.wakeup_doubling = 1'000'000;
    doubled.host.network(twice);
    const auto before = doubled.server.commands();
    BOOST_TEST(!doubled.lost_within(20s).has_value());
    BOOST_TEST(doubled.server.commands() >
               before + 31); // thirty renewals, without copies that arrive after the reply
}

BOOST_AUTO_TEST_CASE(host_reports_its_mishaps)
{
    holder h;
    BOOST_TEST(h.host.mishaps().requests_lost == 0u);
    BOOST_TEST(h.host.mishaps().late == 0u);
    h.host.cut_off(testing::direction::to_server, 1s);
    h.world.run_for(1s);
    BOOST_TEST(h.host.mishaps().requests_lost + h.host.mishaps().late > 0u);
    BOOST_TEST(h.host.mishaps().connections_lost == 0u);
    h.host.reset_connections();
    h.world.run_for(1s);
    BOOST_TEST(h.host.mishaps().connections_lost == 1u);
    BOOST_TEST(h.host.mishaps().tasks_held_up == 0u);
    h.host.pause(1s);
    h.world.run_for(2s);
    BOOST_TEST(h.host.mishaps().tasks_held_up > 0u);
    BOOST_TEST(h.host.mishaps().wakeups == 0u);
    h.host.false_wakeup("name"); // without a waiter
    h.world.run_for(1s);
    BOOST_TEST(h.host.mishaps().wakeups == 0u);
    BOOST_TEST(h.held.valid());
}

BOOST_AUTO_TEST_CASE(fault_that_destroys_data_reports_whether_there_was_any)
{
    holder h;
    BOOST_TEST(h.server.restart(testing::server::data::kept, 10ms) == 0u);
    BOOST_TEST(!h.server.erase("another"));
    BOOST_TEST(!h.server.seize("another", 10ms));
    BOOST_TEST(h.server.seize("name", 10ms));
    BOOST_TEST(h.server.flush_all() > 0u);
    BOOST_TEST(h.server.flush_all() == 0u);
}

BOOST_AUTO_TEST_CASE(unsent_request_is_retried)
{
    holder h;
    h.host.fail_sending(1s);
    h.world.run_for(1s);
    BOOST_TEST(h.host.mishaps().requests_unsent > 0u);
    BOOST_TEST(h.host.mishaps().connections_lost == 0u);
    h.world.run_for(4s);
    BOOST_TEST(h.held.valid());
    h.host.fail_sending(1min);
    BOOST_TEST((h.lost_within(3s).has_value()));
    BOOST_TEST((h.lost == errc::expired));
}

BOOST_AUTO_TEST_CASE(renewal_can_fail_for_one_name)
{
    holder h;
    leasehold::lease other;
    leasehold::mutex(h.locks, "other", {.lease_time = 2s})
        .async_lock([&](error_code failed, leasehold::lease got) {
            BOOST_TEST(!failed);
            other = std::move(got);
        });
    h.world.run_for(100ms);
    BOOST_REQUIRE(other.valid());
    h.server.fail_renewals("name", 1min);
    BOOST_TEST((h.lost_within(3s).has_value()));
    BOOST_TEST((h.lost == errc::expired));
    BOOST_TEST(other.valid());
}

BOOST_AUTO_TEST_CASE(denying_server_rejects_locks_and_ends_leases)
{
    holder h;
    h.server.deny(1min);
    std::optional<error_code> told;
    leasehold::mutex(h.locks, "other").async_lock([&](error_code failed, leasehold::lease) {
        told = failed;
    });
    h.world.run_for(100ms);
    BOOST_TEST((told == errc::permission_denied));
    BOOST_TEST((h.lost_within(3s).has_value()));
    BOOST_TEST((h.lost == errc::expired));
}

BOOST_AUTO_TEST_CASE(world_can_be_destroyed_at_any_moment)
{
    for (int events = 0; events < 120; events += 3) {
        std::unique_ptr<leasehold::client> left;
        leasehold::lease held;
        {
            testing::world world(5);
            testing::server& server = world.make_server();
            testing::host& host = world.make_host();
            left.reset(new leasehold::client(host.make_client(server)));
            left->async_run(asio::detached);
            int rounds = 0;
            asio::co_spawn(host, work(host, *left, rounds), asio::detached);
            leasehold::mutex(*left, "other").async_lock([&](error_code, leasehold::lease got) {
                held = std::move(got);
            });
            for (int i = 0; i < events; ++i)
                world.run_one(world.now() + 1s);
        }
        BOOST_TEST(!held.valid());
    }
}

BOOST_AUTO_TEST_SUITE_END()
