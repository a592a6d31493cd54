// Faults of the server: it dies, loses data, rejects requests, has a wrong clock, or its keys
// belong to another program.
#include <boost/test/unit_test.hpp>

#include "redis/lab.hpp"
#include "support/shifted_clock.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;

/// The current append-only file of a server.
std::filesystem::path append_only_file(const redis_server& server)
{
    std::filesystem::path found;
    for (const auto& each : std::filesystem::recursive_directory_iterator(server.directory())) {
        const std::string name = each.path().filename().string();
        if (name.ends_with(".incr.aof") || name == "appendonly.aof")
            found = each.path();
    }
    BOOST_TEST_REQUIRE(!found.empty());
    return found;
}

/// Waits until all changes of the server are in its append-only file. With fsync every second, the
/// server answers first, and writes up to two seconds later while an fsync is running.
void await_written(resp_client& store)
{
    wait_until([&] { return store.info("persistence").at("aof_buffer_length") == "0"; });
}

/// The holder renews after the fault, and still holds the lock.
void goes_on(client_thread& of, const lease& held)
{
    of.seen().clear();
    of.seen().wait_for(kind::renewed, 2, 30s);
    BOOST_TEST(held.valid());
    BOOST_TEST(of.seen().count(kind::lost) == 0u);
}

/// The data is lost. The holder gets a report, does not create the key again, and the fence still
/// rises.
void vanishes(redis_server& server, const std::function<void()>& fault)
{
    client_thread holder(server);
    client_thread other(server);
    lease held = take(holder);
    holder.seen().wait_for(kind::renewed);
    auto lost = client_thread::start_wait_lost(held);
    fault();
    BOOST_TEST((get(lost) == errc::lost));
    BOOST_TEST(!held.valid());
    resp_client store = server.connect();
    BOOST_TEST(!exists(store));
    const auto last = acquire_and_release(other, held.fence());
    BOOST_TEST((holder.release(std::move(held)) == errc::lost));
    BOOST_TEST(!exists(store));
    acquire_and_release(holder, last);
}

/// A server whose clock a test moves. Empty if the clock cannot be moved.
struct shifted_server
{
    shifted_clock clock;
    redis_server server{{}, {.environment = clock.environment()}};
    resp_client store = server.connect();
};

bool no_shim()
{
    if (shifted_clock::available())
        return false;
    BOOST_TEST_MESSAGE("no clock shim on this system");
    BOOST_CHECK_THROW(shifted_clock(), std::logic_error);
    return true;
}

} // namespace

BOOST_AUTO_TEST_CASE(row_05_lock_survives_a_killed_server_with_append_only_file)
{
    for (const std::string sync : {"always", "everysec"}) {
        redis_server server({"--appendonly", "yes", "--appendfsync", sync});
        resp_client before = server.connect();
        client_thread holder(server);
        client_thread other(server);
        lease held = take(holder);
        auto waiting = start_waiting(other);
        await_written(before);
        server.kill();
        holder.seen().wait_for(kind::disconnected);
        BOOST_TEST(held.valid());
        server.start();
        goes_on(holder, held);
        BOOST_TEST((waiting.wait_for(0s) != std::future_status::ready));
        BOOST_TEST(hand_off(holder, std::move(held), waiting).valid());
    }
}

BOOST_AUTO_TEST_CASE(row_06_holder_of_a_lost_last_second_reports_the_loss)
{
    redis_server server({"--appendonly", "yes", "--appendfsync", "everysec"});
    client_thread warm_up(server); // so that the file is not empty
    acquire_and_release(warm_up, 0);
    resp_client store = server.connect();
    // Includes the release: if the file ended before it, its lock would be restored.
    await_written(store);
    const auto written = append_only_file(server);
    const auto size = std::filesystem::file_size(written);
    vanishes(server, [&] {
        await_written(store);
        server.kill();
        BOOST_TEST_REQUIRE(std::filesystem::file_size(written) > size);
        std::filesystem::resize_file(written, size);
        server.start();
    });
}

BOOST_AUTO_TEST_CASE(row_07_empty_restart_is_reported_as_loss)
{
    redis_server server;
    vanishes(server, [&] { server.restart_empty(); });
}

BOOST_AUTO_TEST_CASE(row_07_flushall_is_reported_as_loss)
{
    redis_server server;
    vanishes(server, [&] { server.connect().done({"FLUSHALL"}); });
}

BOOST_AUTO_TEST_CASE(row_07_deleted_key_is_reported_as_loss)
{
    redis_server server;
    vanishes(server, [&] { server.connect().done({"DEL", stock}); });
}

BOOST_AUTO_TEST_CASE(row_07_evicted_key_is_reported_as_loss)
{
    redis_server server({"--maxmemory-policy", "volatile-ttl"});
    vanishes(server, [&] {
        resp_client store = server.connect();
        store.done({"CONFIG", "SET", "maxmemory", "1"});
        wait_until([&] { return store.info("stats").at("evicted_keys") != "0"; });
        wait_until([&] { return !exists(store); });
        store.done({"CONFIG", "SET", "maxmemory", "0"});
    });
}

BOOST_AUTO_TEST_CASE(row_08_script_flush_affects_no_operation)
{
    redis_server server;
    resp_client store = server.connect();
    client_thread holder(server);
    client_thread other(server);
    lease held = take(holder);
    store.done({"SCRIPT", "FLUSH"});
    goes_on(holder, held); // renew
    BOOST_TEST(holder.stats().renewals_failed == 0u);
    store.done({"SCRIPT", "FLUSH"});
    BOOST_TEST((other.try_lock(stock, long_leases()).code == errc::held)); // acquire
    const auto fence = held.fence();
    store.done({"SCRIPT", "FLUSH"});
    BOOST_TEST(!holder.release(std::move(held))); // release
    BOOST_TEST(!exists(store));

    // Many requests in one pipeline. The first request of each script finds no script.
    store.done({"SCRIPT", "FLUSH"});
    std::vector<std::future<taken>> locking;
    for (int i = 0; i < 50; ++i)
        locking.push_back(other.start_lock("name" + std::to_string(i), long_leases()));
    std::vector<std::future<error_code>> releasing;
    for (auto& each : locking) {
        taken got = get(each);
        BOOST_TEST(!got.code);
        BOOST_TEST(got.held.valid());
        store.done({"SCRIPT", "FLUSH"});
        releasing.push_back(client_thread::start_release(std::move(got.held)));
    }
    for (auto& each : releasing)
        BOOST_TEST(!get(each));
    BOOST_TEST(store.strings({"KEYS", "name*"}).empty());
    acquire_and_release(other, fence);
}

BOOST_AUTO_TEST_CASE(row_17_fences_rise_when_the_server_clock_jumps_forward)
{
    if (no_shim())
        return;
    shifted_server at_fault;
    client_thread holder(at_fault.server);
    client_thread other(at_fault.server);
    lock_options options = leases_of(8s);
    options.renew_interval = 1500ms; // the clock jumps between two renewals
    lease held = take(holder, options);
    const auto fence = held.fence();
    auto lost = client_thread::start_wait_lost(held);
    at_fault.clock.advance(9s);
    // The grant of the other client may be early. The fence still rises.
    lease next = take(other);
    BOOST_TEST(next.fence() > fence);
    BOOST_TEST((get(lost) == errc::lost));
    BOOST_TEST(next.valid());

    // The clock jumps back: the counter keeps the fences rising.
    const auto second = next.fence();
    at_fault.clock.advance(-9s);
    BOOST_TEST(!other.release(std::move(next)));
    acquire_and_release(holder, acquire_and_release(other, second));
}

BOOST_AUTO_TEST_CASE(row_18_waiter_acquires_when_the_server_clock_jumps_back)
{
    if (no_shim())
        return;
    shifted_server at_fault;
    client_thread holder(at_fault.server);
    client_thread other(at_fault.server);
    lock_options options = leases_of(10s);
    options.backoff_ceiling = 100ms;
    options.renew_interval = 200ms;
    lease held = take(holder, options);
    at_fault.clock.set(-1h);
    BOOST_TEST(at_fault.store.integer({"PTTL", stock}) > 3'500'000);
    auto waiting = other.start_lock(stock, options);
    other.seen().wait_for(kind::suspect_expiry, 3);
    BOOST_TEST((other.seen().events(kind::suspect_expiry).front().time > 3500s));
    goes_on(holder, held);

    // The key is deleted without a message. Only a waiter that polls again gets the lock, and not
    // one that sleeps for an hour.
    auto lost = client_thread::start_wait_lost(held);
    at_fault.store.done({"DEL", stock});
    taken next = get(waiting);
    BOOST_TEST_REQUIRE(!next.code);
    BOOST_TEST(next.held.fence() > held.fence());
    BOOST_TEST((get(lost) == errc::lost));

    // A wake-up works as always.
    auto again = start_waiting(holder, options);
    const auto fence = next.held.fence();
    BOOST_TEST(!other.release(std::move(next.held)));
    next = get(again);
    BOOST_TEST(!next.code);
    BOOST_TEST(next.held.fence() > fence);
}

BOOST_AUTO_TEST_CASE(row_18_locks_change_hands_while_the_server_clock_is_frozen)
{
    if (no_shim())
        return;
    shifted_server at_fault;
    client_thread holder(at_fault.server);
    client_thread other(at_fault.server);
    lock_options options = leases_of(10s);
    options.backoff_ceiling = 100ms;
    options.renew_interval = 200ms;
    lease held = take(holder, options);
    at_fault.clock.freeze();
    auto waiting = other.start_lock(stock, options);
    other.seen().wait_for(kind::suspect_expiry, 3);
    goes_on(holder, held);
    std::uint64_t fence = held.fence();
    lease next = hand_off(holder, std::move(held), waiting);
    fence = next.fence();
    BOOST_TEST(!other.release(std::move(next)));
    for (int i = 0; i < 5; ++i)
        fence = acquire_and_release(i % 2 == 0 ? holder : other, fence);
    at_fault.clock.thaw();
    acquire_and_release(holder, fence);
}

BOOST_AUTO_TEST_CASE(row_20_lease_survives_a_server_busy_with_a_script)
{
    redis_server server({"--lua-time-limit", "5"});
    resp_client store = server.connect();
    client_thread holder(server);
    client_thread other(server);
    other.seen().wait_for(kind::connected); // a new connection may need to write
    lease held = take(holder);
    resp_client endless = server.connect();
    endless.send({"EVAL", "while true do end", "0"});
    wait_until([&] { return store.command({"PING"}).text.starts_with("BUSY"); });
    holder.seen().wait_for(kind::renewal_late, 2);
    auto waiting = other.start_lock("free", long_leases());
    BOOST_TEST((get(other.start_try_lock(stock, long_leases())).code == condition::store_fault));
    BOOST_TEST(held.valid());
    BOOST_TEST(store.command({"SCRIPT", "KILL"}).text == "OK");
    goes_on(holder, held);
    BOOST_TEST(!get(waiting).code);
}

BOOST_AUTO_TEST_CASE(row_20_server_out_of_memory_renews_and_releases)
{
    redis_server server;
    resp_client store = server.connect();
    client_thread holder(server);
    client_thread other(server);
    lease held = take(holder);
    store.done({"CONFIG", "SET", "maxmemory", "1"});
    BOOST_TEST(store.command({"SET", "k", "v"}).text.starts_with("OOM"));
    goes_on(holder, held); // a renewal needs no memory
    BOOST_TEST(holder.stats().renewals_failed == 0u);
    // A new connection needs none either.
    store.done({"CLIENT", "KILL", "TYPE", "normal"}); // all connections except this one
    holder.seen().wait_for(kind::disconnected);
    goes_on(holder, held);
    const auto fence = held.fence();
    BOOST_TEST(!holder.release(std::move(held)));
    BOOST_TEST(!exists(store));

    lock_options impatient = long_leases();
    impatient.wait_limit = 50ms;
    BOOST_TEST((other.lock(stock, impatient).code == errc::store_refused));
    BOOST_TEST((other.try_lock(stock, impatient).code == errc::store_refused));
    BOOST_TEST(!exists(store));
    auto waiting = other.start_lock(stock, long_leases());
    const auto sent = other.stats().acquires_sent;
    wait_until([&] { return other.stats().acquires_sent > sent + 1; });
    store.done({"CONFIG", "SET", "maxmemory", "0"});
    taken next = get(waiting);
    BOOST_TEST(!next.code);
    BOOST_TEST(next.held.fence() > fence);
}

// There is no memory for the queue. A waiter that leaves does not delay others.
BOOST_AUTO_TEST_CASE(row_20_waiters_acquire_after_memory_is_available_again)
{
    redis_server server;
    resp_client store = server.connect();
    client_thread holder(server);
    client_thread other(server);
    lock_options options = long_leases();
    options.handoff_count = 0;
    lease held = take(holder, options);
    auto waiting = start_waiting(other);
    wait_until([&] { return waiters_of(store, stock) > 0; });
    auto again = holder.start_lock(stock, options);
    wait_until([&] { return holder.stats().waiting == 1; });
    store.done({"CONFIG", "SET", "maxmemory", "1"});
    BOOST_TEST(!holder.release(std::move(held)));
    store.done({"CONFIG", "SET", "maxmemory", "0"});
    std::vector<std::future<taken>> both;
    both.push_back(std::move(waiting));
    both.push_back(std::move(again));
    wait_until([&] {
        return std::any_of(both.begin(), both.end(), [](std::future<taken>& each) {
            return each.valid() && each.wait_for(0s) == std::future_status::ready &&
                   !get(each).code;
        });
    });
    for (std::future<taken>& each : both)
        if (each.valid())
            BOOST_TEST(!get(each).code);
}

BOOST_AUTO_TEST_CASE(row_20_lease_survives_a_server_that_cannot_write_to_disk)
{
    redis_server server({"--save", "3600 1000000", "--dbfilename", "blocked.rdb"});
    resp_client store = server.connect();
    client_thread holder(server);
    client_thread other(server);
    lock_options options = long_leases();
    options.lease_time = 120s;
    lease held = take(holder, options);
    // A snapshot cannot replace a directory, for any user of the server.
    const auto blocked = server.directory() / "blocked.rdb";
    std::filesystem::create_directories(blocked / "in the way");
    store.done({"BGSAVE"});
    wait_until([&] { return store.info("persistence").at("rdb_last_bgsave_status") == "err"; });
    BOOST_TEST(store.command({"SET", "k", "v"}).text.starts_with("MISCONF"));
    holder.seen().wait_for(kind::renewal_late, 2);
    BOOST_TEST(held.valid());
    auto waiting = other.start_lock("free", options);
    other.seen().wait_for(kind::connected);
    lock_options impatient = options;
    impatient.wait_limit = 50ms;
    BOOST_TEST((other.lock("other", impatient).code == errc::store_refused));
    auto releasing = client_thread::start_release(std::move(held)); // retried until it succeeds
    wait_until([&] { return holder.stats().releases_sent > 2; });
    BOOST_TEST(exists(store));
    std::filesystem::remove_all(blocked);
    store.done({"BGSAVE"});
    BOOST_TEST(!get(releasing));
    BOOST_TEST(!exists(store));
    BOOST_TEST(!get(waiting).code);
    BOOST_TEST(!exists(store, "other"));
}

BOOST_AUTO_TEST_CASE(row_20_client_beyond_maxclients_waits_for_a_connection)
{
    redis_server server({"--maxclients", "3"});
    auto one = std::make_unique<resp_client>(server.endpoint());
    one->done({"PING"});
    auto two = std::make_unique<resp_client>(server.endpoint());
    two->done({"PING"});
    client_thread holder(server);
    lease held = take(holder);
    client_thread refused(server);
    lock_options impatient = long_leases();
    impatient.wait_limit = 100ms;
    BOOST_TEST((refused.lock("free", impatient).code == condition::store_fault));
    auto waiting = refused.start_lock("free", long_leases());
    goes_on(holder, held);
    two.reset();
    BOOST_TEST(!get(waiting).code);
}

BOOST_AUTO_TEST_CASE(row_20_user_without_rights_gets_permission_denied)
{
    redis_server server;
    server.connect().done(
        {"ACL", "SETUSER", "guest", "on", ">secret", "~*", "&*", "+@all", "-eval", "-evalsha"});
    redis_config settings = at(server);
    settings.user = "guest";
    settings.password = "wrong";
    client_thread unauthorized(settings);
    BOOST_TEST((unauthorized.lock(stock, long_leases()).code == errc::permission_denied));
    settings.password = "secret";
    client_thread guest(settings);
    BOOST_TEST((guest.lock(stock, long_leases()).code == errc::permission_denied));
}

// Without this, callers without a limit would wait forever.
BOOST_AUTO_TEST_CASE(row_20_permanent_error_ends_a_lock_without_limit)
{
    const auto told = [](const redis_server& server, const redis_config& settings, errc code,
                         const std::string& words) {
        client_thread user(settings);
        BOOST_TEST((user.lock(stock, long_leases()).code == code));
        const auto errors = user.seen().events(kind::store_error);
        BOOST_TEST_REQUIRE(!errors.empty());
        BOOST_TEST((errors.front().code == code));
        BOOST_TEST_CONTEXT(errors.front().name)
        {
            BOOST_TEST((errors.front().name.find(words) != std::string::npos));
            BOOST_TEST((errors.front().name.find(server.socket()) != std::string::npos));
        }
    };
    {
        redis_server server;
        redis_config settings = at(server);
        settings.database = 16;
        told(server, settings, errc::invalid_option, "DB index is out of range");
    }
    redis_server server({"--rename-command", "PEXPIRE", ""});
    told(server, at(server), errc::not_supported, "PEXPIRE");
}

// A lock that is not reported gone is not lost.
BOOST_AUTO_TEST_CASE(row_20_lease_survives_a_right_that_is_revoked_and_restored)
{
    redis_server server;
    client_thread holder(server);
    lock_options options = leases_of(30s);
    options.renew_interval = 50ms;
    lease held = take(holder, options);
    resp_client store = server.connect();
    store.done({"ACL", "SETUSER", "default", "-pexpire"});
    holder.seen().wait_for(kind::renewal_late);
    BOOST_TEST(held.valid());
    BOOST_TEST((holder.seen().events(kind::renewal_late).front().code == errc::permission_denied));
    BOOST_TEST((holder.seen().events(kind::store_error).front().name.find("key 'stock'") !=
                std::string::npos));
    client_thread other(server);
    BOOST_TEST((other.lock("free", long_leases()).code == errc::permission_denied));
    store.done({"ACL", "SETUSER", "default", "+pexpire"});
    goes_on(holder, held);
    BOOST_TEST(!holder.release(std::move(held)));
}

BOOST_AUTO_TEST_CASE(row_22_overwritten_lock_is_lost_and_left_unchanged)
{
    redis_server server;
    resp_client store = server.connect();
    client_thread holder(server);
    client_thread other(server);
    taken held = holder.lock(stock, long_leases());
    BOOST_TEST_REQUIRE(!held.code);
    auto waiting = start_waiting(other);
    auto lost = client_thread::start_wait_lost(held.held);
    store.done({"MULTI"});
    store.done({"DEL", stock});
    store.done({"RPUSH", stock, "not a lock"});
    store.done({"EXEC"});
    BOOST_TEST((get(lost) == errc::lost));
    BOOST_TEST((get(waiting).code == errc::wrong_type));
    BOOST_TEST((other.try_lock(stock, long_leases()).code == errc::wrong_type));
    held.held = lease();
    BOOST_TEST(store.string({"LINDEX", stock, "0"}) == "not a lock");
    BOOST_TEST(store.integer({"PTTL", stock}) == -1);

    // Released before the next renewal could detect it.
    store.done({"DEL", stock});
    held = holder.lock(stock, long_leases());
    lock_options seldom = leases_of(60s);
    seldom.renew_interval = 30s;
    lease quiet = take(holder, seldom, "quiet");
    store.done({"DEL", "quiet"});
    store.done({"RPUSH", "quiet", "a", "b"});
    BOOST_TEST((holder.release(std::move(quiet)) == errc::wrong_type));
    BOOST_TEST(store.integer({"LLEN", "quiet"}) == 2);

    // An overwritten lock does not affect another lock.
    goes_on(holder, held.held);

    // The counter of its fences belongs to the lock as well.
    BOOST_TEST(!holder.release(std::move(held.held)));
    store.done({"SET", fence_key_of("broken"), "text"});
    BOOST_TEST((holder.lock("broken", long_leases()).code == errc::wrong_type));
    wait_until([&] { return !exists(store, "broken"); });
}
