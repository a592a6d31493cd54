// Every public operation with every kind of completion token, on locks in memory.
#include <boost/test/unit_test.hpp>

#include "support/memory_lab.hpp"

#include <leasehold/with_lock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <exception>
#include <future>
#include <optional>
#include <string>
#include <tuple>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;

namespace {

struct fixture : memory_lab
{
    std::unique_ptr<client> locks = make_client();
    mutex m{*locks, "a"};

    template <class T>
    T wait(std::future<T> future)
    {
        // Another thread makes the future ready, which does not wake the context.
        const auto work = asio::make_work_guard(context);
        for (int i = 0; i < 10'000 && future.wait_for(0s) != std::future_status::ready; ++i) {
            context.restart();
            context.run_for(1ms);
        }
        BOOST_TEST_REQUIRE((future.wait_for(0s) == std::future_status::ready));
        return future.get();
    }

    void run(asio::awaitable<void> body)
    {
        std::optional<std::exception_ptr> ended;
        asio::co_spawn(context, std::move(body), [&](std::exception_ptr e) { ended = e; });
        until([&] { return ended.has_value(); });
        if (*ended)
            std::rethrow_exception(*ended);
    }
};

// Calls `with` once for each operation of this handle.
template <class With>
void each_lock_of(const mutex& m, With& with)
{
    with([&](auto&& token) { return m.async_lock(std::forward<decltype(token)>(token)); });
    with([&](auto&& token) { return m.async_try_lock(std::forward<decltype(token)>(token)); });
    with([&](auto&& token) {
        return m.async_try_lock_for(5s, std::forward<decltype(token)>(token));
    });
    with([&](auto&& token) {
        return m.async_try_lock_until(clock::now() + 5s, std::forward<decltype(token)>(token));
    });
}

// Calls `with` once for each operation that acquires a lock, first under an owner that holds it.
// Without an owner, the lock is free between two calls.
template <class With>
void each_lock(fixture& f, With with)
{
    {
        lease outer = f.take(f.m);
        each_lock_of(f.m.with_owner(outer.share_owner()), with);
        BOOST_TEST(f.release(std::move(outer)) == error_code());
    }
    BOOST_TEST(f.space->size() == 0u);
    each_lock_of(f.m, with);
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(tokens, fixture)

BOOST_AUTO_TEST_CASE(every_operation_accepts_a_callback)
{
    each_lock(*this, [&](auto start) {
        std::optional<lease> got;
        start([&](error_code code, lease held) {
            BOOST_TEST(!code);
            got = std::move(held);
        });
        until([&] { return got.has_value(); });
        BOOST_TEST(got->valid());
        bool out = false;
        got->async_release([&](error_code code) {
            BOOST_TEST(!code);
            out = true;
        });
        until([&] { return out; });
    });
}

BOOST_AUTO_TEST_CASE(every_lock_accepts_a_move_only_callback)
{
    each_lock(*this, [&](auto start) {
        bool done = false;
        start([&, unique = std::make_unique<int>(1)](error_code code, lease) {
            BOOST_TEST(*unique == 1);
            BOOST_TEST(!code);
            done = true;
        });
        until([&] { return done; });
    });
    until_idle(*locks);
}

BOOST_AUTO_TEST_CASE(every_operation_accepts_use_future)
{
    each_lock(*this, [&](auto start) {
        lease held = wait(start(asio::use_future));
        BOOST_TEST(held.valid());
        wait(held.async_release(asio::use_future));
        BOOST_TEST(!held);
    });
    lease held = take(m);
    auto lost = held.async_wait_lost(asio::use_future);
    BOOST_CHECK_THROW(static_cast<void>(wait(m.async_try_lock(asio::use_future))),
                      boost::system::system_error);
    space->clear();
    held = lease();
    BOOST_CHECK_THROW(wait(std::move(lost)), boost::system::system_error);
    wait(locks->async_shutdown(asio::use_future));
    BOOST_CHECK_THROW(wait(locks->async_run(asio::use_future)), boost::system::system_error);
}

BOOST_AUTO_TEST_CASE(every_operation_accepts_a_future_of_a_tuple)
{
    each_lock(*this, [&](auto start) {
        auto [code, held] = wait(start(asio::as_tuple(asio::use_future)));
        BOOST_TEST(!code);
        BOOST_TEST(held.valid());
        const auto [out] = wait(held.async_release(asio::as_tuple(asio::use_future)));
        BOOST_TEST(!out);
    });
    const mutex lost = m.with_owner(owner("11111111-1111-1111-1111-111111111111:1", 1));
    auto [code, none] = wait(lost.async_lock(asio::as_tuple(asio::use_future)));
    BOOST_TEST(code == errc::lost);
    BOOST_TEST(!none);
}

BOOST_AUTO_TEST_CASE(every_operation_accepts_detached)
{
    each_lock(*this, [&](auto start) {
        const auto before = locks->stats().released;
        start(asio::detached); // the lease is destroyed at once
        until([&] { return locks->stats().released > before; });
    });
    lease held = take(m);
    held.async_wait_lost(asio::detached);
    held.async_release(asio::detached);
    until_idle(*locks);
    locks->async_shutdown(asio::detached);
    bool stopped = false;
    locks->async_shutdown([&](error_code) { stopped = true; });
    until([&] { return stopped; });
}

BOOST_AUTO_TEST_CASE(every_lock_accepts_deferred_and_starts_lazily)
{
    each_lock(*this, [&](auto start) {
        auto operation = start(asio::deferred);
        const auto before = locks->stats().acquires_sent;
        poll();
        BOOST_TEST(locks->stats().acquires_sent == before); // lazy
        std::optional<lease> got;
        std::move(operation)([&](error_code code, lease held) {
            BOOST_TEST(!code);
            got = std::move(held);
        });
        until([&] { return got.has_value(); });
        BOOST_TEST(release(std::move(*got)) == error_code());
    });
}

BOOST_AUTO_TEST_CASE(deferred_lock_can_be_copied_and_chained)
{
    // A copy of a deferred operation that has not started can be started again.
    const auto operation = m.async_try_lock(asio::deferred);
    int got = 0;
    for (int i = 0; i < 2; ++i) {
        auto copy = operation;
        std::move(copy)([&](error_code code, lease) {
            BOOST_TEST(!code);
            ++got;
        });
        until([&] { return got == i + 1; });
        until_idle(*locks);
    }
    bool done = false;
    auto chain = m.async_lock(asio::deferred([](error_code code, lease held) {
        BOOST_TEST(!code);
        return held.async_release(asio::deferred);
    }));
    std::move(chain)([&](error_code code) {
        BOOST_TEST(!code);
        done = true;
    });
    until([&] { return done; });
    BOOST_TEST(space->size() == 0u);
}

asio::awaitable<void> by_awaitable(mutex& m, memory_space& space)
{
    for (int i = 0; i < 2; ++i) {
        lease held = co_await m.async_lock(asio::use_awaitable);
        BOOST_TEST(held.valid());
        lease inner = co_await m.with_owner(held.share_owner()).async_lock(asio::use_awaitable);
        BOOST_TEST(inner.fence() == held.fence());
        bool refused = false;
        try {
            static_cast<void>(co_await m.async_try_lock(asio::use_awaitable));
        }
        catch (const boost::system::system_error& e) {
            refused = e.code() == errc::held;
        }
        BOOST_TEST(refused);
        co_await inner.async_release(asio::use_awaitable);
        BOOST_TEST(space.size() == 1u);
        co_await held.async_release(asio::use_awaitable);
        BOOST_TEST(space.size() == 0u);
    }
}

asio::awaitable<void> by_default(client& locks, mutex& m, memory_space& space)
{
    lease held = co_await m.async_lock();
    co_await held.async_release();
    held = co_await m.async_try_lock();
    lease inner = co_await m.with_owner(held.share_owner()).async_try_lock();
    co_await inner.async_release();
    co_await held.async_release();
    held = co_await m.async_try_lock_for(1s);
    inner = co_await m.with_owner(held.share_owner()).async_try_lock_for(1s);
    co_await inner.async_release();
    co_await held.async_release();
    held = co_await m.async_try_lock_until(clock::now() + 1s);
    space.clear();
    inner = lease();
    error_code why;
    const mutex brief(locks, "brief", {.lease_time = 10ms, .renew = false});
    lease fixed = co_await brief.async_lock();
    co_await fixed.async_wait_lost(asio::redirect_error(asio::deferred, why));
    BOOST_TEST(why == errc::expired);
    auto [code] = co_await held.async_release(asio::as_tuple);
    BOOST_TEST(code == errc::not_owner);
    co_await locks.async_shutdown();
}

asio::awaitable<void> by_tuples(mutex& m)
{
    auto [code, held] = co_await m.async_lock(asio::as_tuple(asio::use_awaitable));
    BOOST_TEST(!code);
    auto [busy, none] = co_await m.async_try_lock(asio::as_tuple(asio::deferred));
    BOOST_TEST(busy == errc::held);
    BOOST_TEST((busy == condition::busy));
    BOOST_TEST(!none);
    auto [out] = co_await held.async_release(asio::as_tuple(asio::use_awaitable));
    BOOST_TEST(!out);
    auto [again] = co_await held.async_release(asio::as_tuple(asio::use_awaitable));
    BOOST_TEST(again == errc::not_owner);
}

BOOST_AUTO_TEST_CASE(every_operation_can_be_awaited)
{
    run(by_awaitable(m, *space));
    run(by_tuples(m));
    run(by_default(*locks, m, *space));
}

/// The details of an exception of this library. Empty for other exceptions.
diagnostics details_of(const std::exception_ptr& thrown, errc expected)
{
    try {
        BOOST_TEST_REQUIRE((thrown != nullptr));
        std::rethrow_exception(thrown);
    }
    catch (const error_with_diagnostics& e) {
        BOOST_TEST((e.code() == expected));
        BOOST_TEST(std::string(e.what()).starts_with(e.get_diagnostics().to_string() + ": "));
        return e.get_diagnostics();
    }
    catch (const boost::system::system_error& e) {
        BOOST_TEST((e.code() == expected));
        return {};
    }
}

template <class Operation>
asio::awaitable<std::exception_ptr> thrown_by(Operation operation)
{
    std::exception_ptr thrown;
    try {
        static_cast<void>(co_await std::move(operation));
    }
    catch (...) {
        thrown = std::current_exception();
    }
    co_return thrown;
}

asio::awaitable<void> throws_details(client& locks, mutex& m, memory_space& space)
{
    const mutex other(locks, "other", {.lease_time = 10ms, .renew = false});
    lease held = co_await m.async_lock();
    const std::string id = locks.id();
    const auto has_them = [&](const std::exception_ptr& thrown) {
        const diagnostics details = details_of(thrown, errc::held);
        BOOST_TEST(details.key == "a");
        BOOST_TEST(details.server == "memory:");
        BOOST_TEST(details.holder == id);
    };
    std::exception_ptr thrown = co_await thrown_by(m.async_try_lock());
    has_them(thrown);
    thrown = co_await thrown_by(m.async_try_lock(with_diagnostics(asio::use_awaitable)));
    has_them(thrown);
    thrown = co_await thrown_by(m.async_try_lock(with_diagnostics(asio::deferred)));
    has_them(thrown);
    thrown = co_await thrown_by(
        m.async_try_lock(with_diagnostics(asio::cancel_after(10s, asio::deferred))));
    has_them(thrown);
    diagnostics details;
    thrown = co_await thrown_by(m.async_try_lock(details));
    has_them(thrown);
    BOOST_TEST((details == details_of(thrown, errc::held)));
    thrown = co_await thrown_by(m.async_try_lock(details, with_diagnostics(asio::use_awaitable)));
    has_them(thrown);

    // An `error_code` cannot carry details, and neither can another adapter in between.
    thrown = co_await thrown_by(m.async_try_lock(asio::use_awaitable));
    BOOST_TEST(details_of(thrown, errc::held).empty());
    thrown = co_await thrown_by(m.async_try_lock(asio::deferred));
    BOOST_TEST(details_of(thrown, errc::held).empty());
    thrown = co_await thrown_by(
        m.async_try_lock(asio::cancel_after(10s, with_diagnostics(asio::deferred))));
    BOOST_TEST(details_of(thrown, errc::held).empty());

    lease fixed = co_await other.async_lock();
    thrown = co_await thrown_by(fixed.async_wait_lost());
    BOOST_TEST(details_of(thrown, errc::expired).key == "other");
    space.erase("a");
    thrown = co_await thrown_by(held.async_release());
    BOOST_TEST(details_of(thrown, errc::not_owner).key == "a");
    thrown = co_await thrown_by(held.async_release());
    BOOST_TEST(details_of(thrown, errc::not_owner).empty()); // no lease, no details
}

BOOST_AUTO_TEST_CASE(exception_carries_the_details)
{
    run(throws_details(*locks, m, *space));
}

asio::awaitable<void> takes_details(const mutex& m, const mutex& wrong)
{
    diagnostics d;
    lease held = co_await m.async_lock(d);
    lease inner = co_await m.with_owner(held.share_owner()).async_lock(d, asio::use_awaitable);
    co_await inner.async_release(d);
    BOOST_TEST(d.empty());
    const auto refused = [&](const std::tuple<error_code, lease>& got, errc expected) {
        BOOST_TEST((std::get<0>(got) == expected));
        BOOST_TEST(d.key == "a");
        d.clear();
    };
    refused(co_await wrong.async_lock(d, asio::as_tuple), errc::lost);
    refused(co_await m.async_try_lock(d, asio::as_tuple), errc::held);
    refused(co_await wrong.async_try_lock(d, asio::as_tuple), errc::lost);
    refused(co_await m.async_try_lock_for(2ms, d, asio::as_tuple), errc::timed_out);
    refused(co_await wrong.async_try_lock_for(2ms, d, asio::as_tuple), errc::lost);
    refused(co_await m.async_try_lock_until(clock::now() + 2ms, d, asio::as_tuple),
            errc::timed_out);
    refused(co_await wrong.async_try_lock_until(clock::now() + 2ms, d, asio::as_tuple), errc::lost);
    co_await held.async_release(d);
}

BOOST_AUTO_TEST_CASE(every_lock_accepts_diagnostics)
{
    const mutex wrong = m.with_owner(owner("11111111-1111-1111-1111-111111111111:1", 1));
    run(takes_details(m, wrong));
}

BOOST_AUTO_TEST_CASE(with_diagnostics_adapts_futures_and_handlers)
{
    const lease held = take(m);
    auto future = m.async_try_lock(with_diagnostics(asio::use_future));
    BOOST_CHECK_EXCEPTION(
        static_cast<void>(wait(std::move(future))), error_with_diagnostics,
        [&](const error_with_diagnostics& e) { return e.get_diagnostics().key == "a"; });
    // The handler keeps its associated executor and allocator.
    completion<std::exception_ptr, lease> op(context.get_executor());
    op.start([&](auto handler) { m.async_try_lock(with_diagnostics(std::move(handler))); });
    until([&] { return op.done(); });
    BOOST_TEST(op.proper());
    BOOST_TEST(op.allocator().allocations() > 0u);
    BOOST_TEST(details_of(op.value<0>(), errc::held).key == "a");
    completion<std::exception_ptr, lease> waiting(context.get_executor());
    waiting.start([&](auto handler) { m.async_lock(with_diagnostics(std::move(handler))); });
    poll();
    waiting.cancel();
    until([&] { return waiting.done(); });
    BOOST_TEST(waiting.proper());
}

// An operation of another library, or one that throws.
BOOST_AUTO_TEST_CASE(with_diagnostics_accepts_operations_of_other_libraries)
{
    asio::steady_timer timer(context, 1h);
    std::exception_ptr thrown;
    timer.async_wait(with_diagnostics([&](std::exception_ptr e) { thrown = e; }));
    timer.cancel();
    until([&] { return thrown != nullptr; });
    BOOST_CHECK_EXCEPTION(std::rethrow_exception(thrown), boost::system::system_error,
                          [](const auto& e) { return e.code() == asio::error::operation_aborted; });
    bool ended = false;
    asio::co_spawn(
        context, []() -> asio::awaitable<int> { co_return 5; },
        with_diagnostics([&](std::exception_ptr e, int value) {
            ended = true;
            BOOST_TEST((e == nullptr));
            BOOST_TEST(value == 5);
        }));
    until([&] { return ended; });
}

BOOST_AUTO_TEST_CASE(cancel_after_does_not_affect_faster_operations)
{
    each_lock(*this, [&](auto start) {
        std::optional<lease> got;
        start(asio::cancel_after(10s, [&](error_code code, lease held) {
            BOOST_TEST(!code);
            got = std::move(held);
        }));
        until([&] { return got.has_value(); });
        bool out = false;
        got->async_release(asio::cancel_after(10s, [&](error_code code) {
            BOOST_TEST(!code);
            out = true;
        }));
        until([&] { return out; });
    });
}

BOOST_AUTO_TEST_CASE(cancel_after_aborts_slower_operations)
{
    const auto other = make_client();
    lease held = take(m);
    const mutex theirs(*other, "a");
    int ended = 0;
    const auto expect = [&](error_code code, auto&&...) {
        BOOST_TEST(code == asio::error::operation_aborted);
        ++ended;
    };
    m.async_lock(asio::cancel_after(2ms, expect));
    theirs.async_lock(asio::cancel_after(2ms, expect));
    theirs.async_try_lock_for(10s, asio::cancel_after(2ms, expect));
    held.async_wait_lost(asio::cancel_after(2ms, expect));
    until([&] { return ended == 4; });
    BOOST_TEST(held.valid());

    const auto fresh = std::make_unique<client>(context, make_memory_store(space));
    fresh->async_run(asio::cancel_after(2ms, expect));
    until([&] { return ended == 5; });
}

BOOST_AUTO_TEST_CASE(bound_executor_and_allocator_are_used)
{
    each_lock(*this, [&](auto start) {
        const tracker_executor executor(context.get_executor());
        const counting_allocator<> memory;
        std::optional<lease> got;
        start(asio::bind_executor(executor,
                                  asio::bind_allocator(memory, [&](error_code code, lease held) {
                                      BOOST_TEST(!code);
                                      BOOST_TEST(executor.running_here());
                                      BOOST_TEST(memory.live() == 0u);
                                      got = std::move(held);
                                  })));
        until([&] { return got.has_value(); });
        BOOST_TEST(memory.allocations() > 0u);
        bool out = false;
        got->async_release(
            asio::bind_executor(executor, asio::bind_allocator(memory, [&](error_code code) {
                                    BOOST_TEST(!code);
                                    BOOST_TEST(executor.running_here());
                                    out = true;
                                })));
        until([&] { return out; });
        BOOST_TEST(memory.live() == 0u);
    });
}

BOOST_AUTO_TEST_CASE(run_ends_with_shutdown_or_cancel)
{
    const auto fresh = [&] { return std::make_unique<client>(context, make_memory_store(space)); };
    {
        const auto c = fresh();
        auto running = c->async_run(asio::use_future);
        wait(c->async_shutdown(asio::use_future));
        wait(std::move(running));
    }
    {
        const auto c = fresh();
        std::optional<error_code> ran, shut;
        auto running = c->async_run();
        std::move(running)([&](error_code code) { ran = code; });
        c->async_shutdown(asio::cancel_after(10s, [&](error_code code) { shut = code; }));
        until([&] { return ran && shut; });
        BOOST_TEST(!*ran);
        BOOST_TEST(!*shut);
    }
    {
        const auto c = fresh();
        auto running = c->async_run(asio::as_tuple(asio::use_future));
        c->cancel();
        BOOST_TEST(std::get<0>(wait(std::move(running))) == asio::error::operation_aborted);
    }
}

BOOST_AUTO_TEST_SUITE_END()
