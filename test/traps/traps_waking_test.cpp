#include <boost/test/unit_test.hpp>

#include "redis/protocol/script.hpp"
#include "support/only_on.hpp"
#include "traps/redis_fixture.hpp"

#include <leasehold/redis.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

// Leases last half a minute here, and waiters poll by themselves after half a minute at the
// earliest. A waiter that gets the lock within the limit of a test was woken up.

using namespace leasehold;
using namespace leasehold::test;

namespace {

/// The number of polls of a client before its notification: the first, the one that enters the
/// queue, and the one after its subscription.
std::size_t polls()
{
    return 3;
}

/// One client holds the lock, and another one is connected.
struct one_holds
{
    redis_fixture s;
    test_client a{s.context, s.direct()};
    test_client b{s.context, s.direct()};
    lease held = a.take("lock", leased(long_time));
};

/// The other client reaches the server through a proxy.
struct one_holds_one_is_far
{
    redis_fixture s;
    fault_proxy proxy{s.server};
    test_client a{s.context, s.direct()};
    test_client b{s.context, redis_fixture::through(proxy)};
    lease held = a.take("lock", leased(long_time));
};

} // namespace

BOOST_FIXTURE_TEST_CASE(W1_release_before_the_subscription_wakes_the_waiter, one_holds_one_is_far)
{
    const started waiter = b.lock("lock", patient(long_time));
    b.await_count(kind::waiting);
    proxy.stall(); // the subscription has not begun
    BOOST_TEST(a.released(held) == success);
    BOOST_TEST(!s.exists("lock"));
    BOOST_TEST(s.watchers("lock") == 0);
    proxy.forward();
    run_until(s.context, waiter);
    BOOST_TEST(waiter.lease().valid());
}

BOOST_FIXTURE_TEST_CASE(W1_release_during_a_lost_subscription_wakes_the_waiter,
                        one_holds_one_is_far)
{
    proxy.reset_before("SUBSCRIBE");
    const started waiter = b.lock("lock", patient(long_time));
    s.eventually([&] { return proxy.count().resets > 0; });
    BOOST_TEST(a.released(held) == success);
    run_until(s.context, waiter);
    BOOST_TEST(waiter.lease().valid());
}

BOOST_AUTO_TEST_CASE(W3_waiter_acquires_an_expired_lock_without_a_message)
{
    redis_fixture s;
    test_client b(s.context, s.direct());
    b.await_connected();
    s.external_lock("lock", 700ms);
    const started waiter = b.lock("lock", patient(long_time));
    s.await_watchers("lock");
    BOOST_TEST(!waiter.done());
    run_until(s.context, waiter);
    BOOST_TEST(waiter.lease().valid());
    BOOST_TEST(s.fields("lock").count("another:1") == 0u);
}

BOOST_AUTO_TEST_CASE(W3_waiter_acquires_a_deleted_key_without_a_ttl)
{
    redis_fixture s;
    test_client b(s.context, s.direct());
    if (tested_layout() == redis_config::key_layout::native)
        s.raw.done({"SET", "lock", "another:1"});
    else
        s.raw.done({"HSET", "lock", "another:1", "1"});
    lock_options how = leased(long_time);
    how.backoff_ceiling = 100ms;
    const started waiter = b.lock("lock", how);
    b.await_count(kind::suspect_expiry, 3);
    BOOST_TEST(!waiter.done());
    s.raw.done({"DEL", "lock"});
    run_until(s.context, waiter);
    BOOST_TEST(waiter.lease().valid());
    BOOST_TEST(s.left("lock") > 0); // the lock of this client expires
}

BOOST_FIXTURE_TEST_CASE(W3_waiter_acquires_after_flushall, one_holds)
{
    const auto fence = held.fence();
    lock_options how = leased(long_time);
    how.backoff_ceiling = 100ms;
    const started waiter = b.lock("lock", how);
    b.await_count(kind::waiting, polls());
    s.raw.done({"FLUSHALL"});
    run_until(s.context, waiter);
    BOOST_TEST(waiter.lease().valid());
    BOOST_TEST(waiter.lease().fence() > fence);
    BOOST_TEST(a.released(held) == error_code(errc::not_owner));
    BOOST_TEST(waiter.lease().valid());
    BOOST_TEST(s.exists("lock"));
}

BOOST_FIXTURE_TEST_CASE(W4_release_during_a_lost_subscription_wakes_the_waiter,
                        one_holds_one_is_far)
{
    const started waiter = b.lock("lock", patient(long_time));
    s.await_watchers("lock");

    proxy.refuse();
    s.raw.done({"CLIENT", "KILL", "TYPE", "pubsub"});
    s.eventually([&] { return s.raw.channels().empty(); });
    BOOST_TEST(a.released(held) == success);
    BOOST_TEST(!waiter.done());
    proxy.accept();
    run_until(s.context, waiter);
    BOOST_TEST(waiter.lease().valid());
    BOOST_TEST(b.stats().disconnects == 0u); // only the subscription was down

    // The subscription works again, and was not replaced by a single poll.
    const started next = a.lock("lock", patient(long_time));
    s.await_watchers("lock");
    BOOST_TEST(b.released(waiter.lease()) == success);
    run_until(s.context, next);
    const started last = b.lock("lock", patient(long_time));
    b.await_count(kind::waiting, polls());
    BOOST_TEST(a.released(next.lease()) == success);
    run_until(s.context, last);
    BOOST_TEST(last.lease().valid());
}

BOOST_FIXTURE_TEST_CASE(W8_wake_up_of_a_cancelled_waiter_serves_the_next_of_its_client, one_holds)
{
    const started first = b.lock("lock", patient(long_time));
    const started second = b.lock("lock", patient(long_time));
    s.await_watchers("lock");
    b.await_count(kind::waiting, polls()); // it has polled again after the subscription
    const auto sent = b.stats().acquires_sent;
    const started released = a.release(held);
    // Woken up for the first waiter.
    run_until(s.context, [&] { return b.stats().acquires_sent > sent; }, ample);
    first.cancel();
    run_until(s.context, first);
    BOOST_TEST(first.code() == asio::error::operation_aborted);
    run_until(s.context, second);
    BOOST_TEST(second.lease().valid());
    run_until(s.context, released);
}

BOOST_AUTO_TEST_CASE(W8_wake_up_of_a_cancelled_waiter_serves_another_client)
{
    redis_fixture s;
    fault_proxy proxy_b(s.server);
    fault_proxy proxy_c(s.server);
    test_client a(s.context, s.direct());
    test_client b(s.context, redis_fixture::through(proxy_b));
    test_client c(s.context, redis_fixture::through(proxy_c));
    lease held = a.take("lock", leased(long_time));
    const started first = b.lock("lock", patient(long_time));
    const started second = c.lock("lock", patient(long_time));
    s.await_watchers("lock", 2);
    b.await_count(kind::waiting, polls());
    c.await_count(kind::waiting, polls());

    const auto sent = b.stats().acquires_sent;
    proxy_c.stall_requests(); // b is faster
    const started released = a.release(held);
    run_until(s.context, [&] { return b.stats().acquires_sent > sent; }, ample);
    proxy_b.stall_replies();
    s.eventually([&] { return s.exists("lock") || b.count(kind::acquired) > 0; });
    BOOST_TEST_REQUIRE(!first.done()); // b holds it in the store, and does not know yet
    first.cancel();
    run_until(s.context, first);
    BOOST_TEST(first.code() == asio::error::operation_aborted);
    proxy_c.forward();
    proxy_b.forward();
    run_until(s.context, second);
    BOOST_TEST(second.lease().valid());
    run_until(s.context, released);
}

BOOST_AUTO_TEST_CASE(P1_client_without_wake_ups_polls_rarely_for_all_its_waiters)
{
    redis_fixture s;
    s.raw.done({"ACL", "SETUSER", "deaf", "on", ">secret", "~*", "&*", "+@all", "-subscribe"});
    redis_config settings = s.direct();
    settings.user = "deaf";
    settings.password = "secret";
    test_client b(s.context, settings);
    b.await_connected();
    s.external_lock("lock", 2s);
    std::deque<started> waiters;
    for (int i = 0; i < 50; ++i)
        waiters.push_back(b.lock("lock", leased(long_time)));
    s.raw.reset_calls();
    run_until(s.context, waiters.front());
    BOOST_TEST(waiters.front().lease().valid());
    // The pauses double from 20 ms to a second: about ten polls in two seconds, and twice that in
    // the worst case.
    BOOST_TEST(b.stats().acquires_sent < 40u);
    BOOST_TEST(s.raw.calls("subscribe") < 20u);
    std::uint64_t commands = 0;
    for (const auto& [name, calls] : s.raw.calls())
        commands += name == "info" || name.starts_with("config") ? 0 : calls;
    BOOST_TEST(commands < 40u * 12); // including the commands inside the scripts
}

BOOST_AUTO_TEST_CASE(P1_commands_per_handoff_are_bounded)
{
    constexpr std::size_t clients = 8;
    redis_fixture s;
    test_client a(s.context, s.direct());
    lease held = a.take("lock", leased(long_time));
    std::deque<test_client> others;
    std::deque<started> waiters;
    for (std::size_t i = 0; i < clients; ++i) {
        others.emplace_back(s.context, s.direct());
        waiters.push_back(others.back().lock("lock", patient(long_time)));
    }
    s.await_watchers("lock", clients);
    for (test_client& each : others)
        each.await_count(kind::waiting, polls());

    std::uint64_t before = 0;
    for (test_client& each : others)
        before += each.stats().acquires_sent;
    BOOST_TEST(before == polls() * clients);
    BOOST_TEST(a.released(held) == success);
    for (std::size_t served = 0; served < clients; ++served) {
        std::size_t who = clients;
        run_until(
            s.context,
            [&] {
                for (std::size_t i = 0; i < clients; ++i)
                    if (waiters[i].done() && waiters[i].has_lease())
                        who = i;
                return who < clients;
            },
            ample);
        BOOST_TEST(others[who].released(waiters[who].lease()) == success);
    }
    std::uint64_t after = 0;
    for (test_client& each : others)
        after += each.stats().acquires_sent;
    // Each release wakes each remaining waiting client once, or twice if the message met an
    // outstanding poll.
    BOOST_TEST(after - before <= clients * (clients + 1));
}

BOOST_AUTO_TEST_CASE(P2_number_of_channels_returns_to_zero,
                     *only_on(redis_config::key_layout::redisson))
{
    constexpr int names = 200;
    redis_fixture s;
    test_client b(s.context, s.direct());
    b.await_connected();
    for (int i = 0; i < names; ++i)
        s.external_lock("lock" + std::to_string(i), long_time);
    const auto connections = std::stoi(s.raw.info("clients").at("connected_clients"));
    std::deque<started> waiters;
    for (int i = 0; i < names; ++i)
        waiters.push_back(b.lock("lock" + std::to_string(i), patient(long_time)));
    // One more channel is for its grants, over a separate connection.
    s.eventually([&] { return s.raw.channels().size() == names + 1; });
    BOOST_TEST(b.stats().watched == static_cast<std::uint64_t>(names));
    BOOST_TEST(std::stoi(s.raw.info("clients").at("connected_clients")) == connections + 2);

    // Some waiters are cancelled, and some acquire.
    for (int i = 0; i < names; i += 2)
        waiters[static_cast<std::size_t>(i)].cancel();
    for (int i = 1; i < names; i += 2) {
        const std::string name = "lock" + std::to_string(i);
        s.raw.done({"DEL", name});
        s.raw.done({"PUBLISH", channel_of(name), "0"});
    }
    for (int i = 0; i < names; ++i) {
        const started& each = waiters[static_cast<std::size_t>(i)];
        run_until(s.context, each);
        BOOST_TEST_REQUIRE(each.has_lease() == (i % 2 == 1));
        if (each.has_lease())
            b.release(each.lease());
    }
    s.eventually([&] { return s.raw.channels().size() == 1; });
    BOOST_TEST(b.stats().watched == 0u);
}

BOOST_FIXTURE_TEST_CASE(release_wakes_a_remote_waiter_within_a_round_trip, one_holds)
{
    const auto fence = held.fence();
    const started waiter = b.lock("lock", patient(long_time));
    s.await_watchers("lock");
    b.await_count(kind::waiting, polls());
    const auto sent = b.stats().acquires_sent;
    BOOST_TEST(a.released(held) == success);
    run_until(s.context, waiter);
    BOOST_TEST(b.stats().acquires_sent == sent + 1); // one message and one request
    BOOST_TEST(waiter.lease().fence() > fence);
}

BOOST_AUTO_TEST_CASE(redisson_clients_wake_and_are_woken,
                     *only_on(redis_config::key_layout::redisson))
{
    redis_fixture s;
    resp_client listener = s.server.connect();
    listener.done({"SUBSCRIBE", channel_of("lock")});
    test_client a(s.context, s.direct());
    a.await_connected();

    s.external_lock("lock", long_time, "3b5c8f5e-0000-4000-8000-000000000000:42");
    const started waiter = a.lock("lock", patient(long_time));
    s.eventually([&] { return s.raw.subscribers(channel_of("lock")) == 2; });
    a.await_count(kind::waiting, polls());
    s.raw.done({"DEL", "lock"});
    s.raw.done({"PUBLISH", channel_of("lock"), "0"});
    run_until(s.context, waiter);
    const auto fields = s.fields("lock");
    BOOST_TEST_REQUIRE(fields.size() == 1u);
    BOOST_TEST(fields.begin()->second == "1");              // the count of Redisson
    BOOST_TEST(listener.receive().items.at(2).text == "0"); // the message of this test

    BOOST_TEST(a.released(waiter.lease()) == success);
    const resp_value message = listener.receive();
    BOOST_TEST(message.items.at(1).text == channel_of("lock"));
    // Redisson fails on a message that is not an integer
    BOOST_TEST(message.items.at(2).text == "0");
}

// A Redisson client waits on the release channel. It gets the lock although clients of this library
// always hold it and hand it to the next in their queue.
BOOST_AUTO_TEST_CASE(external_client_acquires_a_lock_beside_a_queue,
                     *only_on(redis_config::key_layout::redisson))
{
    redis_fixture s;
    resp_client listener = s.server.connect();
    listener.done({"SUBSCRIBE", channel_of("lock")});
    test_client a(s.context, s.direct());
    test_client b(s.context, s.direct());
    std::deque<started> waiters;
    lease held = a.take("lock", leased(long_time));
    waiters.push_back(b.lock("lock", patient(long_time)));
    s.await_watchers("lock");
    const std::string external_owner = "3b5c8f5e-0000-4000-8000-000000000000:42";
    // Like the script of Redisson, which acquires a free lock.
    const std::string take = "if redis.call('exists', KEYS[1]) == 0 then "
                             "redis.call('hincrby', KEYS[1], ARGV[1], 1) "
                             "redis.call('pexpire', KEYS[1], 30000) return 1 end return 0";
    bool is_in = false;
    for (int i = 0; i < 2000 && !is_in; ++i) {
        test_client& other = i % 2 == 0 ? a : b;
        BOOST_TEST_REQUIRE(other.released(held) == success);
        is_in = s.raw.integer({"EVAL", take, "1", "lock", external_owner}) == 1;
        if (is_in)
            break;
        waiters.push_back(other.lock("lock", patient(long_time)));
        const started& next = waiters[waiters.size() - 2];
        run_until(s.context, next);
        held = std::move(next.lease());
        s.await_watchers("lock");
    }
    BOOST_TEST_REQUIRE(is_in);
    BOOST_TEST(listener.receive().items.at(2).text == "0");
    // The first waiter in the queue receives the release of the external client.
    s.eventually([&] { return s.raw.subscribers(channel_of("lock")) > 1; });
    s.raw.done({"DEL", "lock"});
    s.raw.done({"PUBLISH", channel_of("lock"), "0"});
    run_until(s.context, waiters.back());
    BOOST_TEST(waiters.back().lease().valid());
}

// The external client polls again at once, and could otherwise hold the lock until its free time
// ends.
BOOST_AUTO_TEST_CASE(external_client_gets_one_turn_and_not_the_next,
                     *only_on(redis_config::key_layout::redisson))
{
    redis_fixture s;
    test_client b(s.context, s.direct());
    const std::string external_owner = "3b5c8f5e-0000-4000-8000-000000000000:42";
    const std::string before = "3b5c8f5e-0000-8000-8000-000000000000:1"; // uses the queue
    lock_options polls_often = patient(long_time);
    polls_often.backoff_floor = lock_options().backoff_floor;
    polls_often.backoff_ceiling = lock_options().backoff_ceiling;
    const auto server_us = [&] {
        const auto time = s.raw.strings({"TIME"});
        return std::stoll(time.at(0)) * 1'000'000 + std::stoll(time.at(1));
    };
    std::int64_t left = 0;
    for (int i = 0; i < 20 && left <= 0; ++i) { // until the machine was fast enough
        s.external_lock("lock", long_time, before);
        const started waiter = b.lock("lock", polls_often);
        s.await_watchers("lock");
        const resp_value open = s.raw.command(
            {"EVAL", std::string(redis_store::of_queue().leave.text), "4", "lock",
             "redisson_lock_token:{lock}", "leasehold:line:{lock}", "leasehold:waiters:{lock}",
             before, "", channel_of("lock"), "leasehold:turn:", "1000"});
        BOOST_TEST_REQUIRE(open.items.at(0).number == 5);
        const std::int64_t end = server_us() + 1'000'000;
        // The waiter is subscribed from the start, to receive the release of the external client.
        s.eventually([&] { return s.raw.subscribers(channel_of("lock")) == 1; });
        s.external_lock("lock", long_time, external_owner);
        // The first waiter finds the lock held, and is then no longer kept out.
        s.eventually([&] {
            const auto all = s.raw.strings({"HVALS", "leasehold:waiters:{lock}"});
            return std::count(all.at(0).begin(), all.at(0).end(), ' ') == 3;
        });
        s.raw.done({"DEL", "lock"});
        s.raw.done({"PUBLISH", channel_of("lock"), "0"});
        run_until(s.context, waiter);
        left = end - server_us();
        BOOST_TEST_REQUIRE(waiter.has_lease());
        BOOST_TEST(b.released(waiter.lease()) == success);
    }
    BOOST_TEST(left > 0);
}

BOOST_FIXTURE_TEST_CASE(unexpected_messages_grant_nothing, one_holds)
{
    const started waiter = b.lock("lock", patient(long_time));
    s.await_watchers("lock");
    b.await_count(kind::waiting, polls());
    for (const char* text : {"1", "0", "0", "", "not a number", "-99999999999999999999"})
        s.raw.done({"PUBLISH", channel_of("lock"), text});
    BOOST_TEST(!waiter.done());
    BOOST_TEST(held.valid());
    BOOST_TEST(b.stats().acquires_sent <= polls() + 6u);
    BOOST_TEST(a.released(held) == success);
    run_until(s.context, waiter);
    BOOST_TEST(waiter.lease().valid());
}

BOOST_AUTO_TEST_CASE(C6_wait_limit_includes_connecting)
{
    redis_fixture s;
    fault_proxy proxy(s.server);
    proxy.refuse();
    test_client b(s.context, redis_fixture::through(proxy));
    const auto begun = leasehold::clock::now();
    const started refused = b.lock_for(300ms, "lock", leased(long_time));
    run_until(s.context, refused);
    BOOST_TEST(refused.code() == error_code(errc::store_unavailable));
    BOOST_TEST((leasehold::clock::now() - begun >= 300ms));
    BOOST_TEST(b.stats().acquires_sent == 0u);

    // A server that accepts the connection and never answers.
    proxy.stall();
    proxy.accept();
    test_client c(s.context, redis_fixture::through(proxy));
    const started silent = c.lock_for(300ms, "lock", leased(long_time));
    run_until(s.context, silent);
    BOOST_TEST((silent.code() == condition::store_fault));

    // The server is known to be unreachable: a try sends no request.
    proxy.refuse();
    proxy.reset_all();
    run_until(s.context, [&] { return b.count(kind::disconnected) > 0; }, ample);
    const started once = b.try_lock("lock", leased(long_time));
    run_until(s.context, once);
    BOOST_TEST(once.code() == error_code(errc::store_unavailable));
    BOOST_TEST(b.stats().acquires_sent == 0u);
    BOOST_TEST(!s.exists("lock"));
}

BOOST_AUTO_TEST_CASE(C6_wait_limit_includes_subscribing)
{
    redis_fixture s;
    fault_proxy proxy(s.server);
    test_client b(s.context, redis_fixture::through(proxy));
    b.await_connected();
    s.external_lock("lock", long_time);
    const started waiter = b.lock_for(400ms, "lock", patient(long_time));
    b.await_count(kind::waiting);
    proxy.stall(); // the subscription is not confirmed
    const auto at = leasehold::clock::now();
    run_until(s.context, waiter);
    BOOST_TEST(waiter.code() == error_code(errc::timed_out));
    BOOST_TEST((leasehold::clock::now() - at < 10s));
    proxy.forward();
    BOOST_TEST(s.fields("lock").at("another:1") == "1");
}

BOOST_AUTO_TEST_CASE(C6_limit_of_zero_is_one_try)
{
    redis_fixture s;
    test_client b(s.context, s.direct());
    b.await_connected();
    s.external_lock("lock", long_time);
    const started once = b.lock_for(0ms, "lock", leased(long_time));
    run_until(s.context, once);
    BOOST_TEST(once.code() == error_code(errc::held));
    BOOST_TEST(b.stats().acquires_sent == 1u);
    s.raw.done({"DEL", "lock"});
    const started again = b.lock_for(0ms, "lock", leased(long_time));
    run_until(s.context, again);
    BOOST_TEST(again.lease().valid());
    lock_options how = leased(long_time);
    how.wait_limit = 0ms;
    const started third = b.lock("lock", how);
    run_until(s.context, third);
    BOOST_TEST(third.code() == error_code(errc::held));
}
