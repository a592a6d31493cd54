#include <boost/test/unit_test.hpp>

#include "support/redis_application.hpp"
#include "traps/redis_fixture.hpp"

#include <leasehold/redis.hpp>

#include <deque>
#include <filesystem>
#include <memory>
#include <string>

namespace {

using namespace leasehold;
using namespace leasehold::test;

redis_config as(const redis_fixture& s, const std::string& user)
{
    redis_config settings = s.direct();
    settings.user = user;
    settings.password = "secret";
    return settings;
}

/// A user with all rights except this one.
void make_user(redis_fixture& s, const std::string& name, const std::string& without)
{
    s.raw.done(
        {"ACL", "SETUSER", name, "reset", "on", ">secret", "~*", "&*", "+@all", "-" + without});
}

lock_options brisk(milliseconds time)
{
    lock_options how = leased(time);
    how.backoff_ceiling = 100ms;
    return how;
}

} // namespace

BOOST_AUTO_TEST_CASE(S1_script_flush_within_a_pipeline_affects_no_operation)
{
    constexpr int names = 300;
    redis_fixture s;
    test_client a(s.context, s.direct());
    a.await_connected();
    s.raw.done({"SCRIPT", "FLUSH"});
    std::deque<started> taking;
    for (int i = 0; i < names; ++i) {
        taking.push_back(a.lock("lock" + std::to_string(i), leased(long_time)));
        if (i % 10 == 0) {
            run_some(s.context, 3);
            s.raw.done({"SCRIPT", "FLUSH"});
        }
    }
    for (int i = 0; i < names; ++i) {
        const started& each = taking[static_cast<std::size_t>(i)];
        run_until(s.context, each);
        BOOST_TEST_REQUIRE(each.has_lease());
        const auto fields = s.fields("lock" + std::to_string(i));
        BOOST_TEST_REQUIRE(fields.size() == 1u);
        BOOST_TEST_REQUIRE(fields.at(each.lease().share_owner().id()) == "1");
    }
    BOOST_TEST(a.count(kind::not_acquired) == 0u);

    std::deque<started> releasing;
    for (int i = 0; i < names; ++i) {
        releasing.push_back(a.release(taking[static_cast<std::size_t>(i)].lease()));
        if (i % 10 == 0) {
            run_some(s.context, 3);
            s.raw.done({"SCRIPT", "FLUSH"});
        }
    }
    for (const started& each : releasing) {
        run_until(s.context, each);
        BOOST_TEST_REQUIRE(each.code() == success);
    }
    BOOST_TEST(s.raw.strings({"KEYS", "lock*"}).empty());
    BOOST_TEST(a.stats().disconnects == 0u);
}

BOOST_AUTO_TEST_CASE(S1_script_flush_does_not_affect_renewals)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    lease held = a.take("lock", leased(1500ms));
    for (std::size_t i = 1; i <= 3; ++i) {
        s.raw.done({"SCRIPT", "FLUSH"});
        a.await_count(kind::renewed, i);
    }
    BOOST_TEST(a.count(kind::renewal_late) == 0u);
    BOOST_TEST(held.valid());
    s.raw.done({"SCRIPT", "FLUSH"});
    BOOST_TEST(a.released(held) == success);
    BOOST_TEST(!s.exists("lock"));
}

BOOST_AUTO_TEST_CASE(S1_lease_survives_a_restart_with_data)
{
    redis_fixture s({"--appendonly", "yes", "--appendfsync", "always"});
    test_client a(s.context, s.direct());
    test_client b(s.context, s.direct());
    lease held = a.take("lock", leased(15s));
    const started lost = a.wait_lost(held);
    const started waiter = b.lock("lock", patient(long_time));
    s.await_watchers("lock");
    s.server.restart();
    s.reconnect();
    a.await_count(kind::renewed);
    BOOST_TEST(held.valid());
    BOOST_TEST(!lost.done());
    BOOST_TEST(!waiter.done());
    s.await_watchers("lock"); // subscribed again
    BOOST_TEST(a.released(held) == success);
    run_until(s.context, waiter);
    BOOST_TEST(waiter.lease().valid());
}

BOOST_AUTO_TEST_CASE(S1_restart_without_data_is_detected_at_once)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    lease held = a.take("lock", leased(60s)); // the next renewal would be due in twenty seconds
    const started lost = a.wait_lost(held);
    s.server.restart_empty();
    s.reconnect();
    run_until(s.context, [&] { return lost.done(); }, 15s);
    BOOST_TEST(lost.code() == error_code(errc::lost));
    BOOST_TEST(!held.valid());
    BOOST_TEST(!s.exists("lock"));
}

BOOST_AUTO_TEST_CASE(S2_user_without_scripts_gets_permission_denied)
{
    redis_fixture s;
    s.raw.done({"ACL", "SETUSER", "mute", "on", ">secret", "~*", "&*", "+@all", "-eval", "-evalsha",
                "-script"});
    test_client a(s.context, as(s, "mute"));
    const started waiting = a.lock("lock", leased(long_time)); // without a limit
    run_until(s.context, waiting);
    BOOST_TEST(waiting.code() == error_code(errc::permission_denied));
    const started once = a.try_lock("lock", leased(long_time));
    run_until(s.context, once);
    BOOST_TEST(once.code() == error_code(errc::permission_denied));
    BOOST_TEST((once.code() == condition::bad_request));
    BOOST_TEST(!s.exists("lock"));
}

BOOST_AUTO_TEST_CASE(S2_denied_command_inside_a_script_leaves_no_lock)
{
    redis_fixture s;
    for (const char* command : {"hset", "pexpire", "pttl", "set", "time", "get"}) {
        make_user(s, "some", command);
        test_client a(s.context, as(s, "some"));
        const started op = a.lock_for(5s, "lock", leased(long_time));
        run_until(s.context, op);
        BOOST_TEST(op.code() == error_code(errc::permission_denied),
                   command << ": " << op.code().message());
        BOOST_TEST(!s.exists("lock"), command); // C5: above all, not without a TTL
    }
}

BOOST_AUTO_TEST_CASE(S2_denied_keys_and_wrong_credentials_are_reported)
{
    redis_fixture s;
    s.raw.done({"ACL", "SETUSER", "narrow", "on", ">secret", "~mine*",
                "~redisson_lock_token:{mine*", "~leasehold:fence", "~leasehold:*:{mine*", "&*",
                "+@all"});
    test_client a(s.context, as(s, "narrow"));
    lease mine = a.take("mine", leased(long_time));
    BOOST_TEST(mine.valid());
    const started other = a.lock("other", leased(long_time));
    run_until(s.context, other);
    BOOST_TEST(other.code() == error_code(errc::permission_denied));
    BOOST_TEST(!s.exists("other"));

    redis_config wrong = as(s, "narrow");
    wrong.password = "wrong";
    test_client b(s.context, wrong);
    const started refused = b.lock("mine", leased(long_time));
    run_until(s.context, refused);
    BOOST_TEST(refused.code() == error_code(errc::permission_denied));
}

BOOST_AUTO_TEST_CASE(S2_lease_expires_after_a_revoked_permission)
{
    redis_fixture s;
    make_user(s, "fickle", "debug");
    test_client a(s.context, as(s, "fickle"));
    test_client b(s.context, s.direct());
    lease held = a.take("lock", leased(1200ms));
    const started lost = a.wait_lost(held);
    s.raw.done({"ACL", "SETUSER", "fickle", "-evalsha", "-eval"});
    a.await_count(kind::renewal_late);
    BOOST_TEST(held.valid()); // not known to be lost before its deadline
    run_until(s.context, lost);
    BOOST_TEST(lost.code() == error_code(errc::expired));
    lease next = b.take("lock", leased(long_time));
    BOOST_TEST(a.released(held) != success);
    BOOST_TEST(s.fields("lock").count(next.share_owner().id()) == 1u);
}

BOOST_AUTO_TEST_CASE(S2_release_without_publish_frees_the_lock)
{
    redis_fixture s;
    make_user(s, "quiet", "publish");
    test_client a(s.context, as(s, "quiet"));
    test_client b(s.context, s.direct());
    lease held = a.take("lock", leased(long_time));
    const started waiter = b.lock("lock", brisk(long_time));
    s.await_watchers("lock");
    BOOST_TEST(a.released(held) == success);
    run_until(s.context, waiter);
    BOOST_TEST(waiter.lease().valid());
}

BOOST_AUTO_TEST_CASE(S3_server_out_of_memory_rejects_locks_and_still_renews)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    test_client b(s.context, s.direct());
    lease held = a.take("lock", leased(1500ms));
    b.await_connected();
    s.raw.done({"CONFIG", "SET", "maxmemory", "1"});
    const started once = b.try_lock("other", leased(long_time));
    run_until(s.context, once);
    BOOST_TEST(once.code() == error_code(errc::store_refused));
    const started limited = b.lock_for(200ms, "other", brisk(long_time));
    run_until(s.context, limited);
    BOOST_TEST(limited.code() == error_code(errc::store_refused));
    const started waiting = b.lock("other", brisk(long_time));
    // A holder keeps its lock and can release it.
    a.saw->clear();
    a.await_count(kind::renewed, 4);
    BOOST_TEST(held.valid());
    BOOST_TEST(a.released(held) == success);
    BOOST_TEST(!s.exists("lock"));
    BOOST_TEST(!waiting.done());
    BOOST_TEST(!s.exists("other"));
    s.raw.done({"CONFIG", "SET", "maxmemory", "0"});
    run_until(s.context, waiting);
    BOOST_TEST(waiting.lease().valid());
    BOOST_TEST(a.stats().disconnects + b.stats().disconnects == 0u);
}

BOOST_AUTO_TEST_CASE(S3_lease_survives_a_failed_disk)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    test_client b(s.context, s.direct());
    lock_options how = leased(10s);
    how.renew_interval = 100ms;
    lease held = a.take("lock", how);
    b.await_connected();
    // A snapshot cannot replace a directory.
    std::filesystem::create_directory(s.server.directory() / "dump.rdb");
    std::filesystem::create_directory(s.server.directory() / "dump.rdb" / "x");
    s.raw.done({"CONFIG", "SET", "save", "3600 1000000"});
    s.raw.done({"BGSAVE"});
    s.eventually([&] { return s.raw.info("persistence").at("rdb_last_bgsave_status") == "err"; });

    const started once = b.try_lock("other", leased(long_time));
    run_until(s.context, once);
    BOOST_TEST(once.code() == error_code(errc::store_refused));
    const started waiting = b.lock("other", brisk(long_time));
    a.await_count(kind::renewal_late);
    BOOST_TEST(held.valid());
    BOOST_TEST(!waiting.done());
    s.raw.done({"CONFIG", "SET", "stop-writes-on-bgsave-error", "no"});
    run_until(s.context, waiting);
    BOOST_TEST(waiting.lease().valid());
    a.await_count(kind::renewed, a.count(kind::renewed) + 1);
    BOOST_TEST(held.valid());
    BOOST_TEST(a.stats().lost == 0u);
    BOOST_TEST(a.released(held) == success);
}

BOOST_AUTO_TEST_CASE(S3_lease_survives_a_busy_server)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    test_client b(s.context, s.direct());
    lock_options how = leased(10s);
    how.renew_interval = 100ms;
    lease held = a.take("lock", how);
    b.await_connected();
    resp_client busy = s.server.connect();
    s.make_busy(busy);
    const started once = b.try_lock("other", leased(long_time));
    const started waiting = b.lock("other", brisk(long_time));
    const started entering = a.lock("lock", how, held.share_owner());
    run_until(s.context, once);
    BOOST_TEST((once.code() == condition::store_fault));
    a.await_count(kind::renewal_late);
    BOOST_TEST(held.valid());
    const started releasing = b.lock("third", brisk(long_time));
    BOOST_TEST(!waiting.done());
    s.raw.done({"SCRIPT", "KILL"});
    BOOST_TEST(busy.receive().is_error());
    run_until(s.context, waiting);
    BOOST_TEST(waiting.lease().valid());
    run_until(s.context, entering);
    BOOST_TEST(entering.lease().valid());
    run_until(s.context, releasing);
    BOOST_TEST(a.released(entering.lease()) == success);
    BOOST_TEST(a.released(held) == success);
    BOOST_TEST(!s.exists("lock"));
    BOOST_TEST(a.stats().lost == 0u);
}

BOOST_AUTO_TEST_CASE(S3_release_is_repeated_while_the_server_is_busy)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    lease held = a.take("lock", leased(long_time));
    resp_client busy = s.server.connect();
    s.make_busy(busy);
    const started op = a.release(held);
    // Rejected at least once, and repeated.
    run_until(s.context, [&] { return a.stats().releases_sent >= 2; }, ample);
    BOOST_TEST(!op.done());
    s.raw.done({"SCRIPT", "KILL"});
    BOOST_TEST(busy.receive().is_error());
    run_until(s.context, op);
    BOOST_TEST(op.code() == success);
    BOOST_TEST(!s.exists("lock"));
}

BOOST_AUTO_TEST_CASE(S3_evicted_lock_is_reported_as_lost)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    test_client b(s.context, s.direct());
    lease held = a.take("lock", leased(2s));
    const auto fence = held.fence();
    const started lost = a.wait_lost(held);
    lock_options how = brisk(long_time);
    const started waiter = b.lock("lock", how);
    b.await_count(kind::waiting);
    s.raw.done({"CONFIG", "SET", "maxmemory-policy", "volatile-ttl"});
    const auto used = std::stoll(s.raw.info("memory").at("used_memory"));
    s.raw.done({"CONFIG", "SET", "maxmemory", std::to_string(used + 300'000)});
    // Keys without a TTL remain, but locks are evicted.
    for (int i = 0; i < 64; ++i)
        static_cast<void>(
            s.raw.command({"SET", "big" + std::to_string(i), std::string(20'000, 'x')}));
    BOOST_TEST(std::stoll(s.raw.info("stats").at("evicted_keys")) > 0);
    s.raw.done({"CONFIG", "SET", "maxmemory", "0"});
    run_until(s.context, lost);
    BOOST_TEST(lost.code() == error_code(errc::lost));
    BOOST_TEST(!held.valid());
    run_until(s.context, waiter);
    BOOST_TEST(waiter.lease().fence() > fence); // the counter is evicted as well
    BOOST_TEST(s.fields("lock").size() == 1u);
}

BOOST_AUTO_TEST_CASE(S4_key_of_another_type_is_reported_and_left_unchanged)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    a.await_connected();
    s.raw.done({"SET", "text", "of mine"});
    s.raw.done({"RPUSH", "list", "a", "b"});
    for (const char* name : {"text", "list"}) {
        // For this layout, a string is a lock of another library.
        if (tested_layout() == redis_config::key_layout::native && std::string(name) == "text")
            continue;
        const started once = a.try_lock(name, leased(long_time));
        run_until(s.context, once);
        BOOST_TEST(once.code() == error_code(errc::wrong_type));
        const started waiting = a.lock(name, leased(long_time)); // a wait cannot resolve it
        run_until(s.context, waiting);
        BOOST_TEST(waiting.code() == error_code(errc::wrong_type));
        const started entering = a.lock(name, leased(long_time),
                                        owner("3b5c8f5e-0000-4000-8000-000000000000:1", 1));
        run_until(s.context, entering);
        BOOST_TEST(entering.code() == error_code(errc::wrong_type));
        BOOST_TEST(s.left(name) == -1);
    }
    BOOST_TEST(s.raw.string({"GET", "text"}) == "of mine");
    BOOST_TEST(s.raw.integer({"LLEN", "list"}) == 2);

    // The counter.
    s.raw.command({"DEL", fence_key_of("lock")});
    s.raw.done({"RPUSH", fence_key_of("lock"), "a"});
    const started counted = a.try_lock("lock", leased(long_time));
    run_until(s.context, counted);
    BOOST_TEST(counted.code() == error_code(errc::wrong_type));
    s.raw.done({"DEL", fence_key_of("lock")});
    s.raw.done({"SET", fence_key_of("lock"), "not a number"});
    const started odd = a.try_lock("lock", leased(long_time));
    run_until(s.context, odd);
    BOOST_TEST(odd.code() == error_code(errc::wrong_type));
    s.await_gone("lock");
}

BOOST_AUTO_TEST_CASE(S4_overwritten_lock_is_lost_and_left_unchanged)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    lease held = a.take("lock", leased(1500ms));
    lease bystander = a.take("bystander", leased(1500ms));
    const started lost = a.wait_lost(held);
    s.raw.done({"SET", "lock", "of mine"});
    run_until(s.context, lost);
    BOOST_TEST((lost.code() == condition::lease_ended));
    BOOST_TEST(s.raw.string({"GET", "lock"}) == "of mine");
    BOOST_TEST(s.left("lock") == -1);
    // The other leases of the batch continue.
    a.saw->clear();
    a.await_count(kind::renewed, 3);
    BOOST_TEST(bystander.valid());
    BOOST_TEST((a.released(held) == condition::lease_ended));
    BOOST_TEST(s.raw.string({"GET", "lock"}) == "of mine");
}

BOOST_AUTO_TEST_CASE(P3_shutdown_ends_waiters_and_releases_leases)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    test_client b(s.context, s.direct());
    s.external_lock("foreign", long_time);
    std::deque<lease> held;
    std::deque<started> lost;
    std::deque<started> waiters;
    for (int i = 0; i < 20; ++i) {
        const std::string name = "lock" + std::to_string(i);
        held.push_back(a.take(name, leased(long_time)));
        lost.push_back(a.wait_lost(held.back()));
        waiters.push_back(a.lock(name, leased(long_time)));
    }
    waiters.push_back(a.lock("foreign", leased(long_time)));
    const started next = b.lock("lock1", patient(long_time));
    s.await_watchers("lock1");
    waiters.push_back(
        a.lock("lock0", leased(long_time), held.front().share_owner())); // not started yet

    const started stopped = a.shut_down();
    run_until(s.context, stopped);
    BOOST_TEST(stopped.code() == success);
    run_until(s.context, a.run);
    BOOST_TEST(a.run.code() == success);
    for (const started& each : waiters) {
        run_until(s.context, each);
        BOOST_TEST(each.code() == error_code(errc::shut_down));
    }
    for (std::size_t i = 0; i < held.size(); ++i) {
        run_until(s.context, lost[i]);
        BOOST_TEST(lost[i].code() == error_code(errc::shut_down));
        BOOST_TEST(!held[i].valid());
    }
    run_until(s.context, next);
    BOOST_TEST(next.lease().valid());
    BOOST_TEST(b.released(next.lease()) == success);
    BOOST_TEST(s.raw.strings({"KEYS", "lock*"}).empty());
    BOOST_TEST(s.fields("foreign").at("another:1") == "1");

    // After the shutdown.
    const started late = a.lock("lock0", leased(long_time));
    run_until(s.context, late);
    BOOST_TEST(late.code() == error_code(errc::shut_down));
    BOOST_TEST(a.released(held.front()) == error_code(errc::shut_down));
    const started twice = a.shut_down();
    run_until(s.context, twice);
    BOOST_TEST(twice.code() == success);
    // Each client that has waited has a channel. The one of `b` remains.
    s.eventually([&] { return s.raw.channels().size() == 1; });
    BOOST_TEST(a.stats().held == 0u);
    BOOST_TEST(a.stats().waiting == 0u);
}

BOOST_AUTO_TEST_CASE(P3_shutdown_releases_every_reentrant_acquisition)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    test_client b(s.context, s.direct());
    const lease first = a.take("lock", leased(long_time));
    const lease second = a.reenter("lock", leased(long_time), first.share_owner());
    const lease guest = b.reenter("lock", leased(long_time), first.share_owner());
    const started stopped = a.shut_down();
    run_until(s.context, stopped);
    BOOST_TEST(stopped.code() == success);
    BOOST_TEST(!second.valid());
    BOOST_TEST(guest.valid());
    BOOST_TEST(s.fields("lock").at(guest.share_owner().id()) ==
               "1"); // the entry of the other client
    BOOST_TEST(a.stats().releases_sent == 2u);
    const started last = b.shut_down();
    run_until(s.context, last);
    BOOST_TEST(last.code() == success);
    BOOST_TEST(!s.exists("lock"));
}

BOOST_AUTO_TEST_CASE(P3_shutdown_waits_for_an_outstanding_acquire)
{
    redis_fixture s;
    fault_proxy proxy(s.server);
    test_client a(s.context, redis_fixture::through(proxy));
    a.await_connected();
    s.external_lock("foreign", long_time);
    proxy.stall_requests();
    const started waiter = a.lock("foreign", leased(long_time));
    run_until(s.context, [&] { return a.stats().acquires_sent == 1; }, ample);
    const auto begun = leasehold::clock::now();
    const started stopped = a.shut_down();
    run_until(s.context, waiter);
    BOOST_TEST(waiter.code() == error_code(errc::shut_down));
    proxy.forward(); // the reply names another holder, so there is nothing to release
    run_until(s.context, stopped);
    BOOST_TEST(stopped.code() == success);
    // The limit of five seconds is for a silent store.
    BOOST_TEST((leasehold::clock::now() - begun < 4s));
    BOOST_TEST(s.fields("foreign").size() == 1u);
}

BOOST_AUTO_TEST_CASE(P3_shutdown_ends_without_a_responsive_server)
{
    redis_fixture s;
    fault_proxy proxy(s.server);
    redis_config settings = redis_fixture::through(proxy);
    settings.timeout = 10min; // so that only the end of the client stops its requests
    settings.health_check = 10min;
    test_client a(s.context, settings);
    lease held = a.take("lock", leased(long_time));
    proxy.stall();
    const started waiter = a.lock("other", leased(long_time));
    run_some(s.context, 20);
    a.locks.cancel(); // a second at most
    run_until(s.context, waiter);
    BOOST_TEST(waiter.code() == error_code(errc::shut_down));
    run_until(s.context, a.run);
    BOOST_TEST(a.run.code() == asio::error::operation_aborted);
    BOOST_TEST(!held.valid());
    const started stopped = a.shut_down();
    run_until(s.context, stopped);
    BOOST_TEST(!waiter.has_lease());
}

BOOST_AUTO_TEST_CASE(P3_locks_expire_after_the_context_ended)
{
    redis_fixture s;
    s.external_lock("foreign", long_time);
    lease held;
    started op;
    {
        asio::io_context mortal;
        test_client a(mortal, s.direct());
        held = a.take("lock", leased(1s));
        op = a.lock("foreign", leased(long_time));
        for (int i = 0; i < 50; ++i)
            a.lock("more" + std::to_string(i), leased(1s));
        run_some(mortal, 5);
        mortal.stop();
    }
    BOOST_TEST(!op.done());
    BOOST_TEST(held.fence() > 0u);
    held = lease();
    s.eventually([&] { return s.raw.strings({"KEYS", "more*"}).empty() && !s.exists("lock"); });
}

BOOST_AUTO_TEST_CASE(application_connection_locks_and_wakes_waiters)
{
    redis_fixture s;
    redis_application application(s.server.socket());
    const auto before = std::stoi(s.raw.info("clients").at("connected_clients"));
    test_client a(s.context, make_redis_store(application.connection(), s.direct()));
    test_client b(s.context, s.direct());
    lease first = a.take("lock", leased(long_time));
    // Only that of `b`.
    BOOST_TEST(std::stoi(s.raw.info("clients").at("connected_clients")) <= before + 1);
    const auto fence = first.fence();
    const started waiter = b.lock("lock", patient(long_time));
    s.await_watchers("lock");
    BOOST_TEST(a.released(first) == success);
    run_until(s.context, waiter);
    BOOST_TEST(waiter.lease().fence() > fence);

    // In the other direction, the waiter is woken over a separate small connection.
    const started again = a.lock("lock", patient(long_time));
    s.await_watchers("lock");
    a.await_count(kind::waiting, 2);
    const auto sent = a.stats().acquires_sent;
    BOOST_TEST(b.released(waiter.lease()) == success);
    run_until(s.context, again);
    BOOST_TEST(again.lease().valid());
    BOOST_TEST(a.stats().acquires_sent == sent + 1);
    BOOST_TEST(a.released(again.lease()) == success);
}

BOOST_AUTO_TEST_CASE(application_connection_without_wake_ups_polls)
{
    redis_fixture s;
    redis_application application(s.server.socket());
    test_client a(s.context, make_redis_store(application.connection(), tested_layout()));
    test_client b(s.context, s.direct());
    lease held = b.take("lock", leased(long_time));
    const started waiter = a.lock("lock", brisk(long_time));
    a.await_count(kind::waiting, 3);
    BOOST_TEST(s.raw.channels().empty());
    BOOST_TEST(b.released(held) == success);
    run_until(s.context, waiter);
    BOOST_TEST(waiter.lease().valid());

    // A lease over it is renewed, and survives the end of the connection.
    a.saw->clear();
    const started again = a.lock("short", leased(5s));
    run_until(s.context, again);
    s.raw.done({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    a.await_count(kind::renewed, 2);
    BOOST_TEST(again.lease().valid());
    BOOST_TEST(a.released(again.lease()) == success);
}
