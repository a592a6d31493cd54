#include <boost/test/unit_test.hpp>

#include "support/holder.hpp"
#include "support/only_on.hpp"
#include "support/shifted_clock.hpp"
#include "traps/redis_fixture.hpp"

#include <boost/system/system_error.hpp>

#include <cstdlib>
#include <deque>
#include <functional>
#include <limits>
#include <string>

namespace {

using namespace leasehold;
using namespace leasehold::test;

/// Runs handler by handler, and checks the key after each.
class watched_key
{
public:
    watched_key(redis_fixture& at_server, std::string name, milliseconds longest)
        : site_(at_server), name_(std::move(name)), longest_(longest.count())
    {}

    void until(const std::function<bool()>& done)
    {
        const auto end = std::chrono::steady_clock::now() + ample;
        while (!done()) {
            BOOST_TEST_REQUIRE((std::chrono::steady_clock::now() < end),
                               "it did not happen in time");
            run_some(site_.context, 1);
            look();
        }
    }

    void look()
    {
        const auto left = site_.left(name_);
        seen += left >= 0 ? 1 : 0;
        BOOST_TEST_REQUIRE((left == -2 || (left >= 0 && left <= longest_)),
                           "time to live: " << left);
    }

    int seen = 0;

private:
    redis_fixture& site_;
    std::string name_;
    std::int64_t longest_;
};

void refused(test_client& a, const lock_options& how)
{
    BOOST_CHECK_EXCEPTION(
        mutex(a.locks, "lock", how), boost::system::system_error, [](const auto& error) {
            return error.code() == errc::invalid_option &&
                   std::string(error.what()).find("lease_time") != std::string::npos;
        });
}

} // namespace

BOOST_AUTO_TEST_CASE(C1_wrong_wall_clock_of_a_holder_does_not_affect_its_lock)
{
    if (!shifted_clock::available())
        return;
    redis_fixture s;
    test_client b(s.context, s.direct());
    b.await_connected();
    shifted_clock clock;
    clock.set(1h);
    holder a(s.server, clock.environment());
    const auto wall = [&] { return a.number("wall"); };
    const auto real = [] { return static_cast<long long>(::time(nullptr)); };
    BOOST_TEST(std::abs(wall() - real() - 3600) < 60); // the shim works
    const auto fence = a.lock("lock", 3s);
    BOOST_TEST(s.left("lock") <= 3000);
    const auto renewed = [&] { return a.number("renewed"); };
    for (const auto step : {std::chrono::hours(-3), std::chrono::hours(24 * 365 * 10),
                            std::chrono::hours(-24 * 365 * 20)}) {
        const auto before = renewed();
        clock.set(step);
        BOOST_TEST(std::abs(wall() - real() - std::chrono::seconds(step).count()) < 60);
        BOOST_TEST(a.ask("valid") == "valid 1");
        const started held = b.try_lock("lock", leased(long_time));
        run_until(s.context, held);
        BOOST_TEST(held.code() == error_code(errc::held));
        s.eventually([&] { return renewed() > before; });
        BOOST_TEST(s.left("lock") <= 3000);
    }
    BOOST_TEST(a.ask("release") == "released success");
    lease next = b.take("lock", leased(long_time));
    BOOST_TEST(next.fence() > fence); // it contains no client's clock
}

BOOST_AUTO_TEST_CASE(C1_wall_clock_steps_do_not_affect_a_waiter)
{
    if (!shifted_clock::available())
        return;
    redis_fixture s;
    test_client b(s.context, s.direct());
    lease held = b.take("lock", leased(long_time));
    shifted_clock clock;
    holder waiter(s.server, clock.environment());
    waiter.ask_for_lock("lock", 3s);
    waiter.expect("waiting");
    s.await_watchers("lock");
    for (const auto step :
         {std::chrono::hours(1), std::chrono::hours(-1), std::chrono::hours(24 * 3650)}) {
        clock.set(step);
        waiter.number("wall"); // not granted, and without an error
    }
    BOOST_TEST(held.valid());
    const auto fence = held.fence();
    BOOST_TEST(b.released(held) == success);
    BOOST_TEST(waiter.locked() > fence); // it was still woken up
    BOOST_TEST(s.left("lock") <= 3000);
    BOOST_TEST(waiter.ask("valid") == "valid 1");
}

BOOST_AUTO_TEST_CASE(C4_invalid_lease_times_and_names_are_rejected_at_once)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    for (const auto time : {0ms, -1ms, 9ms, milliseconds(std::chrono::hours(24 * 31)),
                            milliseconds::max(), milliseconds::min()}) {
        refused(a, leased(time));
        lock_options how = leased(time);
        how.renew = false;
        refused(a, how);
    }
    BOOST_CHECK_EXCEPTION(mutex(a.locks, "", leased(long_time)), boost::system::system_error,
                          [](const auto& error) { return error.code() == errc::invalid_name; });
    BOOST_CHECK_EXCEPTION(mutex(a.locks, std::string(4097, 'n'), leased(long_time)),
                          boost::system::system_error,
                          [](const auto& error) { return error.code() == errc::invalid_name; });
    // The key of such a name would be the fence counter of another lock, or of all locks.
    for (const std::string name : {"redisson_lock_token:{order}", "leasehold:fence"}) {
        BOOST_CHECK_EXCEPTION(mutex(a.locks, name, leased(long_time)), boost::system::system_error,
                              [&](const auto& error) {
                                  const std::string text = error.what();
                                  return error.code() == errc::invalid_name &&
                                         text.find(name) != text.npos &&
                                         text.find("does not begin with") != text.npos;
                              });
    }
    a.await_connected();
    BOOST_TEST(a.stats().acquires_sent == 0u);

    // The limits of the range are valid.
    lock_options shortest = leased(10ms);
    shortest.renew = false;
    const started op = a.lock("shortest", shortest);
    run_until(s.context, op);
    BOOST_TEST(op.code() == success);
    BOOST_TEST(s.left("shortest") <= 10);
    lease longest = a.take("longest", leased(std::chrono::hours(24 * 30)));
    BOOST_TEST(longest.valid());
    BOOST_TEST(s.left("longest") > 29LL * 24 * 3600 * 1000);
    BOOST_TEST(s.left("longest") <= 30LL * 24 * 3600 * 1000);
    BOOST_TEST(a.released(longest) == success);
}

BOOST_AUTO_TEST_CASE(C4_extreme_wait_limits_do_not_overflow)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    a.await_connected();
    s.external_lock("lock", long_time);
    for (const auto patience : {milliseconds::min(), -1ms, 0ms}) {
        const started op = a.lock_for(patience, "lock", leased(long_time));
        run_until(s.context, op);
        BOOST_TEST(op.code() == error_code(errc::held));
    }
    std::deque<started> waiting;
    for (const auto patience : {milliseconds::max(), milliseconds::max() - 1ms,
                                milliseconds(std::chrono::hours(24 * 365 * 290))})
        waiting.push_back(a.lock_for(patience, "lock", leased(long_time)));
    s.await_watchers("lock");
    for (const started& each : waiting)
        BOOST_TEST(!each.done());
    s.raw.done({"DEL", "lock"});
    s.raw.done({"PUBLISH", channel_of("lock"), "0"});
    for (const started& each : waiting) {
        run_until(s.context, each);
        BOOST_TEST(a.released(each.lease()) == success);
    }
}

BOOST_AUTO_TEST_CASE(C4_lease_time_does_not_grow_with_each_attempt)
{
    redis_fixture s;
    fault_proxy proxy(s.server);
    test_client a(s.context, redis_fixture::through(proxy));
    a.await_connected();
    s.external_lock("lock", long_time);
    lock_options how = leased(5s);
    how.backoff_floor = 5ms;
    how.backoff_ceiling = 10ms;
    const started op = a.lock("lock", how);
    a.await_count(kind::waiting, 20);
    s.raw.done({"DEL", "lock"});
    run_until(s.context, op);
    BOOST_TEST(s.left("lock") <= 5000);
    BOOST_TEST((op.lease().deadline() <= leasehold::clock::now() + 5s));
    BOOST_TEST(a.released(op.lease()) == success);
    for (int i = 0; i < 3; ++i) {
        proxy.forward_then_reset("lock");
        lease held = a.take("lock", how);
        BOOST_TEST(s.left("lock") <= 5000);
        BOOST_TEST(a.released(held) == success);
    }
}

BOOST_AUTO_TEST_CASE(C5_lock_never_exists_without_a_ttl)
{
    redis_fixture s;
    fault_proxy proxy(s.server);
    test_client a(s.context, redis_fixture::through(proxy));
    test_client b(s.context, s.direct());
    watched_key key(s, "lock", 2s);
    lock_options how = leased(2s);
    how.renew_interval = 50ms;
    key.until([&] { return a.count(kind::connected) > 0; });
    for (int round = 0; round < 6; ++round) {
        if (round == 2)
            s.raw.done({"SCRIPT", "FLUSH"});
        if (round == 3)
            proxy.forward_then_reset("lock");
        if (round == 4)
            proxy.cut_after_request_bytes(150, "lock");
        const started first = a.lock("lock", how);
        const started rival = b.lock("lock", how);
        const started second = a.lock("lock", how); // a local handoff
        int served = 0;
        while (served < 3) {
            key.until([&] { return first.has_lease() || rival.has_lease() || second.has_lease(); });
            for (const started* each : {&first, &rival, &second}) {
                if (!each->has_lease())
                    continue;
                test_client& client = each == &rival ? b : a;
                if (round == 1) {
                    const auto seen = client.count(kind::renewed);
                    key.until([&] { return client.count(kind::renewed) > seen + 1; });
                }
                if (round == 5) {
                    const started again = client.lock("lock", how, each->lease().share_owner());
                    key.until([&] { return again.done(); });
                    const started out = client.release(again.lease());
                    key.until([&] { return out.done(); });
                }
                const started out = client.release(each->lease());
                key.until([&] { return out.done(); });
                ++served;
            }
        }
    }
    BOOST_TEST(key.seen > 50); // the key existed during the checks
    s.await_gone("lock");
}

BOOST_AUTO_TEST_CASE(C5_lock_gets_its_ttl_in_the_same_step)
{
    redis_fixture s;
    resp_client monitor = s.server.connect();
    monitor.done({"MONITOR"});
    test_client a(s.context, s.direct());
    lease held = a.take("lock", leased(long_time));
    BOOST_TEST(a.released(held) == success);
    s.raw.done({"PING", "the end"});
    bool set = false;
    bool expires = true;
    for (;;) {
        const std::string line = monitor.receive().text;
        if (line.find("the end") != std::string::npos)
            break;
        if (line.find("\"SET\" \"lock\"") != std::string::npos) {
            set = true;
            expires = line.find("\"PX\"") != std::string::npos;
        }
        if (line.find("lua") == std::string::npos)
            continue;
        if (line.find("\"HSET\" \"lock\"") != std::string::npos) {
            set = true;
            expires = false;
        }
        if (line.find("\"PEXPIRE\" \"lock\"") != std::string::npos)
            expires = true;
    }
    BOOST_TEST(set);
    BOOST_TEST(expires);
}

BOOST_AUTO_TEST_CASE(fences_rise_after_the_loss_of_all_data)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    std::uint64_t newest = 0;
    const auto grant = [&] {
        lease held = a.take("lock", leased(long_time));
        BOOST_TEST(held.fence() > newest);
        newest = held.fence();
        a.release(held);
    };
    for (int i = 0; i < 20; ++i)
        grant();
    s.raw.done({"FLUSHALL"});
    grant();
    for (int i = 0; i < 500; ++i) { // a counter ahead of the clock would fall back now
        lease held = a.take("lock", leased(long_time));
        newest = held.fence();
        BOOST_TEST_REQUIRE(a.released(held) == success);
    }
    s.raw.done({"FLUSHALL"});
    grant();
    s.raw.done({"DEL", fence_key_of("lock")});
    grant();
    s.server.restart_empty();
    grant();
    s.server.restart_empty();
    grant();
}

BOOST_AUTO_TEST_CASE(fences_rise_after_a_loss_within_a_millisecond)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    std::uint64_t newest = 0;
    for (int i = 0; i < 200; ++i) {
        lease held = a.take("lock", leased(long_time));
        BOOST_TEST_REQUIRE(held.fence() > newest);
        newest = held.fence();
        BOOST_TEST_REQUIRE(a.released(held) == success);
        if (i % 5 == 4)
            s.raw.done({"FLUSHALL"});
    }
}

BOOST_AUTO_TEST_CASE(fences_rise_across_handoffs_and_later_grants)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    test_client b(s.context, s.direct());
    std::uint64_t newest = 0;
    std::uint64_t handed_off = 0;
    for (int round = 0; round < 5; ++round) {
        std::deque<started> waiting;
        for (int i = 0; i < 50; ++i)
            waiting.push_back(a.lock("lock", leased(long_time)));
        for (const started& each : waiting) {
            run_until(s.context, each);
            BOOST_TEST_REQUIRE(each.lease().fence() > newest);
            newest = each.lease().fence();
            a.release(each.lease());
        }
        if (round % 2 == 0) {
            s.raw.done({"FLUSHALL"});
        }
        lease other = b.take("lock", leased(long_time));
        BOOST_TEST(other.fence() > newest);
        newest = other.fence();
        BOOST_TEST(b.released(other) == success);
        handed_off = a.stats().handed_off;
    }
    BOOST_TEST(handed_off > 50u);
}

BOOST_AUTO_TEST_CASE(fences_rise_after_an_old_snapshot)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    lease early = a.take("lock", leased(long_time));
    const auto saved = early.fence();
    s.raw.done({"SAVE"}); // with the lock in it
    BOOST_TEST(a.released(early) == success);
    std::uint64_t newest = saved;
    for (int i = 0; i < 50; ++i) {
        lease held = a.take("lock", leased(long_time));
        BOOST_TEST_REQUIRE(held.fence() > newest);
        newest = held.fence();
        BOOST_TEST_REQUIRE(a.released(held) == success);
    }
    lease last = a.take("lock", leased(long_time));
    newest = last.fence();
    const started lost = a.wait_lost(last);
    s.server.kill();
    s.server.start();
    s.reconnect();
    BOOST_TEST(std::stoull(s.raw.string({"GET", fence_key_of("lock")})) < newest); // an older value
    BOOST_TEST(s.exists("lock"));
    run_until(s.context, lost);
    BOOST_TEST(lost.code() == error_code(errc::lost)); // an earlier owner holds it
    s.raw.done({"DEL", "lock"});
    lease next = a.take("lock", leased(long_time));
    BOOST_TEST(next.fence() > newest);
}

BOOST_AUTO_TEST_CASE(fences_rise_while_the_counter_expires,
                     *only_on(redis_config::key_layout::redisson))
{
    redis_fixture s;
    redis_config settings = s.direct();
    settings.fence_retention = 1s;
    test_client a(s.context, settings);
    lease held = a.take("lock", leased(long_time));
    const auto fence = held.fence();
    BOOST_TEST(a.released(held) == success);
    s.await_gone(fence_key_of("lock")); // a lock per order number leaves no key behind
    BOOST_TEST(s.raw.integer({"DBSIZE"}) == 0);
    lease next = a.take("lock", leased(long_time));
    BOOST_TEST(next.fence() > fence);
}
