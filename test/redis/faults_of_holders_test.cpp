// Faults of the process that holds or waits: it is killed, stopped, starved, has a wrong clock, or
// forks.
#include <boost/test/unit_test.hpp>

#include "redis/lab.hpp"
#include "support/holder.hpp"
#include "support/run.hpp"
#include "support/shifted_clock.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using steady = std::chrono::steady_clock;

constexpr auto patient = 30s;

/// A client on this thread. It runs only while the test runs its context.
class local_client
{
public:
    explicit local_client(const redis_config& settings)
        : locks(context, make_redis_store(settings), seen)
    {
        locks.async_run([this](error_code) { ended_ = true; });
    }

    ~local_client()
    {
        locks.cancel();
        run_until(context, [this] { return ended_; });
    }

    taken lock(const lock_options& options)
    {
        std::optional<taken> result;
        mutex(locks, stock, options).async_lock([&](error_code code, lease held) {
            result.emplace(taken{code, std::move(held)});
        });
        run_until(context, [&] { return result.has_value(); }, patient);
        return std::move(*result);
    }

    boost::asio::io_context context{1};
    std::shared_ptr<recording_observer> seen = std::make_shared<recording_observer>();
    client locks;

private:
    bool ended_ = false;
};

/// The actions of a careless child on the lease of its parent. Returns a bit for each failure. It
/// must not return into the test.
int in_child(boost::asio::io_context& context, lease& held) noexcept
{
    try {
        context.notify_fork(boost::asio::execution_context::fork_child);
        int wrong = held.valid() ? 1 : 0;
        bool called = false;
        held.async_release([&](error_code code) { called = !code; });
        {
            const lease dropped = std::move(held);
        }
        // Several renewals would be due by now.
        context.restart();
        context.run_for(200ms);
        return wrong | (called ? 2 : 0);
    }
    catch (const std::exception& failure) {
        std::fprintf(stderr, "the child: %s\n", failure.what());
        return 4;
    }
}

/// The ids of the connections of the server, in its order, without the one that asks.
std::vector<std::string> connections(resp_client& store)
{
    const std::string own = "id=" + std::to_string(store.integer({"CLIENT", "ID"}));
    std::vector<std::string> ids;
    std::istringstream all(store.string({"CLIENT", "LIST"}));
    for (std::string line; std::getline(all, line);)
        if (const std::string id = line.substr(0, line.find(' ')); id != own)
            ids.push_back(id);
    return ids;
}

} // namespace

BOOST_AUTO_TEST_CASE(row_01_lock_of_a_killed_holder_is_granted_at_the_end_of_its_ttl)
{
    redis_server server;
    resp_client store = server.connect();
    holder dying(server);
    const auto fence = dying.lock(stock, 1s);
    dying.kill();
    const auto asked = steady::now();
    const auto left = std::chrono::milliseconds(store.integer({"PTTL", stock}));
    BOOST_TEST((left <= 1s));

    client_thread other(server);
    taken next = other.lock(stock, long_leases());
    BOOST_TEST(!next.code);
    // Granted when the TTL ended, not before, and without a message. (2 ms, because the server
    // counts whole milliseconds.)
    BOOST_TEST((steady::now() - asked >= left - 2ms));
    BOOST_TEST(next.held.fence() > fence);
    // Once by the waiter, to verify its subscription.
    BOOST_TEST(store.calls("publish") <= 1u);
    // The waiter slept no longer than the TTL.
    BOOST_TEST((steady::now() - asked < left + 10s));
}

BOOST_AUTO_TEST_CASE(row_02_killed_waiter_is_skipped)
{
    redis_server server;
    resp_client store = server.connect();
    client_thread first(server);
    client_thread third(server);
    lease held = take(first);
    holder dying(server);
    dying.ask_for_lock(stock, 60s);
    dying.expect("waiting");
    wait_until([&] { return waiters_of(store, stock) == 1; });
    auto waiting = start_waiting(third);
    wait_until([&] { return waiters_of(store, stock) == 2; });
    dying.kill();
    BOOST_TEST(held.valid());
    lease next = hand_off(first, std::move(held), waiting);
    BOOST_TEST(!third.release(std::move(next)));
    BOOST_TEST(!exists(store));
}

BOOST_AUTO_TEST_CASE(row_03_holder_stopped_beyond_its_lease_reports_the_loss)
{
    redis_server server;
    resp_client store = server.connect();
    client_thread other(server);
    holder stopped(server);
    const auto fence = stopped.lock(stock, 500ms);
    stopped.pause();
    lease next = take(other);
    BOOST_TEST(next.fence() > fence);
    const auto owners = record_of(store, stock);

    // Sent while the process is stopped: the first action of its user code when it continues.
    stopped.write_line("valid");
    stopped.resume();
    std::string lines[2] = {stopped.read_line().value(), stopped.read_line().value()};
    std::sort(lines, lines + 2);
    BOOST_TEST(lines[0] == "lost expired");
    BOOST_TEST(lines[1] == "valid 0");
    BOOST_TEST(stopped.ask("release") != "released success");
    BOOST_TEST(record_of(store, stock) == owners, boost::test_tools::per_element());

    other.seen().clear();
    other.seen().wait_for(kind::renewed, 2);
    BOOST_TEST(next.valid());
    BOOST_TEST(!other.release(std::move(next)));
    stopped.lock(stock, 1s); // the process can continue
}

BOOST_AUTO_TEST_CASE(row_04_starved_event_loop_sees_an_expired_lease_as_invalid)
{
    redis_server server;
    client_thread other(server);
    local_client starved(at(server));
    taken held = starved.lock(leases_of(500ms));
    BOOST_TEST_REQUIRE(!held.code);
    std::optional<error_code> told;
    held.held.async_wait_lost([&](error_code why) { told = why; });
    run_until(starved.context, [&] { return starved.seen->count(kind::renewed) > 0; });

    // From here on, none of its handlers runs.
    const auto deadline = held.held.deadline();
    while (leasehold::clock::now() < deadline) {
        // The lease becomes invalid at its deadline, and not before.
        const bool valid = held.held.valid();
        BOOST_TEST_REQUIRE((valid || leasehold::clock::now() >= deadline));
        std::this_thread::sleep_for(1ms);
    }
    BOOST_TEST(!held.held.valid());
    BOOST_TEST(!told.has_value());
    const auto fence = held.held.fence();
    taken next = other.lock(stock, long_leases());
    BOOST_TEST(next.held.fence() > fence);
    BOOST_TEST(!held.held.valid());

    // When its context runs again, it gets the report, and does not affect the other holder.
    run_until(starved.context, [&] { return told.has_value(); });
    BOOST_TEST((*told == errc::expired));
    BOOST_TEST(!held.held.valid());
    held.held = lease();
    other.seen().clear();
    run_until(starved.context, [&] { return other.seen().count(kind::renewed) > 1; });
    BOOST_TEST(next.held.valid());
}

BOOST_AUTO_TEST_CASE(row_19_wall_clocks_years_apart_do_not_affect_locks)
{
    if (!shifted_clock::available()) {
        BOOST_TEST_MESSAGE("no clock shim on this system");
        BOOST_CHECK_THROW(shifted_clock(), std::logic_error);
        return;
    }
    constexpr auto years = std::chrono::hours(24 * 3652);
    shifted_clock early_clock;
    shifted_clock late_clock;
    early_clock.set(-years);
    late_clock.set(years);
    redis_server server;
    resp_client store = server.connect();
    holder early(server, early_clock.environment());
    holder late(server, late_clock.environment());
    const auto wall = [](holder& of) { return std::chrono::seconds(of.number("wall")); };
    BOOST_TEST((wall(late) - wall(early) > 2 * years - 1h));

    const auto first = early.lock(stock, 10s);
    const auto left = store.integer({"PTTL", stock});
    BOOST_TEST((left > 0 && left <= 10'000));
    late.ask_for_lock(stock, 10s);
    late.expect("waiting");
    late_clock.set(-years); // and back, during the wait
    early_clock.set(years);
    BOOST_TEST(early.ask("valid") == "valid 1");
    BOOST_TEST(early.ask("release") == "released success");
    const auto second = late.locked();
    BOOST_TEST(second > first);
    BOOST_TEST(late.ask("valid") == "valid 1");
    late_clock.set(years);
    BOOST_TEST(late.ask("valid") == "valid 1");
    BOOST_TEST(late.ask("release") == "released success");
    client_thread here(server);
    acquire_and_release(here, second);
}

BOOST_AUTO_TEST_CASE(row_27_forked_child_does_not_affect_the_lock)
{
    redis_server server;
    resp_client store = server.connect();
    lock_options options = leases_of(20s);
    options.renew_interval = 20ms;
    redis_config settings = at(server);
    settings.health_check = 50ms; // a connection that continues in the child sends a message soon
    local_client forking(settings);
    taken held = forking.lock(options);
    BOOST_TEST_REQUIRE(!held.code);
    run_until(forking.context, [&] { return forking.seen->count(kind::renewed) > 0; });
    const auto owners = record_of(store, stock);
    const auto connected = connections(store);
    BOOST_TEST(!connected.empty());
    store.reset_calls();

    // The context of the parent does not run meanwhile, so every message to the store comes from
    // the child.
    forking.context.notify_fork(boost::asio::execution_context::fork_prepare);
    const pid_t child = ::fork();
    BOOST_TEST_REQUIRE(child >= 0);
    if (child == 0) {
        ::_exit(in_child(forking.context, held.held));
    }
    int status = 0;
    BOOST_TEST(::waitpid(child, &status, 0) == child);
    forking.context.notify_fork(boost::asio::execution_context::fork_parent);
    BOOST_TEST(WIFEXITED(status));
    BOOST_TEST(WEXITSTATUS(status) == 0);
    BOOST_TEST(store.calls("evalsha") == 0u);
    BOOST_TEST(store.calls("eval") == 0u);
    BOOST_TEST(store.calls("ping") == 0u);
    BOOST_TEST(record_of(store, stock) == owners, boost::test_tools::per_element());
    // The child has not closed connections that it shares with its parent.
    BOOST_TEST(connections(store) == connected, boost::test_tools::per_element());

    // The parent continues. (It did not run for longer than its health check allows, so it may have
    // to reconnect.)
    BOOST_TEST(held.held.valid());
    forking.seen->clear();
    run_until(forking.context, [&] { return forking.seen->count(kind::renewed) > 1; });
    BOOST_TEST(held.held.valid());
    std::optional<error_code> released;
    held.held.async_release([&](error_code code) { released = code; });
    run_until(forking.context, [&] { return released.has_value(); });
    BOOST_TEST(!*released);
    BOOST_TEST(!exists(store));
}
