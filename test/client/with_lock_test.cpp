#include <boost/test/unit_test.hpp>

#include "support/core_fixture.hpp"
#include "support/memory_lab.hpp"

#include <leasehold/detail/access.hpp>
#include <leasehold/with_lock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;

namespace with_lock_test {

/// A value-initialized object differs from unwritten memory.
struct answer_of_its_own
{
    int number = 7;
    std::string text = "none, and too long to be kept in the string itself";
};

} // namespace with_lock_test

using with_lock_test::answer_of_its_own;

namespace {

const error_code aborted = asio::error::operation_aborted;

error_code code_of(const std::exception_ptr& failed)
{
    if (!failed)
        return {};
    try {
        std::rethrow_exception(failed);
    }
    catch (const boost::system::system_error& e) {
        return e.code();
    }
}

std::string text_of(const std::exception_ptr& failed)
{
    try {
        if (failed)
            std::rethrow_exception(failed);
    }
    catch (const std::exception& e) {
        return e.what();
    }
    return {};
}

// A deferred operation of the test's own.
auto answer_later(asio::io_context& context, error_code code)
{
    return asio::async_initiate<const asio::deferred_t&, void(error_code, int)>(
        [&context, code](auto handler) {
            asio::post(context,
                       [to = std::move(handler), code]() mutable { std::move(to)(code, 42); });
        },
        asio::deferred);
}

// A lock in memory, and a client that works under it.
struct fixture : memory_lab
{
    std::unique_ptr<client> locks = make_client();
    std::unique_ptr<client> others = make_client();
    mutex m{*locks, "a"};
    mutex theirs{*others, "a"};

    bool begun = false;
    bool ended = false; ///< Whether the work has ended, for any reason.
    error_code interrupted;

    /// Waits until it is cancelled, and records that.
    asio::awaitable<void> wait_for_ever()
    {
        struct at_end
        {
            bool& flag;
            ~at_end() { flag = true; }
        } const mark{ended};
        asio::steady_timer timer(co_await asio::this_coro::executor,
                                 asio::steady_timer::time_point::max());
        begun = true;
        const auto [code] = co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
        interrupted = code;
        if (code)
            throw boost::system::system_error(code);
    }

    template <class Work>
    auto start(const mutex& lock, Work work)
    {
        auto done = std::make_shared<completion<std::exception_ptr>>(context.get_executor());
        done->start([&](auto handler) { with_lock(lock, std::move(work), std::move(handler)); });
        kept.push_back(done);
        return done;
    }

    void check_free()
    {
        until_idle(*locks);
        BOOST_TEST(release(take(theirs)) == error_code());
    }

    std::vector<std::shared_ptr<void>> kept;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(with_a_lock, fixture)

BOOST_AUTO_TEST_CASE(lock_is_held_during_the_work_and_free_after_it)
{
    std::size_t inside = 0;
    const auto done = start(m, [&]() -> asio::awaitable<void> {
        inside = space->size();
        co_return;
    });
    until([&] { return done->done(); });
    BOOST_TEST(done->proper());
    BOOST_TEST(!done->value<0>());
    BOOST_TEST(inside == 1u);
    BOOST_TEST(space->size() == 0u);
    check_free();
}

BOOST_AUTO_TEST_CASE(work_under_a_handle_with_an_owner_acquires_reentrantly)
{
    lease outer = take(m);
    std::uint64_t fence = 0;
    const mutex reentrant = theirs.with_owner(outer.share_owner());
    const auto done = start(reentrant, [&](lease& inner) -> asio::awaitable<void> {
        fence = inner.fence();
        co_return;
    });
    until([&] { return done->done(); });
    BOOST_TEST(!done->value<0>());
    BOOST_TEST(fence == outer.fence());
    BOOST_TEST(outer.valid());
    BOOST_TEST(release(std::move(outer)) == error_code());
    BOOST_TEST(space->size() == 0u);
    const auto late = start(reentrant, [&] { return wait_for_ever(); });
    until([&] { return late->done(); });
    BOOST_TEST(code_of(late->value<0>()) == errc::lost);
    BOOST_TEST(!begun);
    check_free();
}

/// The details of an exception. Empty if it carries none.
diagnostics details_of(const std::exception_ptr& failed)
{
    try {
        if (failed)
            std::rethrow_exception(failed);
    }
    catch (const error_with_diagnostics& e) {
        return e.get_diagnostics();
    }
    catch (const std::exception&) {
    }
    return {};
}

BOOST_AUTO_TEST_CASE(timed_out_lock_reports_its_details)
{
    lease held = take(theirs);
    const mutex brief(*locks, "a", {.wait_limit = 5ms});
    const auto done = start(brief, [&] { return wait_for_ever(); });
    until([&] { return done->done(); });
    BOOST_TEST(code_of(done->value<0>()) == errc::timed_out);
    BOOST_TEST(details_of(done->value<0>()).holder == others->id());
    BOOST_TEST(!begun);

    // The work completes with an `error_code`, which cannot carry details.
    diagnostics details;
    completion<error_code, int> op(context.get_executor());
    const auto work = [&] { return answer_later(context, {}); };
    op.start([&](auto handler) { with_lock(brief, work, details, std::move(handler)); });
    until([&] { return op.done(); });
    BOOST_TEST(op.proper());
    BOOST_TEST(op.value<0>() == errc::timed_out);
    BOOST_TEST(details.holder == others->id());

    completion<std::exception_ptr, int> thrown(context.get_executor());
    thrown.start(
        [&](auto handler) { with_lock(brief, work, with_diagnostics(std::move(handler))); });
    until([&] { return thrown.done(); });
    BOOST_TEST(thrown.proper());
    BOOST_TEST(details_of(thrown.value<0>()).holder == others->id());

    BOOST_TEST(release(std::move(held)) == error_code());
    completion<error_code, int> well(context.get_executor());
    well.start([&](auto handler) { with_lock(brief, work, details, std::move(handler)); });
    until([&] { return well.done(); });
    BOOST_TEST(well.value<0>() == error_code());
    BOOST_TEST(well.value<1>() == 42);
    BOOST_TEST(details.empty());
}

BOOST_AUTO_TEST_CASE(lost_lease_reports_its_details)
{
    core_fixture e;
    client locks_of_e = detail::access::make_client(e.core);
    const mutex lock(locks_of_e, "a", {.lease_time = 1s});
    diagnostics details;
    completion<std::exception_ptr> op(e.context.get_executor());
    asio::steady_timer timer(e.context, asio::steady_timer::time_point::max());
    op.start([&](auto handler) {
        with_lock(
            lock,
            [&]() -> asio::awaitable<void> {
                begun = true;
                co_await timer.async_wait(asio::use_awaitable);
            },
            details, std::move(handler));
    });
    e.poll();
    e.grant();
    BOOST_TEST_REQUIRE(begun);
    e.advance(500ms);
    BOOST_TEST_REQUIRE(e.store->renew_count() > 0u);
    const auto last = e.store->renew_count() - 1;
    e.store->complete_renew(
        last, errc::permission_denied,
        {{},
         std::make_shared<diagnostics>(diagnostics{.server_message = "NOPERM no right to renew"})});
    e.advance(1s);
    BOOST_TEST_REQUIRE(e.store->release_count() > 0u);
    e.say_freed();
    BOOST_TEST_REQUIRE(op.done());
    BOOST_TEST(code_of(op.value<0>()) == errc::expired);
    BOOST_TEST(details.key == "a");
    BOOST_TEST(details.attempts > 0u);
    BOOST_TEST((details_of(op.value<0>()) == details));
}

// The process was stopped, and the work ended before the deadline was checked.
BOOST_AUTO_TEST_CASE(loss_found_by_the_release_reports_its_details)
{
    core_fixture e;
    client locks_of_e = detail::access::make_client(e.core);
    const mutex lock(locks_of_e, "a", {.lease_time = 1s});
    asio::steady_timer timer(e.context, asio::steady_timer::time_point::max());
    diagnostics details;
    completion<std::exception_ptr> op(e.context.get_executor());
    op.start([&](auto handler) {
        with_lock(
            lock,
            [&]() -> asio::awaitable<void> {
                co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
            },
            details, std::move(handler));
    });
    e.poll();
    e.grant();
    e.advance(500ms);
    BOOST_TEST_REQUIRE(e.store->renew_count() > 0u);
    e.store->complete_renew(
        e.store->renew_count() - 1, errc::permission_denied,
        {{},
         std::make_shared<diagnostics>(diagnostics{.server_message = "NOPERM no right to renew"})});
    e.poll();
    e.time.set(e.time.now() + 2s);
    timer.cancel();
    e.poll();
    e.say_freed();
    BOOST_TEST_REQUIRE(op.done());
    BOOST_TEST(code_of(op.value<0>()) == errc::expired);
    BOOST_TEST(details.server_message == "NOPERM no right to renew");
    BOOST_TEST((details_of(op.value<0>()) == details));
}

// The reply of the store to the release does not matter.
BOOST_AUTO_TEST_CASE(first_reason_of_a_loss_is_reported_whatever_the_release_finds)
{
    core_fixture e;
    client locks_of_e = detail::access::make_client(e.core);
    const mutex lock(locks_of_e, "a", {.lease_time = 1s, .renew = false});
    const auto op = e.make<completion<std::exception_ptr>>();
    asio::steady_timer timer(e.context, asio::steady_timer::time_point::max());
    op->start([&](auto handler) {
        with_lock(
            lock,
            [&]() -> asio::awaitable<void> { co_await timer.async_wait(asio::use_awaitable); },
            std::move(handler));
    });
    e.poll();
    e.grant();
    e.advance(1s);
    BOOST_TEST_REQUIRE(e.store->release_count() == 1u);
    e.say_released(release_reply::outcome::not_owner);
    BOOST_TEST_REQUIRE(op->done());
    BOOST_TEST(code_of(op->value<0>()) == errc::expired);
}

// The state of the lease at its release decides whether it was released or had ended before.
BOOST_AUTO_TEST_CASE(shutdown_at_every_step_reports_whether_the_lease_was_released)
{
    bool was_released = false;
    for (int step = 0; !was_released; ++step) {
        BOOST_TEST_REQUIRE(step < 100);
        core_fixture e;
        client locks_of_e = detail::access::make_client(e.core);
        const mutex lock(locks_of_e, "a");
        const auto op = e.make<completion<std::exception_ptr>>();
        asio::steady_timer timer(e.context, asio::steady_timer::time_point::max());
        op->start([&](auto handler) {
            with_lock(
                lock,
                [&]() -> asio::awaitable<void> {
                    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
                },
                std::move(handler));
        });
        e.poll();
        e.grant();
        timer.cancel();
        e.context.restart();
        for (int i = 0; i < step; ++i)
            e.context.poll_one();
        const auto stopped = e.shutdown();
        BOOST_TEST_REQUIRE(e.store->release_count() == 1u);
        e.say_freed();
        BOOST_TEST_REQUIRE(stopped->done());
        BOOST_TEST_REQUIRE(op->done());
        was_released = e.stats().released == 1u;
        BOOST_TEST_CONTEXT("step " << step)
        {
            BOOST_TEST(code_of(op->value<0>()) ==
                       (was_released ? error_code() : error_code(errc::shut_down)));
        }
    }
}

BOOST_AUTO_TEST_CASE(work_gets_a_valid_lease)
{
    std::uint64_t fence = 0;
    const auto done = start(m, [&](lease& held) -> asio::awaitable<void> {
        BOOST_TEST(held.valid());
        BOOST_TEST(held.name() == "a");
        fence = held.fence();
        co_return;
    });
    until([&] { return done->done(); });
    BOOST_TEST(!done->value<0>());
    BOOST_TEST(fence > 0u);
}

BOOST_AUTO_TEST_CASE(value_of_a_coroutine_is_returned)
{
    completion<std::exception_ptr, std::string> done(context.get_executor());
    done.start([&](auto handler) {
        with_lock(
            m, []() -> asio::awaitable<std::string> { co_return "value"; }, std::move(handler));
    });
    until([&] { return done.done(); });
    BOOST_TEST(done.proper());
    BOOST_TEST(!done.value<0>());
    BOOST_TEST(done.value<1>() == "value");
    check_free();

    auto future = with_lock(m, []() -> asio::awaitable<int> { co_return 7; }, asio::use_future);
    std::jthread runner([&] {
        context.restart();
        context.run_for(10s); // the run of the client keeps the context busy until it is stopped
    });
    BOOST_TEST(future.get() == 7);
    context.stop();
}

BOOST_AUTO_TEST_CASE(result_of_a_deferred_operation_is_returned)
{
    for (const error_code each : {error_code(), error_code(asio::error::eof)}) {
        completion<error_code, int> done(context.get_executor());
        done.start([&](auto handler) {
            with_lock(m, [&] { return answer_later(context, each); }, std::move(handler));
        });
        until([&] { return done.done(); });
        BOOST_TEST(done.proper());
        BOOST_TEST(done.value<0>() == each);
        BOOST_TEST(done.value<1>() == 42);
        check_free();
    }
}

BOOST_AUTO_TEST_CASE(timer_can_be_the_work)
{
    asio::steady_timer timer(context, 1ms);
    completion<error_code> done(context.get_executor());
    done.start([&](auto handler) {
        with_lock(m, [&] { return timer.async_wait(asio::deferred); }, std::move(handler));
    });
    until([&] { return done.done(); });
    BOOST_TEST(done.proper());
    BOOST_TEST(!done.value<0>());
    check_free();
}

BOOST_AUTO_TEST_CASE(exception_of_the_work_is_reported_unchanged)
{
    const auto done = start(m, []() -> asio::awaitable<void> {
        throw std::runtime_error("mine");
        co_return;
    });
    until([&] { return done->done(); });
    BOOST_TEST(done->proper());
    BOOST_TEST(text_of(done->value<0>()) == "mine");
    check_free();
}

BOOST_AUTO_TEST_CASE(abort_caused_by_the_work_is_reported_unchanged)
{
    const auto done = start(m, []() -> asio::awaitable<void> {
        throw boost::system::system_error(asio::error::operation_aborted);
        co_return;
    });
    until([&] { return done->done(); });
    BOOST_TEST(code_of(done->value<0>()) == aborted);
    check_free();
}

BOOST_AUTO_TEST_CASE(exception_before_the_work_starts_is_reported)
{
    const auto done = start(m, [&]() -> asio::awaitable<void> {
        if (!begun)
            throw std::runtime_error("not even begun");
        return wait_for_ever();
    });
    until([&] { return done->done(); });
    BOOST_TEST(done->proper());
    BOOST_TEST(text_of(done->value<0>()) == "not even begun");
    check_free();
}

BOOST_AUTO_TEST_CASE(work_does_not_start_without_the_lock)
{
    lease held = take(theirs);
    const auto done = start(mutex(*locks, "a", {.wait_limit = 1ms}),
                            [&] { return wait_for_ever(); });
    until([&] { return done->done(); });
    BOOST_TEST(done->proper());
    BOOST_TEST(code_of(done->value<0>()) == errc::timed_out);
    BOOST_TEST(!begun);
    BOOST_TEST(release(std::move(held)) == error_code());
    check_free();
}

BOOST_AUTO_TEST_CASE(loss_cancels_the_work_and_is_reported)
{
    const lock_options brief{.lease_time = 10s, .renew_interval = 5ms};
    const auto done = start(mutex(*locks, "a", brief), [&] { return wait_for_ever(); });
    until([&] { return begun; });
    BOOST_TEST(space->erase("a"));
    until([&] { return done->done(); });
    BOOST_TEST(done->proper());
    BOOST_TEST(ended);
    BOOST_TEST(interrupted == aborted);
    BOOST_TEST(code_of(done->value<0>()) == errc::lost);
    check_free();
}

BOOST_AUTO_TEST_CASE(every_reason_of_a_loss_is_reported)
{
    {
        const auto done = start(mutex(*locks, "fixed", {.lease_time = 20ms, .renew = false}),
                                [&] { return wait_for_ever(); });
        until([&] { return done->done(); });
        BOOST_TEST(code_of(done->value<0>()) == errc::expired);
    }
    {
        const auto done = start(mutex(*locks, "long", {.longest_hold = 20ms}),
                                [&] { return wait_for_ever(); });
        until([&] { return done->done(); });
        BOOST_TEST(code_of(done->value<0>()) == errc::hold_limit);
    }
    {
        begun = false;
        const auto done = start(m, [&] { return wait_for_ever(); });
        until([&] { return begun; });
        locks->async_shutdown(asio::detached);
        until([&] { return done->done(); });
        BOOST_TEST(code_of(done->value<0>()) == errc::shut_down);
    }
}

BOOST_AUTO_TEST_CASE(loss_is_reported_although_the_work_succeeded_after_it)
{
    std::optional<bool> valid;
    const auto done = start(mutex(*locks, "a", {.lease_time = 10ms, .renew = false}),
                            [&](lease& held) -> asio::awaitable<void> {
                                // Work that cannot be interrupted: nothing runs meanwhile.
                                while (held.valid())
                                    ;
                                valid = held.valid();
                                co_return;
                            });
    until([&] { return done->done(); });
    BOOST_TEST(!valid.value());
    // The lease has expired or was lost: the work did not hold the lock until its end.
    BOOST_TEST((code_of(done->value<0>()) == condition::lease_ended));
}

// The result of work without the lock is dropped.
BOOST_AUTO_TEST_CASE(value_of_the_work_is_dropped_after_a_loss)
{
    completion<error_code, int> done(context.get_executor());
    done.start([&](auto handler) {
        with_lock(
            mutex(*locks, "a", {.lease_time = 10ms, .renew = false}),
            [&](lease& held) {
                while (held.valid())
                    ;
                return answer_later(context, error_code());
            },
            std::move(handler));
    });
    until([&] { return done.done(); });
    BOOST_TEST((done.value<0>() == condition::lease_ended));
    BOOST_TEST(done.value<1>() == 0);
}

// A missing result is a value-initialized object of its type.
BOOST_AUTO_TEST_CASE(work_that_throws_yields_a_default_value)
{
    using answer = answer_of_its_own;
    completion<std::exception_ptr, answer> done(context.get_executor());
    done.start([&](auto handler) {
        with_lock(
            m,
            []() -> asio::awaitable<answer> {
                throw std::runtime_error("on purpose");
                co_return answer{};
            },
            std::move(handler));
    });
    until([&] { return done.done(); });
    BOOST_TEST(text_of(done.value<0>()) == "on purpose");
    BOOST_TEST(done.value<1>().number == 7);
    BOOST_TEST(done.value<1>().text == answer().text);
    check_free();
}

BOOST_AUTO_TEST_CASE(completion_waits_for_work_that_ignores_its_cancellation)
{
    asio::steady_timer gate(context, asio::steady_timer::time_point::max());
    bool reported = false;
    const auto done = start(
        mutex(*locks, "a", {.lease_time = 10ms, .renew = false}),
        [&](lease& held) -> asio::awaitable<void> {
            co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
            const auto [why] = co_await held.async_wait_lost(asio::as_tuple(asio::use_awaitable));
            BOOST_TEST(why == errc::expired);
            reported = true;
            co_await gate.async_wait(asio::as_tuple(asio::use_awaitable));
            ended = true;
        });
    until([&] { return reported; });
    poll();
    BOOST_TEST(!done->done());
    gate.cancel();
    until([&] { return done->done(); });
    BOOST_TEST(ended);
    BOOST_TEST(code_of(done->value<0>()) == errc::expired);
}

BOOST_AUTO_TEST_CASE(cancellation_during_the_wait_starts_no_work)
{
    for (const auto type : {asio::cancellation_type::terminal, asio::cancellation_type::partial,
                            asio::cancellation_type::total}) {
        lease held = take(theirs);
        const auto done = start(m, [&] { return wait_for_ever(); });
        poll();
        done->cancel(type);
        until([&] { return done->done(); });
        BOOST_TEST(done->proper());
        BOOST_TEST(code_of(done->value<0>()) == aborted);
        BOOST_TEST(!begun);
        BOOST_TEST(release(std::move(held)) == error_code());
        check_free();
    }
}

BOOST_AUTO_TEST_CASE(cancellation_before_the_wait_frees_the_lock)
{
    const auto done = start(m, [&] { return wait_for_ever(); });
    done->cancel(asio::cancellation_type::terminal);
    until([&] { return done->done(); });
    BOOST_TEST(done->proper());
    BOOST_TEST(code_of(done->value<0>()) == aborted);
    check_free();
}

// The grant and the cancellation meet. For the caller, the operation still waits, so the work must
// not start.
BOOST_AUTO_TEST_CASE(cancellation_between_grant_and_work_starts_no_work)
{
    for (const auto type : {asio::cancellation_type::terminal, asio::cancellation_type::partial,
                            asio::cancellation_type::total}) {
        for (const bool grant_first : {true, false}) {
            core_fixture e;
            client adopted = detail::access::make_client(e.core);
            const mutex lock(adopted, "a");
            bool worked = false;
            const auto op = e.make<completion<std::exception_ptr>>();
            op->start([&](auto handler) {
                with_lock(
                    lock,
                    [&]() -> asio::awaitable<void> {
                        worked = true;
                        co_return;
                    },
                    std::move(handler));
            });
            e.poll();
            BOOST_TEST_REQUIRE(e.store->acquire_count() == 1u);
            if (!grant_first)
                op->cancel(type);
            e.store->grant(0, e.fence++, 1);
            if (grant_first)
                op->cancel(type);
            e.poll();
            BOOST_TEST(!worked);
            BOOST_TEST_REQUIRE(e.store->release_count() == 1u);
            BOOST_TEST(e.last_release().owner == e.last_acquire().owner);
            // The lock may have expired meanwhile. No work ran under it.
            if (type == asio::cancellation_type::total)
                e.say_released(release_reply::outcome::not_owner);
            else
                e.say_freed();
            BOOST_TEST_REQUIRE(op->done());
            BOOST_TEST(op->proper());
            BOOST_TEST(code_of(op->value<0>()) == aborted);
            BOOST_TEST(!worked);
            BOOST_TEST(e.stats().held == 0u);
        }
    }
}

// The lease is lost after the work was cancelled and before it has stopped: the loss is reported.
BOOST_AUTO_TEST_CASE(loss_after_the_cancellation_is_reported)
{
    asio::steady_timer gate(context, asio::steady_timer::time_point::max());
    bool reported = false;
    const lock_options brief{.lease_time = 10s, .renew_interval = 5ms};
    const auto done = start(mutex(*locks, "a", brief), [&](lease& held) -> asio::awaitable<void> {
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        begun = true;
        const auto [why] = co_await held.async_wait_lost(asio::as_tuple(asio::use_awaitable));
        BOOST_TEST(why == errc::lost);
        reported = true;
        co_await gate.async_wait(asio::as_tuple(asio::use_awaitable));
    });
    until([&] { return begun; });
    done->cancel(asio::cancellation_type::terminal);
    poll();
    BOOST_TEST(space->erase("a"));
    until([&] { return reported; });
    poll();
    gate.cancel();
    until([&] { return done->done(); });
    BOOST_TEST(code_of(done->value<0>()) == errc::lost);
}

// The work was cancelled once, and may have started clean-up operations of its own.
BOOST_AUTO_TEST_CASE(work_is_cancelled_at_most_once)
{
    const lock_options brief{.lease_time = 10s, .renew_interval = 5ms};
    enum class event
    {
        cancellation,
        loss
    };
    for (const event first : {event::cancellation, event::loss}) {
        for (const event second : {event::cancellation, event::loss}) {
            asio::steady_timer work(context, asio::steady_timer::time_point::max());
            asio::steady_timer tidying(context, asio::steady_timer::time_point::max());
            bool may_end = false, end_told = false;
            begun = ended = false;
            const auto done = start(
                mutex(*locks, "a", brief), [&](lease& held) -> asio::awaitable<void> {
                    held.async_wait_lost([&](error_code) { end_told = true; });
                    begun = true;
                    const auto [why] = co_await work.async_wait(
                        asio::as_tuple(asio::use_awaitable));
                    BOOST_TEST(why == aborted);
                    co_await asio::this_coro::reset_cancellation_state(
                        asio::enable_total_cancellation());
                    ended = true;
                    co_await tidying.async_wait(asio::as_tuple(asio::use_awaitable));
                    BOOST_TEST(may_end);
                });
            const auto happens = [&](event what) {
                if (what == event::cancellation)
                    return done->cancel(asio::cancellation_type::terminal);
                space->erase("a");
                until([&] { return end_told; });
            };
            until([&] { return begun; });
            happens(first);
            until([&] { return ended; });
            happens(second);
            poll();
            BOOST_TEST(!done->done());
            may_end = true;
            tidying.cancel();
            until([&] { return done->done(); });
            const bool lost = first == event::loss || second == event::loss;
            BOOST_TEST(code_of(done->value<0>()) == (lost ? error_code(errc::lost) : error_code()));
            until([&] { return end_told; });
            check_free();
        }
    }
}

// The handler, or an object that it destroys, may emit. The slot is empty by then.
BOOST_AUTO_TEST_CASE(cancellation_slot_is_empty_when_the_handler_runs)
{
    asio::cancellation_signal signal;
    std::optional<bool> listens;
    const auto handler = asio::bind_cancellation_slot(
        signal.slot(), asio::bind_executor(context, [&](std::exception_ptr) {
            listens = signal.slot().has_handler();
        }));
    with_lock(m, []() -> asio::awaitable<void> { co_return; }, handler);
    BOOST_TEST(signal.slot().has_handler());
    until([&] { return listens.has_value(); });
    BOOST_TEST(!*listens);
    check_free();
}

BOOST_AUTO_TEST_CASE(work_that_releases_its_lease_completes_with_not_owner)
{
    const auto done = start(m, [&](lease& held) -> asio::awaitable<void> {
        co_await held.async_release(asio::use_awaitable);
        ended = true;
    });
    until([&] { return done->done(); });
    BOOST_TEST(done->proper());
    BOOST_TEST(code_of(done->value<0>()) == errc::not_owner);
    check_free();
}

// The caller of the context's `run` gets the exception, because an `error_code` cannot carry it.
BOOST_AUTO_TEST_CASE(exception_of_an_operation_that_cannot_start_is_thrown_by_run)
{
    completion<error_code, int> done(context.get_executor());
    done.start([&](auto handler) {
        with_lock(
            m,
            [&] {
                if (!begun)
                    throw std::runtime_error("not even begun");
                return answer_later(context, {});
            },
            std::move(handler));
    });
    BOOST_CHECK_THROW(until([&] { return done.done(); }), std::runtime_error);
    BOOST_TEST(!done.done());
    BOOST_TEST(done.handler_gone());
    check_free();
}

BOOST_AUTO_TEST_CASE(deferred_with_lock_can_be_started_more_than_once)
{
    int times = 0;
    const auto operation = with_lock(m, [&]() -> asio::awaitable<int> { co_return ++times; });
    for (int i = 1; i <= 2; ++i) {
        completion<std::exception_ptr, int> done(context.get_executor());
        done.start([&](auto handler) { operation(std::move(handler)); });
        until([&] { return done.done(); });
        BOOST_TEST(done.proper());
        BOOST_TEST(!done.value<0>());
        BOOST_TEST(done.value<1>() == i);
    }
    check_free();
}

BOOST_AUTO_TEST_CASE(work_and_result_can_be_move_only)
{
    completion<std::exception_ptr, std::unique_ptr<int>> done(context.get_executor());
    done.start([&](auto handler) {
        with_lock(
            m,
            [mine = std::make_unique<int>(5)]() mutable -> asio::awaitable<std::unique_ptr<int>> {
                co_return std::move(mine);
            },
            std::move(handler));
    });
    until([&] { return done.done(); });
    BOOST_TEST(!done.value<0>());
    BOOST_TEST_REQUIRE(done.value<1>());
    BOOST_TEST(*done.value<1>() == 5);
    check_free();
}

// A coroutine with another executor type than the usual one.
BOOST_AUTO_TEST_CASE(coroutine_of_another_executor_type_can_be_the_work)
{
    using another = asio::strand<asio::any_io_executor>;
    completion<std::exception_ptr, int> done(context.get_executor());
    done.start([&](auto handler) {
        with_lock(m, []() -> asio::awaitable<int, another> { co_return 5; }, std::move(handler));
    });
    until([&] { return done.done(); });
    BOOST_TEST(!done.value<0>());
    BOOST_TEST(done.value<1>() == 5);
    check_free();
}

BOOST_AUTO_TEST_CASE(only_terminal_cancellation_reaches_the_work)
{
    const auto done = start(m, [&] { return wait_for_ever(); });
    until([&] { return begun; });
    // Only terminal cancellation is forwarded to the work.
    done->cancel(asio::cancellation_type::total);
    done->cancel(asio::cancellation_type::partial);
    poll();
    BOOST_TEST(!done->done());
    done->cancel(asio::cancellation_type::terminal);
    until([&] { return done->done(); });
    BOOST_TEST(done->proper());
    BOOST_TEST(interrupted == aborted);
    BOOST_TEST(code_of(done->value<0>()) == aborted);
    BOOST_TEST(done->calls() == 1);
    check_free();
}

BOOST_AUTO_TEST_CASE(cancellation_at_every_step_frees_the_lock)
{
    // After each handler of the context, whatever the state of the operation.
    bool finished = false;
    for (int step = 0; step < 200 && !finished; ++step) {
        begun = ended = false;
        const auto done = start(m, [&]() -> asio::awaitable<void> {
            begun = true;
            co_await asio::post(asio::use_awaitable);
            ended = true;
        });
        context.restart();
        for (int i = 0; i < step; ++i)
            context.poll_one();
        finished = done->done();
        done->cancel(asio::cancellation_type::terminal);
        until([&] { return done->done(); });
        // Memory is not checked: an emission that is still on its way when the handler runs keeps
        // some.
        BOOST_TEST(done->calls() == 1);
        BOOST_TEST(!done->inside_initiation());
        BOOST_TEST(!done->off_executor());
        const error_code code = code_of(done->value<0>());
        BOOST_TEST((!code || code == aborted));
        BOOST_TEST((!code ? ended : true));
        check_free();
    }
    BOOST_TEST(finished);
}

BOOST_AUTO_TEST_CASE(work_is_destroyed_under_the_lock_and_before_the_handler_runs)
{
    bool under_the_lock = false;
    std::shared_ptr<int> held_by_work(new int, [&](int* held) {
        delete held;
        under_the_lock = space->size() == 1;
    });
    const std::weak_ptr<int> watch = held_by_work;
    bool gone = false, called = false;
    with_lock(
        m, [kept_here = std::move(held_by_work)]() -> asio::awaitable<void> { co_return; },
        asio::bind_executor(context, [&](std::exception_ptr failed) {
            BOOST_TEST(!failed);
            gone = watch.expired();
            called = true;
        }));
    until([&] { return called; });
    BOOST_TEST(gone);
    BOOST_TEST(under_the_lock);
}

BOOST_AUTO_TEST_CASE(many_with_lock_calls_exclude_each_other)
{
    int inside = 0, total = 0;
    constexpr int many = 100;
    int ended_count = 0;
    for (int i = 0; i < many; ++i) {
        with_lock(
            i % 2 == 0 ? m : theirs,
            [&]() -> asio::awaitable<void> {
                BOOST_TEST(++inside == 1);
                co_await asio::post(asio::use_awaitable);
                --inside;
                ++total;
            },
            [&](std::exception_ptr failed) {
                BOOST_TEST(!failed);
                ++ended_count;
            });
    }
    until([&] { return ended_count == many; });
    BOOST_TEST(total == many);
    check_free();
}

asio::awaitable<void> inside_a_coroutine(mutex& m, mutex& other)
{
    int value = co_await with_lock(m, [&]() -> asio::awaitable<int> {
        // Another lock under the first.
        const int inner = co_await with_lock(
            other, [&]() -> asio::awaitable<int> { co_return 20; }, asio::use_awaitable);
        co_return inner + 1;
    });
    BOOST_TEST(value == 21);
}

BOOST_AUTO_TEST_CASE(with_lock_can_be_nested_in_coroutines)
{
    const mutex constant(*locks, "b");
    mutex second = constant;
    std::optional<std::exception_ptr> done;
    asio::co_spawn(context, inside_a_coroutine(m, second), [&](std::exception_ptr e) { done = e; });
    until([&] { return done.has_value(); });
    BOOST_TEST(!*done);
    check_free();
}

// The operator || waits for the first success.
BOOST_AUTO_TEST_CASE(loss_cancels_parallel_work_only_as_a_tuple)
{
    using namespace asio::experimental::awaitable_operators;
    const mutex brief(*locks, "brief", {.lease_time = 100ms, .renew_interval = 10ms});
    for (const bool is_tuple : {true, false}) {
        begun = ended = false;
        lease held = take(brief);
        error_code reason;
        held.async_wait_lost([&](error_code code) { reason = code; });
        std::optional<std::exception_ptr> done;
        asio::cancellation_signal stop;
        asio::co_spawn(
            context,
            [&]() -> asio::awaitable<void> {
                if (is_tuple)
                    co_await (held.async_wait_lost(asio::as_tuple(asio::use_awaitable)) ||
                              wait_for_ever());
                else
                    co_await (held.async_wait_lost(asio::use_awaitable) || wait_for_ever());
            },
            asio::bind_cancellation_slot(stop.slot(),
                                         [&](std::exception_ptr failed) { done = failed; }));
        until([&] { return begun; });
        space->erase("brief");
        until([&] { return reason == errc::lost; });
        poll(); // the handlers that the loss makes ready
        BOOST_TEST(ended == is_tuple);
        stop.emit(asio::cancellation_type::terminal);
        until([&] { return done.has_value(); });
        BOOST_TEST(interrupted == aborted);
    }
}

BOOST_AUTO_TEST_CASE(context_can_be_destroyed_at_every_step)
{
    for (int step = 0; step < 60; ++step) {
        const auto token = std::make_shared<int>();
        int calls = 0;
        {
            memory_lab lab;
            const auto one = lab.make_client();
            const mutex lock(*one, "a");
            with_lock(
                lock,
                [token]() -> asio::awaitable<void> { co_await asio::post(asio::use_awaitable); },
                [token, &calls](std::exception_ptr) { ++calls; });
            for (int i = 0; i < step; ++i)
                lab.context.poll_one();
        }
        BOOST_TEST(token.use_count() == 1);
        BOOST_TEST(calls <= 1);
    }
}

BOOST_AUTO_TEST_SUITE_END()
