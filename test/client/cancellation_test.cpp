// Every operation in every state, cancelled with every type.
#include <boost/test/unit_test.hpp>

#include "support/core_fixture.hpp"
#include "support/memory_lab.hpp"

#include <leasehold/with_lock.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <functional>
#include <initializer_list>
#include <vector>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using asio::cancellation_type;
using outcome = acquire_reply::outcome;

namespace {

const error_code aborted = asio::error::operation_aborted;
const cancellation_type all_types[] = {cancellation_type::terminal, cancellation_type::partial,
                                       cancellation_type::total};
const owner some_owner("11111111-1111-1111-1111-111111111111:1", 7);

// The possible states of an acquisition when it is cancelled.
struct state
{
    const char* name;
    /// The actions of others before the operation began.
    std::function<void(core_fixture&)> before;
    std::function<void(core_fixture&, core_fixture::locking&)>
        after; ///< The events since it began.
};

void nothing(core_fixture&) {}

const std::vector<state> lock_states = {
    {"acquire sent", nothing, [](core_fixture&, core_fixture::locking&) {}},
    {"sleeping behind another client", nothing,
     [](core_fixture& e, core_fixture::locking&) { e.say_held(); }},
    {"sent again after a hint", nothing,
     [](core_fixture& e, core_fixture::locking&) {
         e.say_held();
         e.store->wakeup("a");
         e.poll();
     }},
    {"behind a local holder", [](core_fixture& e) { e.kept.push_back(e.taken(e.spec("a"))); },
     [](core_fixture&, core_fixture::locking&) {}},
    {"behind a local waiter", [](core_fixture& e) { e.others.push_back(e.lock("a")); },
     [](core_fixture&, core_fixture::locking&) {}},
    {"pausing after a refusal", nothing,
     [](core_fixture& e, core_fixture::locking&) { e.fail_acquire(errc::store_refused); }},
    {"pausing after a lost answer", nothing,
     [](core_fixture& e, core_fixture::locking&) { e.fail_acquire(errc::outcome_unknown); }},
    {"store offline", [](core_fixture& e) { e.disconnect(); },
     [](core_fixture&, core_fixture::locking&) {}},
    {"the connection was lost meanwhile", nothing,
     [](core_fixture& e, core_fixture::locking&) { e.disconnect(); }},
    {"behind a release",
     [](core_fixture& e) { e.releases.push_back(e.release(e.taken(e.spec("a")))); },
     [](core_fixture&, core_fixture::locking&) {}},
};

// Every later request is granted, and all grants are released.
void settle(core_fixture& e)
{
    e.connect();
    for (int i = 0; i < 100; ++i) {
        e.renew_all_when_asked = true;
        const auto acquires = e.store->acquires();
        for (std::size_t n = 0; n < acquires.size(); ++n) {
            if (acquires[n].answered)
                continue;
            e.store->complete_acquire(n, {},
                                      {.result = outcome::granted,
                                       .fences = 1,
                                       .first_fence = e.fence++,
                                       .remaining = {}});
        }
        e.poll();
        e.kept.clear();
        for (const auto& each : e.others)
            if (each->done())
                each->value<1>() = lease();
        e.poll();
        const auto releases = e.store->releases();
        for (std::size_t n = 0; n < releases.size(); ++n)
            if (!releases[n].answered)
                e.store->say_freed(n);
        e.advance(100ms);
        if (e.store->pending() == 0 && i > 10)
            break;
    }
    BOOST_TEST(e.stats().held == 0u);
    BOOST_TEST(e.stats().waiting == 0u);
    BOOST_TEST(e.stats().orphans == 0u);
    BOOST_TEST(e.store->misuse() == "");
    for (const auto& each : e.others)
        BOOST_TEST(each->done());
    // Every requested owner was released or never held the lock.
    e.advance(2s);
    BOOST_TEST(e.store->watched().empty());
}

void check_aborted_once(core_fixture& e, core_fixture::locking& op)
{
    BOOST_TEST_REQUIRE(op.done());
    BOOST_TEST(op.value<0>() == aborted);
    BOOST_TEST(!op.value<1>());
    BOOST_TEST(op.proper());
    settle(e);
    BOOST_TEST(op.calls() == 1);
}

} // namespace

BOOST_AUTO_TEST_SUITE(cancellation)

BOOST_AUTO_TEST_CASE(F1_lock_is_aborted_in_every_state)
{
    for (const state& each : lock_states) {
        for (const auto type : all_types) {
            for (const clock::duration limit : {clock::duration::max(), clock::duration(60s)}) {
                BOOST_TEST_CONTEXT(each.name << ", type " << static_cast<int>(type))
                {
                    core_fixture e;
                    each.before(e);
                    const auto op = e.lock(e.spec("a"), limit);
                    each.after(e, *op);
                    BOOST_TEST_REQUIRE(!op->done());
                    op->cancel(type);
                    e.poll();
                    check_aborted_once(e, *op);
                    // Another operation acquires the lock.
                    const auto next = e.lock("a");
                    e.grant();
                    BOOST_TEST(next->done());
                    BOOST_TEST(next->value<1>().valid());
                }
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(F1_try_with_an_outstanding_request_is_aborted)
{
    for (const auto type : all_types) {
        core_fixture e;
        const auto op = e.lock(e.spec("a"), 0s);
        op->cancel(type);
        e.poll();
        check_aborted_once(e, *op);
    }
}

BOOST_AUTO_TEST_CASE(F1_lock_is_aborted_before_it_starts_on_the_strand)
{
    for (const auto type : all_types) {
        core_fixture e;
        core_fixture::locking op(e.context.get_executor());
        const auto spec = e.spec("a");
        op.start([&](auto handler) { e.async_lock(spec, std::move(handler)); });
        op.cancel(type);
        e.poll();
        check_aborted_once(e, op);
    }
}

BOOST_AUTO_TEST_CASE(F1_cancellation_during_delivery_of_the_grant_leaves_no_lock)
{
    for (const auto type : all_types) {
        core_fixture e;
        const auto op = e.lock("a");
        e.store->grant(0, 1);
        op->cancel(type); // the store has answered, and the reply has not arrived yet
        e.poll();
        // The grant or the cancellation came first. Neither leaves a lock behind.
        BOOST_TEST_REQUIRE(op->done());
        if (op->value<0>())
            BOOST_TEST(op->value<0>() == aborted);
        op->value<1>() = lease();
        settle(e);
    }
}

BOOST_AUTO_TEST_CASE(F1_reentrant_acquisition_is_aborted_in_every_state)
{
    const struct
    {
        const char* name;
        void (*before)(core_fixture&);
        void (*after)(core_fixture&);
    } states[] = {
        {"sent", [](core_fixture&) {}, [](core_fixture&) {}},
        {"pausing after a refusal", [](core_fixture&) {},
         [](core_fixture& e) { e.fail_acquire(errc::store_refused); }},
        {"pausing after a lost answer", [](core_fixture&) {},
         [](core_fixture& e) { e.fail_acquire(errc::outcome_unknown); }},
        {"pausing because it was late", [](core_fixture&) {},
         [](core_fixture& e) { e.say(outcome::late); }},
        {"offline", [](core_fixture& e) { e.disconnect(); }, [](core_fixture&) {}},
    };
    for (const auto& each : states) {
        for (const auto type : all_types) {
            BOOST_TEST_CONTEXT(each.name << ", type " << static_cast<int>(type))
            {
                core_fixture e;
                each.before(e);
                const auto op = e.lock(e.spec("a"), clock::duration::max(), some_owner);
                each.after(e);
                BOOST_TEST_REQUIRE(!op->done());
                op->cancel(type);
                e.poll();
                check_aborted_once(e, *op);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(cancelled_wait_for_a_release_does_not_stop_the_release)
{
    for (const bool offline : {false, true}) {
        for (const auto type : all_types) {
            core_fixture e;
            lease held = e.taken(e.spec("a"));
            if (offline)
                e.disconnect();
            const auto op = e.release(std::move(held));
            BOOST_TEST_REQUIRE(!op->done());
            op->cancel(type);
            e.poll();
            BOOST_TEST(op->proper());
            BOOST_TEST(op->value<0>() == aborted);
            settle(e);
            BOOST_TEST(e.store->release_count() == 1u);
        }
    }
}

BOOST_AUTO_TEST_CASE(release_cancelled_before_it_starts_is_still_sent)
{
    for (const auto type : all_types) {
        core_fixture e;
        lease held = e.taken(e.spec("a"));
        core_fixture::waiting op(e.context.get_executor());
        op.start([&](auto handler) { held.async_release(std::move(handler)); });
        op.cancel(type);
        e.poll();
        BOOST_TEST_REQUIRE(op.done());
        BOOST_TEST(op.proper());
        BOOST_TEST(op.value<0>() == aborted);
        BOOST_TEST(e.store->release_count() == 1u);
        settle(e);
    }
}

BOOST_AUTO_TEST_CASE(cancelled_wait_for_a_loss_keeps_the_lease)
{
    for (const auto type : all_types) {
        core_fixture e;
        lease held = e.taken(e.spec("a"));
        const auto other = e.wait_lost(held);
        const auto op = e.wait_lost(held);
        op->cancel(type);
        e.poll();
        BOOST_TEST(op->proper());
        BOOST_TEST(op->value<0>() == aborted);
        BOOST_TEST(held.valid());
        BOOST_TEST(!other->done());
        core_fixture::waiting early(e.context.get_executor());
        early.start([&](auto handler) { held.async_wait_lost(std::move(handler)); });
        early.cancel(type);
        e.poll();
        BOOST_TEST(early.proper());
        BOOST_TEST(early.value<0>() == aborted);
        e.advance(10s);
        e.renew_all(renewal_result::gone);
        BOOST_TEST(other->value<0>() == errc::lost);
        BOOST_TEST(op->calls() == 1);
    }
}

BOOST_AUTO_TEST_CASE(cancelled_run_stops_the_client)
{
    for (const auto type : all_types) {
        core_fixture e;
        const auto waits = e.lock("a");
        lease held = e.taken(e.spec("b"));
        const auto lost = e.wait_lost(held);
        e.running.cancel(type);
        e.poll();
        BOOST_TEST(waits->value<0>() == errc::shut_down);
        BOOST_TEST(lost->value<0>() == errc::shut_down);
        e.advance(1s);
        BOOST_TEST(e.running.proper());
        BOOST_TEST(e.running.value<0>() == aborted);
    }
}

BOOST_AUTO_TEST_CASE(run_is_aborted_before_it_starts_on_the_strand)
{
    for (const auto type : all_types) {
        core_fixture e(false);
        e.running.start([&](auto handler) { e.async_run(std::move(handler)); });
        e.running.cancel(type);
        e.poll();
        BOOST_TEST_REQUIRE(e.running.done());
        BOOST_TEST(e.running.proper());
        BOOST_TEST(e.running.value<0>() == aborted);
    }
}

BOOST_AUTO_TEST_CASE(emission_after_completion_has_no_effect)
{
    core_fixture e;
    const auto op = e.lock("a");
    e.grant();
    BOOST_TEST(op->done());
    for (const auto type : all_types)
        op->cancel(type);
    e.poll();
    BOOST_TEST(op->calls() == 1);
    BOOST_TEST(op->value<1>().valid());
    const auto out = e.release(std::move(op->value<1>()));
    e.say_freed();
    out->cancel();
    e.poll();
    BOOST_TEST(out->calls() == 1);
    BOOST_TEST(!out->value<0>());
}

BOOST_AUTO_TEST_CASE(second_emission_has_no_effect)
{
    core_fixture e;
    const auto op = e.lock("a");
    op->cancel(cancellation_type::total);
    op->cancel(cancellation_type::terminal);
    e.poll();
    check_aborted_once(e, *op);
}

// W8: a wake-up of a cancelled waiter wakes the next.
BOOST_AUTO_TEST_CASE(W8_handoff_to_a_cancelled_waiter_serves_the_next)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"), 1001);
    const auto one = e.lock("a");
    const auto two = e.lock("a");
    // A handoff and a cancellation at the same moment.
    core_fixture::waiting out(e.context.get_executor());
    out.start([&](auto handler) { held.async_release(std::move(handler)); });
    one->cancel();
    e.poll();
    BOOST_TEST_REQUIRE(one->done());
    if (!one->value<0>())
        one->value<1>() = lease();
    e.poll();
    BOOST_TEST_REQUIRE(two->done());
    BOOST_TEST(two->value<1>().valid());
}

BOOST_AUTO_TEST_CASE(W8_last_waiter_is_served_when_all_others_are_cancelled)
{
    core_fixture e;
    std::vector<std::shared_ptr<core_fixture::locking>> waiters;
    for (int i = 0; i < 20; ++i)
        waiters.push_back(e.lock("a"));
    e.say_held();
    e.store->wakeup("a");
    e.poll();
    for (int i = 0; i < 19; ++i)
        waiters[static_cast<std::size_t>(i)]->cancel();
    e.poll();
    e.grant();
    BOOST_TEST(waiters.back()->done());
    BOOST_TEST(waiters.back()->value<1>().valid());
    BOOST_TEST(e.stats().waiting == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

// The usual ways to cancel, in real time and with locks in memory.
BOOST_AUTO_TEST_SUITE(cancellation_by_users)

BOOST_AUTO_TEST_CASE(cancel_after_aborts_a_waiting_lock)
{
    memory_lab lab;
    const auto holder = lab.make_client(), waiter = lab.make_client();
    lease held = lab.take(mutex(*holder, "a"));
    for (const bool local : {false, true}) {
        const mutex m(local ? *holder : *waiter, "a");
        int calls = 0;
        error_code why;
        m.async_lock(asio::cancel_after(5ms, [&](error_code code, lease) {
            ++calls;
            why = code;
        }));
        lab.until([&] { return calls > 0; });
        BOOST_TEST(why == aborted);
        BOOST_TEST(calls == 1);
    }
    BOOST_TEST(held.valid());
    BOOST_TEST(lab.release(std::move(held)) == error_code());
    lab.until_idle(*holder);
    lab.until_idle(*waiter);
}

asio::awaitable<void> race(memory_lab& lab, client& holder, client& waiter, int& done)
{
    using namespace asio::experimental::awaitable_operators;
    const mutex mine(waiter, "a"), theirs(holder, "a");
    asio::steady_timer soon(co_await asio::this_coro::executor, 5ms);
    for (int i = 0; i < 3; ++i) {
        lease held = co_await theirs.async_lock(asio::use_awaitable);
        soon.expires_after(2ms);
        const auto first = co_await (mine.async_lock(asio::use_awaitable) ||
                                     soon.async_wait(asio::use_awaitable));
        BOOST_TEST(first.index() == 1u);
        BOOST_TEST(held.valid());
        co_await held.async_release(asio::use_awaitable);
        // The lock is free, and the cancelled waiter does not delay the others.
        soon.expires_after(10s);
        auto second = co_await (mine.async_lock(asio::use_awaitable) ||
                                soon.async_wait(asio::use_awaitable));
        BOOST_TEST_REQUIRE(second.index() == 0u);
        BOOST_TEST(std::get<0>(second).valid());
        co_await std::get<0>(second).async_release(asio::use_awaitable);
    }
    BOOST_TEST(lab.space->size() == 0u);
    ++done;
}

BOOST_AUTO_TEST_CASE(slower_of_two_awaited_locks_is_cancelled)
{
    memory_lab lab;
    const auto holder = lab.make_client(), waiter = lab.make_client();
    int done = 0;
    std::exception_ptr failed;
    asio::co_spawn(lab.context, race(lab, *holder, *waiter, done),
                   [&](std::exception_ptr e) { failed = e; });
    lab.until([&] { return done == 1 || failed; });
    BOOST_TEST(!failed);
    lab.until_idle(*holder);
    lab.until_idle(*waiter);
}

BOOST_AUTO_TEST_CASE(locks_cancelled_at_random_complete_once_and_leave_no_lock)
{
    memory_lab lab;
    const auto one = lab.make_client(), two = lab.make_client();
    constexpr int many = 300;
    int ended = 0, got = 0;
    std::vector<asio::cancellation_signal> signals(many);
    std::vector<lease> leases;
    for (int i = 0; i < many; ++i) {
        const mutex m(i % 2 == 0 ? *one : *two, "a");
        m.async_lock(asio::bind_cancellation_slot(signals[static_cast<std::size_t>(i)].slot(),
                                                  [&](error_code code, lease held) {
                                                      ++ended;
                                                      got += code ? 0 : 1;
                                                      BOOST_TEST((!code || code == aborted));
                                                      held = lease(); // at once
                                                  }));
        if (i % 3 == 0)
            signals[static_cast<std::size_t>(i / 2)].emit(all_types[i % 2 == 0 ? 0 : 2]);
        if (i % 7 == 0)
            lab.poll();
    }
    lab.until([&] { return ended == many; });
    BOOST_TEST(got > 0);
    lab.until_idle(*one);
    lab.until_idle(*two);
}

BOOST_AUTO_TEST_SUITE_END()
