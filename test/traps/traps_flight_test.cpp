#include <boost/test/unit_test.hpp>

#include "redis/protocol/script.hpp"
#include "traps/redis_fixture.hpp"

#include <memory>
#include <optional>
#include <string>

// Leases last half a minute here: a key that disappears within a test did not expire.

namespace {

using namespace leasehold;
using namespace leasehold::test;

/// A client behind a proxy, connected.
struct wire_site : redis_fixture
{
    wire_site() { a.await_connected(); }

    fault_proxy proxy{server};
    test_client a{context, through(proxy)};

    /// Waits until nothing is left over: the key is free, and the client has nothing to release.
    void await_clean(const std::string& name)
    {
        // An outstanding request for the name is answered before this one.
        lease other = a.take("other", leased(long_time));
        BOOST_TEST(a.released(other) == success);
        await_gone(name);
        eventually([&] { return a.stats().orphans == 0; });
        BOOST_TEST(!exists(name));
    }
};

} // namespace

BOOST_AUTO_TEST_CASE(F1_lock_cancelled_after_any_number_of_steps_orphans_nothing)
{
    wire_site s;
    int cancelled = 0;
    int leases = 0;
    const asio::cancellation_type types[] = {asio::cancellation_type::terminal,
                                             asio::cancellation_type::partial,
                                             asio::cancellation_type::total};
    for (std::size_t steps = 0; steps < 24; ++steps) {
        const std::string name = "lock" + std::to_string(steps);
        const started op = s.a.lock(name, leased(long_time));
        run_some(s.context, steps);
        op.cancel(types[steps % 3]);
        run_until(s.context, op);
        if (op.has_lease()) {
            ++leases;
            BOOST_TEST(op.code() == success);
            BOOST_TEST(op.lease().valid());
            BOOST_TEST(s.fields(name).at(op.lease().share_owner().id()) == "1");
            BOOST_TEST(s.a.released(op.lease()) == success);
        }
        else {
            ++cancelled;
            BOOST_TEST(op.code() == asio::error::operation_aborted);
        }
        s.await_clean(name);
    }
    BOOST_TEST_MESSAGE(cancelled << " cancelled, " << leases << " got a lease");
    BOOST_TEST(cancelled > 0);
    BOOST_TEST(leases > 0);
}

BOOST_AUTO_TEST_CASE(F1_lock_cancelled_before_its_request_sends_nothing)
{
    redis_fixture s;
    fault_proxy proxy(s.server);
    proxy.refuse();
    test_client a(s.context, redis_fixture::through(proxy));
    const started op = a.lock("lock", leased(long_time));
    run_until(s.context, [&] { return a.count(kind::disconnected) > 0; }, ample);
    op.cancel();
    run_until(s.context, op);
    BOOST_TEST(op.code() == asio::error::operation_aborted);
    proxy.accept();
    a.await_connected();
    lease other = a.take("other", leased(long_time));
    BOOST_TEST(!s.exists("lock"));
    BOOST_TEST(a.stats().acquires_sent == 1u);
}

BOOST_AUTO_TEST_CASE(F1_lock_cancelled_during_its_request_orphans_nothing)
{
    wire_site s;
    s.proxy.stall_requests();
    const started op = s.a.lock("lock", leased(long_time));
    s.eventually([&] { return s.a.stats().acquires_sent == 1; });
    run_some(s.context, 20);
    op.cancel();
    run_until(s.context, op);
    BOOST_TEST(op.code() == asio::error::operation_aborted);
    BOOST_TEST(!s.exists("lock"));
    s.proxy.forward(); // the request arrives now
    s.await_clean("lock");
}

BOOST_AUTO_TEST_CASE(F1_lock_cancelled_during_its_reply_orphans_nothing)
{
    wire_site s;
    s.proxy.stall_replies();
    const started op = s.a.lock("lock", leased(long_time));
    s.eventually([&] { return s.exists("lock"); });
    op.cancel();
    run_until(s.context, op);
    BOOST_TEST(op.code() == asio::error::operation_aborted);
    s.proxy.forward();
    s.await_clean("lock");
    BOOST_TEST(s.a.stats().held == 0u);
}

BOOST_AUTO_TEST_CASE(F2_lost_reply_with_a_lost_connection_orphans_nothing)
{
    wire_site s;
    test_client b(s.context, s.direct());
    s.proxy.forward_then_reset("lock");
    const started op = s.a.lock("lock", leased(long_time));
    run_until(s.context, op);
    BOOST_TEST(op.lease().valid());
    BOOST_TEST(s.a.stats().disconnects == 1u); // the reply was lost
    const auto fields = s.fields("lock");
    BOOST_TEST_REQUIRE(fields.size() == 1u);
    BOOST_TEST(fields.at(op.lease().share_owner().id()) == "1"); // F6: it counts once
    BOOST_TEST(s.a.released(op.lease()) == success);
    BOOST_TEST(!s.exists("lock"));
    lease next = b.take("lock", leased(long_time));
    BOOST_TEST(next.valid());
}

BOOST_AUTO_TEST_CASE(F2_lost_reply_over_a_living_connection_orphans_nothing)
{
    redis_fixture s;
    fault_proxy proxy(s.server);
    redis_config settings = redis_fixture::through(proxy);
    settings.timeout = 400ms;
    test_client a(s.context, settings);
    test_client b(s.context, s.direct());
    a.await_connected();
    proxy.drop_replies();
    const started op = a.lock("lock", leased(long_time));
    s.eventually([&] { return s.exists("lock"); });
    const auto dead = s.fields("lock");
    proxy.forward();
    run_until(s.context, op);
    BOOST_TEST(op.lease().valid());
    BOOST_TEST((s.fields("lock") != dead || dead.count(op.lease().share_owner().id()) == 1));
    BOOST_TEST(s.fields("lock").size() == 1u);
    BOOST_TEST(a.released(op.lease()) == success);
    lease next = b.take("lock", leased(long_time));
    BOOST_TEST(next.valid());
}

BOOST_AUTO_TEST_CASE(F2_lock_of_a_failed_try_goes_to_another_client)
{
    wire_site s;
    test_client b(s.context, s.direct());
    s.proxy.forward_then_reset("lock");
    const started once = s.a.try_lock("lock", leased(long_time));
    const started waiter = b.lock("lock", patient(long_time));
    run_until(s.context, once);
    if (!once.has_lease()) {
        BOOST_TEST((once.code() == condition::store_fault));
        BOOST_TEST(once.code() != error_code(errc::held)); // F5
        run_until(s.context, waiter);
        BOOST_TEST(waiter.lease().valid());
    }
}

BOOST_AUTO_TEST_CASE(F2_connection_cut_at_any_byte_orphans_nothing)
{
    wire_site s;
    for (std::size_t at = 0; at < 330; at += 23) {
        const std::string name = "request" + std::to_string(at);
        s.proxy.cut_after_request_bytes(at, name);
        const started op = s.a.lock(name, leased(long_time));
        run_until(s.context, op);
        BOOST_TEST(op.lease().valid());
        BOOST_TEST(s.fields(name).size() == 1u);
        BOOST_TEST(s.a.released(op.lease()) == success);
        BOOST_TEST(!s.exists(name));
    }
    const auto requests_cut = s.proxy.count().resets;
    BOOST_TEST(requests_cut >= 8u);
    for (std::size_t at = 0; at < 50; at += 7) {
        const std::string name = "reply" + std::to_string(at);
        s.proxy.cut_after_reply_bytes(at, name);
        const started op = s.a.lock(name, leased(long_time));
        run_until(s.context, op);
        BOOST_TEST(op.lease().valid());
        BOOST_TEST(s.fields(name).at(op.lease().share_owner().id()) == "1");
        BOOST_TEST(s.a.released(op.lease()) == success);
        BOOST_TEST(!s.exists(name));
    }
    BOOST_TEST(s.proxy.count().resets >= requests_cut + 5);
}

BOOST_AUTO_TEST_CASE(F3_release_is_sent_although_its_caller_is_cancelled)
{
    wire_site s;
    lease held = s.a.take("lock", leased(long_time));
    const started op = s.a.release(held);
    op.cancel(); // before any handler has run
    run_until(s.context, op);
    BOOST_TEST((op.code() == asio::error::operation_aborted || op.code() == success));
    s.await_clean("lock");
}

BOOST_AUTO_TEST_CASE(F3_release_is_sent_although_the_wait_has_timed_out)
{
    wire_site s;
    test_client b(s.context, s.direct());
    s.proxy.stall_replies();
    const started op = s.a.lock_for(200ms, "lock", leased(long_time));
    s.eventually([&] { return s.exists("lock"); });
    run_until(s.context, op);
    BOOST_TEST(!op.has_lease());
    const started waiter = b.lock("lock", patient(long_time));
    s.proxy.forward();
    run_until(s.context, waiter);
    BOOST_TEST(waiter.lease().valid());
}

BOOST_AUTO_TEST_CASE(F5_retried_acquire_is_not_blocked_by_its_first_request)
{
    wire_site s;
    for (int i = 0; i < 5; ++i) {
        const std::string name = "lock" + std::to_string(i);
        // Its requests may still be executed for a lease time, and are then released.
        s.proxy.forward_then_reset(name);
        const started op = s.a.lock_for(ample, name, patient(2s));
        run_until(s.context, op);
        BOOST_TEST(op.lease().valid());
        BOOST_TEST(s.a.released(op.lease()) == success);
        s.await_clean(name);
    }
    BOOST_TEST(s.a.stats().disconnects == 5u);
    BOOST_TEST(s.a.count(kind::not_acquired) == 0u);
}

BOOST_AUTO_TEST_CASE(F6_retried_reentrant_acquisition_counts_once)
{
    wire_site s;
    lease first = s.a.take("lock", leased(long_time));
    const owner shared = first.share_owner();
    s.proxy.forward_then_reset("lock");
    const started op = s.a.lock("lock", leased(long_time), shared);
    run_until(s.context, op);
    BOOST_TEST(op.lease().valid());
    BOOST_TEST(s.a.stats().disconnects == 1u);
    s.eventually([&] { return s.fields("lock").at(shared.id()) == "2"; });
    BOOST_TEST(s.a.released(op.lease()) == success);
    s.eventually([&] { return s.fields("lock").at(shared.id()) == "1"; });
    BOOST_TEST(first.valid());
    BOOST_TEST(s.a.released(first) == success);
    s.await_clean("lock");
}

BOOST_AUTO_TEST_CASE(F7_release_cancelled_midway_continues)
{
    wire_site s;
    lease held = s.a.take("lock", leased(long_time));
    s.proxy.stall_requests();
    const started op = s.a.release(held);
    run_until(s.context, [&] { return s.a.stats().releases_sent == 1; }, ample);
    run_some(s.context, 20);
    op.cancel();
    run_until(s.context, op);
    BOOST_TEST(op.code() == asio::error::operation_aborted);
    BOOST_TEST(s.exists("lock"));
    s.proxy.forward();
    s.await_clean("lock");
}

BOOST_AUTO_TEST_CASE(F7_release_whose_connection_ends_is_repeated)
{
    wire_site s;
    lease first = s.a.take("one", leased(long_time));
    s.proxy.reset_before("one"); // the request never arrives
    BOOST_TEST(s.a.released(first) == success);
    BOOST_TEST(!s.exists("one"));
    lease second = s.a.take("two", leased(long_time));
    s.proxy.forward_then_reset("two"); // the request arrives, but the client does not know
    BOOST_TEST(s.a.released(second) == success);
    BOOST_TEST(!s.exists("two"));
    BOOST_TEST(s.a.stats().disconnects == 2u);
    BOOST_TEST(s.a.stats().releases_sent >= 4u);
}

BOOST_AUTO_TEST_CASE(F7_repeated_release_does_not_affect_the_next_owner)
{
    wire_site s;
    test_client b(s.context, s.direct());
    lease held = s.a.take("lock", leased(long_time));
    const started waiter = b.lock("lock", patient(long_time));
    s.await_watchers("lock");
    run_until(s.context, [&] { return b.count(kind::waiting) >= 2; }, ample);
    s.proxy.refuse();
    // The fast path finds a waiter, and does nothing.
    const bool native = tested_layout() == redis_config::key_layout::native;
    s.proxy.forward_then_reset(native ? redis_store::of_native().leave.sha
                                      : redis_store::of_queue().leave.sha);
    const started op = s.a.release(held);
    run_until(s.context, waiter); // the next owner holds it before the repetition
    s.proxy.accept();
    run_until(s.context, op);
    BOOST_TEST(op.code() == success);
    BOOST_TEST(s.fields("lock").at(waiter.lease().share_owner().id()) == "1");
    BOOST_TEST(waiter.lease().valid());
}

BOOST_AUTO_TEST_CASE(F8_leases_destroyed_during_an_outage_are_released_after_it)
{
    wire_site s;
    std::optional<lease> held(s.a.take("lock", leased(long_time)));
    std::optional<lease> more(s.a.take("more", leased(long_time)));
    s.proxy.refuse();
    s.proxy.reset_all();
    run_until(s.context, [&] { return s.a.count(kind::disconnected) > 0; }, ample);
    const auto begun = leasehold::clock::now();
    held.reset();
    *more = lease();
    BOOST_TEST((leasehold::clock::now() - begun < 2s)); // without a wait
    run_some(s.context, 20);
    BOOST_TEST(s.exists("lock"));
    BOOST_TEST(s.exists("more"));
    s.proxy.accept();
    s.await_clean("lock");
    s.await_clean("more");
}

BOOST_AUTO_TEST_CASE(F8_client_destroyed_during_an_outage_ends_its_operations)
{
    redis_fixture s;
    fault_proxy proxy(s.server);
    redis_config settings = redis_fixture::through(proxy);
    settings.timeout = 10min; // so that only the end of the client stops its requests
    settings.health_check = 10min;
    lease held;
    started lost;
    started run;
    {
        test_client a(s.context, settings);
        held = a.take("lock", leased(long_time));
        lost = a.wait_lost(held);
        run = a.run;
        proxy.stall();
    }
    run_until(s.context, run);
    BOOST_TEST(run.code() == asio::error::operation_aborted);
    run_until(s.context, lost);
    BOOST_TEST(lost.code() == error_code(errc::shut_down));
    BOOST_TEST(!held.valid());
    held = lease();
}
