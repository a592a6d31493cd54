#include <boost/test/unit_test.hpp>

#include "support/holder.hpp"
#include "traps/redis_fixture.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <string>

namespace {

using namespace leasehold;
using namespace leasehold::test;

} // namespace

BOOST_AUTO_TEST_CASE(R1_released_lease_is_not_renewed)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    // Released at every moment between two renewals, sometimes while one is outstanding.
    lock_options how = leased(600ms);
    how.renew_interval = 10ms;
    int cycles = 0;
    for (; cycles < 40 || a.count(kind::renewed) < 20; ++cycles) {
        lease held = a.take("lock", how);
        run_some(s.context, static_cast<std::size_t>(cycles) % 23);
        if (cycles % 4 == 0)
            a.await_count(kind::renewed, a.count(kind::renewed) + 1);
        BOOST_TEST(a.released(held) == success);
        BOOST_TEST(!s.exists("lock"));
    }
    // Thousands of leases, released too fast to be renewed, each with a timer.
    for (int i = 0; i < 2000; ++i) {
        lease held = a.take("lock", how);
        BOOST_TEST(a.released(held) == success);
    }
    BOOST_TEST(a.stats().held == 0u);
    BOOST_TEST(a.count(kind::lost) == 0u);

    a.saw->clear();
    lease other = a.take("other", how);
    const auto before = s.scripts_run();
    a.await_count(kind::renewed, 10);
    for (const auto& each : a.saw->events(kind::renewed))
        BOOST_TEST(each.name == "other");
    BOOST_TEST(s.scripts_run() - before <= a.count(kind::renewed) + 2); // no other requests
    BOOST_TEST(!s.exists("lock"));
}

BOOST_AUTO_TEST_CASE(R1_release_during_a_renewal_frees_the_lock)
{
    redis_fixture s;
    fault_proxy proxy(s.server);
    test_client a(s.context, redis_fixture::through(proxy));
    lock_options how = leased(10s);
    how.renew_interval = 100ms;
    lease held = a.take("lock", how);
    proxy.stall_requests();
    proxy.forget();
    s.eventually([&] {
        try {
            proxy.wait_for_request("lock", 1, 1ms);
            return true;
        }
        catch (const std::runtime_error&) {
            return false;
        }
    });
    const started op = a.release(held);
    run_some(s.context, 20);
    BOOST_TEST(s.exists("lock"));
    proxy.forward();
    run_until(s.context, op);
    BOOST_TEST(op.code() == success);
    BOOST_TEST(!s.exists("lock"));
    lease other = a.take("other", how);
    a.await_count(kind::renewed, 2);
    BOOST_TEST(!s.exists("lock"));
    for (const auto& each : a.saw->events(kind::renewed))
        BOOST_TEST(each.name == "other");
}

BOOST_AUTO_TEST_CASE(R2_failed_renewal_is_retried)
{
    redis_fixture s;
    fault_proxy proxy(s.server);
    test_client a(s.context, redis_fixture::through(proxy));
    lock_options how = leased(6s);
    how.renew_interval = 100ms;
    lease held = a.take("lock", how);
    const started lost = a.wait_lost(held);
    for (int round = 0; round < 4; ++round) {
        if (round % 2 == 0)
            proxy.reset_before("lock");
        else
            proxy.forward_then_reset("lock");
        a.await_count(kind::renewal_late, static_cast<std::size_t>(round) + 1);
        BOOST_TEST(held.valid());
        const auto deadline = held.deadline();
        a.await_count(kind::renewed, a.count(kind::renewed) + 1);
        BOOST_TEST((held.deadline() > deadline));
    }
    // Now the server rejects the renewal.
    resp_client busy = s.server.connect();
    const auto late = a.count(kind::renewal_late);
    s.make_busy(busy);
    a.await_count(kind::renewal_late, late + 1);
    s.raw.done({"SCRIPT", "KILL"});
    BOOST_TEST(busy.receive().is_error());
    a.await_count(kind::renewed, a.count(kind::renewed) + 1);
    BOOST_TEST(held.valid());
    BOOST_TEST(!lost.done());
    BOOST_TEST(a.stats().lost == 0u);
    BOOST_TEST(a.stats().renewals_failed >= 5u);
    BOOST_TEST(a.released(held) == success);
}

BOOST_AUTO_TEST_CASE(R2_lease_lost_at_its_deadline_stays_lost)
{
    redis_fixture s;
    fault_proxy proxy(s.server);
    test_client a(s.context, redis_fixture::through(proxy));
    test_client b(s.context, s.direct());
    lease held = a.take("lock", leased(900ms));
    const started lost = a.wait_lost(held);
    proxy.stall();
    const auto deadline = held.deadline();
    run_until(s.context, lost);
    BOOST_TEST(lost.code() == error_code(errc::expired));
    BOOST_TEST((leasehold::clock::now() >= deadline));
    BOOST_TEST(!held.valid());
    lease successor = b.take("lock", leased(long_time));
    proxy.forward(); // the stalled renewals arrive now
    s.eventually([&] { return a.stats().renewals_failed > 0; });
    lease other = a.take("other", leased(long_time));
    BOOST_TEST(!held.valid());
    BOOST_TEST(s.fields("lock").at(successor.share_owner().id()) == "1");
    BOOST_TEST((a.released(held) == condition::lease_ended));
    BOOST_TEST(b.released(successor) == success);
}

BOOST_AUTO_TEST_CASE(R4_ten_thousand_leases_are_renewed_in_bounded_batches)
{
    constexpr std::uint64_t locks = 10'000;
    // The keys of the fence counters: one for all names, or one for each.
    const std::int64_t counters = tested_layout() == redis_config::key_layout::native ? 1 : locks;
    redis_fixture s;
    fault_proxy proxy(s.server);
    test_client a(s.context, redis_fixture::through(proxy));
    a.await_connected();
    lock_options how = leased(60s);
    how.renew_interval = 2s;
    std::deque<started> taking;
    while (taking.size() < locks) {
        // In groups: a request has five seconds, which is not much for ten thousand under a
        // sanitizer.
        for (int i = 0; i < 500; ++i)
            taking.push_back(a.lock("lock" + std::to_string(taking.size()), how));
        run_until(s.context, [&] { return a.stats().held == taking.size(); }, ample);
    }
    BOOST_TEST(s.raw.integer({"DBSIZE"}) == static_cast<std::int64_t>(locks) + counters);

    // Reads every request and stops none.
    const auto longest = std::make_shared<std::atomic<std::size_t>>(0);
    const auto requests = std::make_shared<std::atomic<std::size_t>>(0);
    proxy.reset_before([longest, requests](std::string_view request) {
        *longest = std::max(longest->load(), request.size());
        ++*requests;
        return false;
    });
    const auto before = a.stats().renewed;
    run_until(s.context, [&] { return a.stats().renewed - before >= 2 * locks; }, 3 * ample);
    BOOST_TEST(a.stats().lost == 0u);
    BOOST_TEST(a.stats().held == locks);
    BOOST_TEST(a.stats().renewals_failed == 0u);
    BOOST_TEST(*longest > 0u);
    BOOST_TEST(*longest < 16'384u);        // no command occupies the server for long
    BOOST_TEST(*requests < 2 * locks / 5); // renewals share requests
    for (const started& each : taking)
        BOOST_TEST_REQUIRE(each.lease().valid());
    const started stopped = a.shut_down();
    run_until(s.context, [&] { return stopped.done(); }, 3 * ample);
    BOOST_TEST(stopped.code() == success);
    BOOST_TEST(!s.exists("lock0"));
    BOOST_TEST(s.raw.integer({"DBSIZE"}) == counters);
}

BOOST_AUTO_TEST_CASE(R5_deadline_counts_from_the_send_with_a_server)
{
    redis_fixture s;
    fault_proxy proxy(s.server);
    test_client a(s.context, redis_fixture::through(proxy));
    a.await_connected();
    lock_options how = leased(10s);
    how.renew_interval = 500ms;
    const auto margin = 10s / 100;

    proxy.stall_replies();
    const started op = a.lock("lock", how);
    s.eventually([&] { return s.exists("lock"); });
    const auto sent_before = leasehold::clock::now();
    s.eventually([&] { return s.left("lock") <= 9'500; });
    proxy.forward();
    run_until(s.context, op);
    lease& held = op.lease();
    BOOST_TEST((held.deadline() <= sent_before + 10s - margin));

    // The same for a renewal.
    s.eventually([&] { return s.left("lock") <= 9'900; });
    const auto renewals = a.count(kind::renewed);
    a.await_count(kind::renewed, renewals + 1);
    proxy.stall_replies();
    const auto old = held.deadline();
    s.raw.done({"PEXPIRE", "lock", "5000"});
    s.eventually([&] { return s.left("lock") > 9'000; }); // a renewal was executed
    const auto renewed_before = leasehold::clock::now();
    s.eventually([&] { return s.left("lock") <= 9'500; });
    const auto confirmed = a.count(kind::renewed);
    proxy.forward();
    a.await_count(kind::renewed, confirmed + 1);
    BOOST_TEST((held.deadline() > old));
    BOOST_TEST((held.deadline() <= renewed_before + 10s - margin));
    BOOST_TEST(a.released(held) == success);
}

BOOST_AUTO_TEST_CASE(R5_reply_after_the_lease_time_is_no_grant)
{
    redis_fixture s;
    fault_proxy proxy(s.server);
    test_client a(s.context, redis_fixture::through(proxy));
    a.await_connected();
    proxy.stall_replies();
    const started op = a.lock("lock", leased(400ms));
    s.eventually([&] { return s.exists("lock"); });
    s.await_gone("lock");
    BOOST_TEST(!op.done());
    proxy.forward();
    run_until(s.context, op);
    BOOST_TEST(op.lease().valid()); // of another request
    BOOST_TEST(a.stats().acquires_sent >= 2u);
    BOOST_TEST(s.fields("lock").count(op.lease().share_owner().id()) == 1u);
}

BOOST_AUTO_TEST_CASE(R6_renewal_does_not_shorten_the_ttl)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    lease held = a.take("lock", leased(1500ms));
    s.raw.done({"PEXPIRE", "lock", "60000"});
    a.await_count(kind::renewed, 2);
    BOOST_TEST(s.left("lock") > 30'000);
    s.raw.done({"PERSIST", "lock"});
    a.await_count(kind::renewed, 4);
    BOOST_TEST(s.left("lock") == -1);
    BOOST_TEST(held.valid());
    BOOST_TEST(a.released(held) == success);
    BOOST_TEST(!s.exists("lock"));
}

BOOST_AUTO_TEST_CASE(R8_every_operation_can_be_called_in_the_handler_of_a_loss)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    lease held = a.take("lock", leased(1500ms));
    started released;
    started reentered;
    started again;
    bool reported = false;
    held.async_wait_lost([&](error_code code) {
        BOOST_TEST(code == error_code(errc::lost));
        BOOST_TEST(!held.valid());
        BOOST_TEST(held.fence() > 0u);
        BOOST_TEST(a.stats().held == 0u);
        const owner shared = held.share_owner();
        reentered = a.lock("lock", leased(long_time), shared);
        released = a.release(held);
        again = a.lock("lock", leased(long_time));
        reported = true;
    });
    s.raw.done({"DEL", "lock"});
    run_until(s.context, [&] { return reported; }, ample);
    run_until(s.context, released);
    BOOST_TEST(released.code() == error_code(errc::lost));
    run_until(s.context, reentered);
    BOOST_TEST(reentered.code() == error_code(errc::lost));
    run_until(s.context, again);
    BOOST_TEST(again.lease().valid());
}

BOOST_AUTO_TEST_CASE(R8_observer_can_lock_again_when_a_lease_is_lost)
{
    struct meddler final : observer
    {
        void lost(std::string_view name, std::uint64_t, duration, error_code,
                  const diagnostics&) noexcept override
        {
            ++losses;
            const lease gone = std::move(held);
            mutex(*locks, name, leased(long_time)).async_lock([this](error_code code, lease got) {
                failed = code;
                held = std::move(got);
                done = true;
            });
        }
        client* locks = nullptr;
        lease held;
        error_code failed;
        int losses = 0;
        bool done = false;
    };
    redis_fixture s;
    const auto saw = std::make_shared<meddler>();
    client locks(s.context, make_redis_store(s.direct()), saw);
    saw->locks = &locks;
    locks.async_run([](error_code) {});
    bool taken = false;
    mutex(locks, "lock", leased(1500ms)).async_lock([&](error_code code, lease got) {
        BOOST_TEST(code == success);
        saw->held = std::move(got);
        taken = true;
    });
    run_until(s.context, [&] { return taken; }, ample);
    const auto fence = saw->held.fence();
    s.raw.done({"DEL", "lock"});
    run_until(s.context, [&] { return saw->done; }, ample);
    BOOST_TEST(saw->failed == success);
    BOOST_TEST(saw->losses == 1);
    BOOST_TEST(saw->held.valid());
    BOOST_TEST(saw->held.fence() > fence);
    saw->held = lease();
    s.await_gone("lock");
}

BOOST_AUTO_TEST_CASE(R9_process_stopped_beyond_its_lease_does_not_affect_the_successor)
{
    redis_fixture s;
    test_client b(s.context, s.direct());
    b.await_connected();
    for (int round = 0; round < 3; ++round) {
        holder stopped(s.server);
        const auto fence = stopped.lock("lock", 900ms);
        BOOST_TEST(stopped.ask("valid") == "valid 1");
        const started waiter = b.lock("lock", leased(long_time));
        stopped.pause();
        run_until(s.context, waiter); // granted when the TTL has passed
        BOOST_TEST(waiter.lease().fence() > fence);
        // The first action when it continues.
        stopped.write_line("valid");
        stopped.write_line("valid");
        stopped.resume();
        bool lost = false;
        int looked = 0;
        while (!lost || looked < 2) {
            const std::string line = stopped.read_line().value();
            BOOST_TEST(line != "valid 1");
            looked += line == "valid 0";
            if (line.starts_with("lost ")) {
                lost = true;
                const bool known = line == "lost expired" || line == "lost lost";
                BOOST_TEST(known, line);
            }
        }
        // The renewals and the release of the stopped process do not affect the successor, and
        // restore nothing.
        const std::string released = stopped.ask("release");
        BOOST_TEST(released.starts_with("released "), released);
        BOOST_TEST(released != "released success");
        BOOST_TEST(stopped.ask("valid") == "valid 0");
        const auto fields = s.fields("lock");
        BOOST_TEST(fields.size() == 1u);
        BOOST_TEST(fields.count(waiter.lease().share_owner().id()) == 1u);
        BOOST_TEST(stopped.ask("try lock 900") == "waiting");
        BOOST_TEST(stopped.read_line().value() == "failed held");
        BOOST_TEST(waiter.lease().valid());
        BOOST_TEST(b.released(waiter.lease()) == success);
        BOOST_TEST(!s.exists("lock"));
        stopped.close_input();
        BOOST_TEST(stopped.wait().code == 0);
    }
}

BOOST_AUTO_TEST_CASE(R9_process_stopped_shortly_keeps_its_lease)
{
    redis_fixture s;
    holder stopped(s.server);
    stopped.lock("lock", 30s);
    stopped.pause();
    stopped.write_line("valid");
    stopped.resume();
    BOOST_TEST(stopped.read_line().value() == "valid 1");
    BOOST_TEST(stopped.ask("release") == "released success");
    BOOST_TEST(!s.exists("lock"));
}

BOOST_AUTO_TEST_CASE(R10_hanging_holder_loses_its_lease_at_the_longest_hold)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    test_client b(s.context, s.direct());
    lock_options how = leased(600ms);
    how.longest_hold = 1200ms;
    lease hanging = a.take("lock", how);
    const started lost = a.wait_lost(hanging);
    const auto fence = hanging.fence();
    const started waiter = b.lock("lock", patient(long_time));
    run_until(s.context, lost);
    BOOST_TEST(lost.code() == error_code(errc::hold_limit));
    BOOST_TEST(a.count(kind::renewed) >= 1u); // the holder renewed before
    BOOST_TEST(!hanging.valid());
    run_until(s.context, waiter); // although the lease was never released
    BOOST_TEST(waiter.lease().fence() > fence);
    BOOST_TEST(a.stats().held == 0u);
    BOOST_TEST((a.released(hanging) == condition::lease_ended));
    BOOST_TEST(waiter.lease().valid());
    BOOST_TEST(s.fields("lock").count(waiter.lease().share_owner().id()) == 1u);
}

BOOST_AUTO_TEST_CASE(R10_handoff_does_not_extend_the_longest_hold)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    lock_options how = leased(600ms);
    how.longest_hold = 1000ms;
    how.handoff_time = 60s;
    lease first = a.take("lock", how);
    const started next = a.lock("lock", how);
    run_some(s.context, 50);
    BOOST_TEST(a.released(first) == success);
    run_until(s.context, next);
    const started lost = a.wait_lost(next.lease());
    run_until(s.context, lost);
    BOOST_TEST(lost.code() == error_code(errc::hold_limit));
    BOOST_TEST(!next.lease().valid());
    s.await_gone("lock");
}
