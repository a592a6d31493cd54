// How a client stops: which calls are rejected, released, and waited for.
#include <boost/test/unit_test.hpp>

#include "support/core_checks.hpp"

#include <utility>
#include <vector>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using left = release_reply::outcome;

BOOST_AUTO_TEST_SUITE(core_shutdown)

BOOST_AUTO_TEST_CASE(P3_shutdown_ends_waiters_and_leases_and_releases_all_locks)
{
    core_fixture e;
    lease a = e.taken(e.spec("a"));
    const auto waits = e.lock("a");
    const auto contends = e.lock("b");
    const auto reenters = e.lock(e.spec("a"), clock::duration::max(), a.share_owner());
    const auto lost = e.wait_lost(a);
    const auto done = e.shutdown();
    BOOST_TEST(code(*waits) == errc::shut_down);
    BOOST_TEST(code(*contends) == errc::shut_down);
    BOOST_TEST(code(*reenters) == errc::shut_down);
    BOOST_TEST(code(*lost) == errc::shut_down);
    BOOST_TEST(!a.valid());
    BOOST_TEST(!done->done());
    // The lease, and the possible grants of the two outstanding requests.
    BOOST_TEST_REQUIRE(e.store->release_count() == 3u);
    for (std::size_t i = 0; i < 3; ++i)
        e.store->say_freed(i);
    e.poll();
    BOOST_TEST(code(*done) == error_code());
    BOOST_TEST(code(e.running) == error_code());
    BOOST_TEST(e.store->is_closed());
    BOOST_TEST(code(*e.release(std::move(a))) == errc::shut_down);
    check_idle(e);
    BOOST_TEST(e.stats().watched == 0u);
}

BOOST_AUTO_TEST_CASE(P3_shutdown_gives_up_a_silent_store_after_five_seconds)
{
    core_fixture e;
    const lease a = e.taken(e.spec("a"));
    const auto done = e.shutdown();
    e.advance(4999ms);
    BOOST_TEST(!done->done());
    e.advance(1ms);
    BOOST_TEST(code(*done) == errc::store_unavailable);
    BOOST_TEST(code(e.running) == error_code());
    check_idle(e);
}

// With ten thousand leases over a slow connection, the releases take long, which is no reason to
// give them up.
BOOST_AUTO_TEST_CASE(P3_shutdown_waits_for_a_slow_store)
{
    core_fixture e;
    std::vector<lease> held;
    for (const char* each : {"a", "b", "c", "d"})
        held.push_back(e.taken(e.spec(each)));
    const auto done = e.shutdown();
    BOOST_TEST_REQUIRE(e.store->release_count() == held.size());
    for (std::size_t i = 0; i < held.size(); ++i) {
        e.advance(4s);
        BOOST_TEST(!done->done());
        e.store->say_freed(i);
        e.poll();
    }
    BOOST_TEST(code(*done) == error_code());
    BOOST_TEST(code(e.running) == error_code());
    check_idle(e);
}

BOOST_AUTO_TEST_CASE(P3_shutdown_gives_up_five_seconds_after_the_last_release)
{
    core_fixture e;
    const lease a = e.taken(e.spec("a")), b = e.taken(e.spec("b")), c = e.taken(e.spec("c"));
    const auto done = e.shutdown();
    BOOST_TEST_REQUIRE(e.store->release_count() == 3u);
    e.advance(4s);
    e.store->say_freed(0);
    e.poll();
    // A rejected release does not extend the wait.
    e.advance(4s);
    e.store->complete_release(e.store->release_count() - 1, errc::store_refused);
    e.poll();
    e.advance(999ms);
    BOOST_TEST(!done->done());
    e.advance(1ms);
    BOOST_TEST(code(*done) == errc::store_unavailable);
    check_idle(e);
}

BOOST_AUTO_TEST_CASE(shutdown_waits_until_the_store_has_drained)
{
    core_fixture e;
    e.store->drains = true;
    const lease a = e.taken(e.spec("a"));
    const auto done = e.shutdown();
    BOOST_TEST(e.store->drains_count == 0u);
    e.store->say_freed(0);
    e.poll();
    BOOST_TEST(e.store->drains_count == 1u);
    BOOST_TEST(!done->done());
    BOOST_TEST(e.store->is_open());
    e.store->drained();
    e.poll();
    BOOST_TEST(code(*done) == error_code());
    BOOST_TEST(code(e.running) == error_code());
    BOOST_TEST(e.store->drains_count == 1u);
    check_idle(e);
}

BOOST_AUTO_TEST_CASE(cancel_waits_at_most_a_second_for_a_draining_store)
{
    core_fixture e;
    e.store->drains = true;
    const auto done = e.shutdown();
    BOOST_TEST(!done->done());
    e.core->cancel();
    e.advance(999ms);
    BOOST_TEST(!done->done());
    e.advance(1ms);
    BOOST_TEST(code(*done) == error_code());
    BOOST_TEST(code(e.running) == asio::error::operation_aborted);
    e.store->drained(); // too late
    e.poll();
    check_idle(e);
}

BOOST_AUTO_TEST_CASE(shutdown_reports_an_acquire_that_may_still_be_executed)
{
    core_fixture e;
    const auto op = e.lock("a");
    e.fail_acquire(errc::outcome_unknown);
    e.say_released(left::not_owner);
    const auto done = e.shutdown();
    e.say_released(left::not_owner);
    e.advance(5s);
    BOOST_TEST(code(*done) == errc::outcome_unknown);
    check_idle(e);
}

// The next attempt of a failed release may be far away, and the shutdown waits for it.
BOOST_AUTO_TEST_CASE(shutdown_repeats_failed_releases_at_once)
{
    core_fixture e;
    const auto released = e.release(e.taken(e.spec("a")));
    e.store->complete_release(0, errc::store_refused);
    e.poll();
    BOOST_TEST(e.store->release_count() == 1u);
    const auto done = e.shutdown();
    BOOST_TEST_REQUIRE(e.store->release_count() == 2u);
    e.store->say_freed(1);
    e.poll();
    BOOST_TEST(code(*released) == error_code());
    BOOST_TEST(code(*done) == error_code());
    check_idle(e);
}

BOOST_AUTO_TEST_CASE(cancel_waits_at_most_a_second)
{
    core_fixture e;
    const lease a = e.taken(e.spec("a"));
    e.core->cancel();
    e.poll();
    BOOST_TEST(!e.running.done());
    e.advance(1s);
    BOOST_TEST(code(e.running) == aborted);
}

BOOST_AUTO_TEST_CASE(cancel_shortens_an_outstanding_shutdown)
{
    core_fixture e;
    const lease a = e.taken(e.spec("a"));
    const lease b = e.taken(e.spec("b"));
    const auto done = e.shutdown();
    e.core->cancel();
    e.poll();
    e.advance(999ms);
    e.store->say_freed(0); // nor does a reply extend it
    e.poll();
    BOOST_TEST(!done->done());
    e.advance(1ms);
    BOOST_TEST(code(*done) == errc::store_unavailable);
    BOOST_TEST(code(e.running) == aborted);
}

BOOST_AUTO_TEST_CASE(shorter_limit_of_cancel_and_shutdown_counts_in_either_order)
{
    for (const bool cancel_first : {false, true}) {
        for (const bool twice : {false, true}) {
            core_fixture e;
            const lease a = e.taken(e.spec("a"));
            std::shared_ptr<core_fixture::waiting> done;
            for (const bool cancels : {cancel_first, !cancel_first}) {
                for (int times = 0; times < (twice ? 2 : 1); ++times) {
                    if (cancels)
                        e.core->cancel();
                    else
                        done = e.shutdown();
                    e.poll();
                }
            }
            BOOST_TEST(e.store->release_count() == 1u);
            e.advance(999ms);
            BOOST_TEST(!e.running.done());
            BOOST_TEST(!done->done());
            e.advance(1ms);
            BOOST_TEST(code(*done) == errc::store_unavailable);
            BOOST_TEST(e.running.done());
            check_idle(e);
        }
    }
}

BOOST_AUTO_TEST_CASE(outstanding_release_fails_when_the_shutdown_gives_up)
{
    core_fixture e;
    const auto op = e.release(e.taken(e.spec("a")));
    const auto done = e.shutdown();
    e.advance(5s);
    BOOST_TEST(code(*done) == errc::store_unavailable);
    // As documented, the release is not certain.
    BOOST_TEST((code(*op) == condition::store_fault || code(*op) == errc::shut_down));
}

BOOST_AUTO_TEST_CASE(shutdown_continues_after_its_wait_is_cancelled)
{
    core_fixture e;
    const lease a = e.taken(e.spec("a"));
    const auto done = e.shutdown();
    done->cancel(asio::cancellation_type::total);
    e.poll();
    BOOST_TEST(code(*done) == aborted);
    BOOST_TEST(!e.running.done());
    e.say_freed();
    BOOST_TEST(code(e.running) == error_code());
}

BOOST_AUTO_TEST_CASE(repeated_shutdowns_succeed_also_before_the_run)
{
    core_fixture e;
    const auto one = e.shutdown();
    const auto two = e.shutdown();
    BOOST_TEST(code(*one) == error_code());
    BOOST_TEST(code(*two) == error_code());

    core_fixture fresh(false);
    BOOST_TEST(code(*fresh.shutdown()) == error_code());
    fresh.run();
    BOOST_TEST(code(fresh.running) == errc::shut_down);
    BOOST_TEST(!fresh.store->is_open());
}

BOOST_AUTO_TEST_CASE(second_run_fails_with_already_running)
{
    core_fixture e;
    core_fixture::waiting again(e.context.get_executor());
    again.start([&](auto handler) { e.async_run(std::move(handler)); });
    e.poll();
    BOOST_TEST(code(again) == errc::already_running);
    BOOST_TEST(!e.running.done());
}

BOOST_AUTO_TEST_CASE(client_sends_nothing_after_its_end)
{
    core_fixture e;
    const lease a = e.taken(e.spec("a"));
    e.shutdown();
    e.say_freed();
    const auto calls = e.store->acquire_count() + e.store->renew_count() + e.store->release_count();
    e.store->wakeup("a");
    e.store->connect();
    e.advance(60s);
    BOOST_TEST(e.store->acquire_count() + e.store->renew_count() + e.store->release_count() ==
               calls);
    BOOST_TEST((e.time.wake_at() == clock::time_point::max()));
    BOOST_TEST(e.store->misuse() == "");
}

BOOST_AUTO_TEST_SUITE_END()
