// Each handler is called once, on its executor, never inside the initiating function, and after all
// memory of the operation was freed.
#include <boost/test/unit_test.hpp>

#include "support/core_fixture.hpp"
#include "support/memory_lab.hpp"
#include "support/run.hpp"

#include <leasehold/detail/access.hpp>
#include <leasehold/detail/initiation.hpp>

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/bind_immediate_executor.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;

namespace {

const error_code aborted = asio::error::operation_aborted;

// For events on another thread, which do not wake this context.
template <class Predicate>
void turn_until(core_fixture& e, Predicate done)
{
    const auto work = asio::make_work_guard(e.context);
    for (int i = 0; i < 10'000 && !done(); ++i) {
        e.context.restart();
        e.context.run_for(1ms);
    }
}

// Starts an operation with the given handler, and brings it to its end.
struct ending_case
{
    const char* name;
    bool running;
    std::function<void(core_fixture&, core_fixture::locking&)> lock; ///< One of these two.
    std::function<void(core_fixture&, core_fixture::waiting&)> other;
};

auto starts_lock(detail::spec_ptr spec, clock::duration limit = clock::duration::max())
{
    return [spec, limit](auto handler) {
        core_fixture::start_lock(std::move(handler), spec, {}, limit);
    };
}

const std::vector<ending_case> cases = {
    {"granted",
     true,
     [](core_fixture& e, core_fixture::locking& op) {
         op.start(starts_lock(e.spec("a")));
         e.poll();
         e.grant();
     },
     {}},
    {"held",
     true,
     [](core_fixture& e, core_fixture::locking& op) {
         op.start(starts_lock(e.spec("a"), 0s));
         e.poll();
         e.say_held();
     },
     {}},
    {"timed out",
     true,
     [](core_fixture& e, core_fixture::locking& op) {
         op.start(starts_lock(e.spec("a"), 1s));
         e.poll();
         e.say_held();
         e.advance(2s);
     },
     {}},
    {"handed over",
     true,
     [](core_fixture& e, core_fixture::locking& op) {
         lease held = e.taken(e.spec("a"), 100);
         op.start(starts_lock(e.spec("a")));
         e.poll();
         held = lease();
         e.poll();
     },
     {}},
    {"cancelled",
     true,
     [](core_fixture& e, core_fixture::locking& op) {
         op.start(starts_lock(e.spec("a")));
         e.poll();
         op.cancel();
         e.poll();
     },
     {}},
    {"shut down while waiting",
     true,
     [](core_fixture& e, core_fixture::locking& op) {
         op.start(starts_lock(e.spec("a")));
         e.poll();
         e.shutdown();
     },
     {}},
    {"shut down before",
     true,
     [](core_fixture& e, core_fixture::locking& op) {
         e.shutdown();
         op.start(starts_lock(e.spec("a")));
         e.poll();
     },
     {}},
    {"not running",
     false,
     [](core_fixture& e, core_fixture::locking& op) {
         op.start(starts_lock(e.spec("a")));
         e.poll();
     },
     {}},
    {"entered",
     true,
     [](core_fixture& e, core_fixture::locking& op) {
         e.kept.push_back(e.taken(e.spec("a")));
         op.start([&](auto handler) {
             core_fixture::start_lock(std::move(handler), e.spec("a"), e.kept[0].share_owner(),
                                      clock::duration::max());
         });
         e.poll();
         e.say(acquire_reply::outcome::granted);
     },
     {}},
    {"not entered",
     true,
     [](core_fixture& e, core_fixture::locking& op) {
         op.start([&](auto handler) {
             core_fixture::start_lock(std::move(handler), e.spec("a"),
                                      owner("11111111-1111-1111-1111-111111111111:1", 1),
                                      clock::duration::max());
         });
         e.poll();
         e.say(acquire_reply::outcome::gone);
     },
     {}},
    {"released",
     true,
     {},
     [](core_fixture& e, core_fixture::waiting& op) {
         lease held = e.taken(e.spec("a"));
         op.start([&](auto handler) { held.async_release(std::move(handler)); });
         e.poll();
         e.say_freed();
     }},
    {"released to the next",
     true,
     {},
     [](core_fixture& e, core_fixture::waiting& op) {
         lease held = e.taken(e.spec("a"), 100);
         e.lock("a");
         op.start([&](auto handler) { held.async_release(std::move(handler)); });
         e.poll();
     }},
    {"lost",
     true,
     {},
     [](core_fixture& e, core_fixture::waiting& op) {
         e.kept.push_back(e.taken(e.spec("a")));
         op.start([&](auto handler) { e.kept[0].async_wait_lost(std::move(handler)); });
         e.advance(10s);
         e.renew_all(renewal_result::gone);
     }},
    {"already lost",
     true,
     {},
     [](core_fixture& e, core_fixture::waiting& op) {
         e.kept.push_back(e.taken(e.spec("a")));
         e.skip(60s);
         op.start([&](auto handler) { e.kept[0].async_wait_lost(std::move(handler)); });
         e.poll();
     }},
    {"release of a lost lease",
     true,
     {},
     [](core_fixture& e, core_fixture::waiting& op) {
         lease held = e.taken(e.spec("a"));
         e.disconnect();
         e.skip(60s);
         op.start([&](auto handler) { held.async_release(std::move(handler)); });
         e.poll();
     }},
    {"release of no lease",
     true,
     {},
     [](core_fixture& e, core_fixture::waiting& op) {
         op.start([&](auto handler) { lease().async_release(std::move(handler)); });
         turn_until(e, [&] { return op.done(); });
     }},
    {"run twice",
     true,
     {},
     [](core_fixture& e, core_fixture::waiting& op) {
         op.start([&](auto handler) { e.async_run(std::move(handler)); });
         e.poll();
     }},
    {"run and shut down",
     false,
     {},
     [](core_fixture& e, core_fixture::waiting& op) {
         op.start([&](auto handler) { e.async_run(std::move(handler)); });
         e.poll();
         e.shutdown();
     }},
    {"shutdown",
     true,
     {},
     [](core_fixture& e, core_fixture::waiting& op) {
         op.start([&](auto handler) { e.async_shutdown(std::move(handler)); });
         e.poll();
     }},
};

// Runs everything at once.
struct inline_executor
{
    asio::execution_context* owner_;

    template <class Function>
    void execute(Function&& function) const
    {
        std::forward<Function>(function)();
    }
    bool operator==(const inline_executor&) const = default;
    asio::execution_context& query(asio::execution::context_t) const noexcept { return *owner_; }
};

} // namespace

BOOST_AUTO_TEST_SUITE(completions)

// `proper`: once, not inside the initiating function, on its associated executor, all memory of its
// allocator freed before.
BOOST_AUTO_TEST_CASE(handler_is_called_properly_at_every_end_of_every_operation)
{
    for (const ending_case& each : cases) {
        BOOST_TEST_CONTEXT(each.name)
        {
            core_fixture e(each.running);
            const auto lock = e.make<core_fixture::locking>();
            const auto other = e.make<core_fixture::waiting>();
            if (each.lock) {
                each.lock(e, *lock);
                BOOST_TEST_REQUIRE(lock->done());
                BOOST_TEST(lock->proper());
                BOOST_TEST(lock->handler_gone());
            }
            else {
                each.other(e, *other);
                BOOST_TEST_REQUIRE(other->done());
                BOOST_TEST(other->proper());
                BOOST_TEST(other->handler_gone());
            }
        }
    }
}

// If the executor belongs to another context, the handler runs there and nowhere else. That context
// stays busy until then.
BOOST_AUTO_TEST_CASE(handler_of_another_context_keeps_that_context_busy)
{
    for (const ending_case& each : cases) {
        BOOST_TEST_CONTEXT(each.name)
        {
            asio::io_context elsewhere;
            core_fixture e(each.running);
            const auto lock = std::make_shared<core_fixture::locking>(elsewhere.get_executor());
            const auto other = std::make_shared<core_fixture::waiting>(elsewhere.get_executor());
            const auto done = [&] { return lock->done() || other->done(); };
            // The other context has its own thread, and ends when it has no work.
            std::jthread thread;
            const auto guard = asio::make_work_guard(elsewhere);
            thread = std::jthread([&] { elsewhere.run(); });
            if (each.lock)
                each.lock(e, *lock);
            else
                each.other(e, *other);
            turn_until(e, done);
            const auto check = [](const auto& op) {
                BOOST_TEST(op.proper());
                BOOST_TEST(op.calls() == 1);
                BOOST_TEST(!op.inside_initiation());
                BOOST_TEST(!op.off_executor());
            };
            if (each.lock)
                check(*lock);
            else
                check(*other);
            elsewhere.stop();
            thread.join();
        }
    }
}

BOOST_AUTO_TEST_CASE(outstanding_operation_is_work_of_the_context_of_its_handler)
{
    core_fixture e;
    asio::io_context elsewhere;
    {
        core_fixture::locking lock(elsewhere.get_executor());
        lock.start(starts_lock(e.spec("a")));
        lease held = e.taken(e.spec("b"));
        core_fixture::waiting lost(elsewhere.get_executor());
        lost.start([&](auto handler) { held.async_wait_lost(std::move(handler)); });
        e.poll();
        elsewhere.restart();
        elsewhere.poll();
        BOOST_TEST(!elsewhere.stopped()); // it has work, although nothing is ready
        e.store->grant(0, 100);
        e.poll();
        held = lease();
        e.poll();
        elsewhere.run(); // ends: nothing is outstanding any more
        BOOST_TEST(lock.proper());
        BOOST_TEST(lost.proper());
        BOOST_TEST(lost.value<0>() == aborted);
    }
}

BOOST_AUTO_TEST_CASE(outstanding_operation_is_work_of_the_context_of_its_client)
{
    core_fixture e;
    const auto op = e.lock("a"); // its handler is bound to this context
    e.context.restart();
    e.context.poll();
    BOOST_TEST(!e.context.stopped());
    e.grant();
    BOOST_TEST(op->done());
}

// The default executor is a strand of the client, but not the one that its own work runs on.
BOOST_AUTO_TEST_CASE(handler_without_an_executor_runs_on_the_executor_of_the_client)
{
    using strand_type = asio::strand<asio::io_context::executor_type>;
    memory_lab lab;
    const auto one = lab.make_client();
    const mutex m(*one, "a");
    const asio::any_io_executor executor = one->get_executor();
    BOOST_TEST((executor == m.get_executor()));
    const auto* strand = executor.target<strand_type>();
    BOOST_TEST_REQUIRE(strand != nullptr);
    const asio::any_io_executor inside = detail::access::state_of(*one)->executor();
    const auto* core_strand = inside.target<strand_type>();
    BOOST_TEST_REQUIRE(core_strand != nullptr);
    int called = 0, on_strand = 0, inside_core = 0;
    const auto look = [&] {
        ++called;
        on_strand += strand->running_in_this_thread();
        inside_core += core_strand->running_in_this_thread();
    };
    m.async_lock([&](error_code code, lease held) {
        BOOST_TEST(!code);
        look();
        held.async_release([&](error_code) { look(); });
    });
    one->async_run([&](error_code code) {
        BOOST_TEST(code == errc::already_running);
        look();
    });
    lab.until([&] { return called == 3; });
    BOOST_TEST(on_strand == 3);
    BOOST_TEST(inside_core == 0);
}

BOOST_AUTO_TEST_CASE(immediate_error_uses_the_immediate_executor)
{
    for (const int index : {0, 1, 2}) {
        core_fixture e(index == 1);
        const tracker_executor way_out(e.context.get_executor());
        const tracker_executor own(e.context.get_executor());
        int calls = 0;
        const auto handler = asio::bind_immediate_executor(
            way_out, asio::bind_executor(own, [&](error_code code) {
                ++calls;
                BOOST_TEST(code);
                BOOST_TEST(own.running_here());
            }));
        switch (index) {
        case 0: {
            core_fixture::start_lock(
                asio::bind_immediate_executor(
                    way_out, asio::bind_executor(own,
                                                 [&](error_code code, lease) {
                                                     ++calls;
                                                     BOOST_TEST(code == errc::not_running);
                                                     BOOST_TEST(own.running_here());
                                                 })),
                e.spec("a"), {}, clock::duration::max());
            break;
        }
        case 1: e.async_run(handler); break;
        case 2: lease().async_release(handler); break;
        }
        BOOST_TEST(calls == 0);
        // A lease that is empty has no client. The handler goes straight to its executor.
        BOOST_TEST(way_out.submissions() == (index == 2 ? 0u : 1u));
        e.poll();
        BOOST_TEST(calls == 1);
    }
}

BOOST_AUTO_TEST_CASE(later_completion_does_not_use_the_immediate_executor)
{
    core_fixture e;
    const tracker_executor way_out(e.context.get_executor());
    int calls = 0;
    core_fixture::start_lock(asio::bind_immediate_executor(
                                 way_out, asio::bind_executor(e.context.get_executor(),
                                                              [&](error_code, lease) { ++calls; })),
                             e.spec("a"), {}, clock::duration::max());
    e.poll();
    e.grant();
    BOOST_TEST(calls == 1);
    BOOST_TEST(way_out.submissions() == 0u);
}

BOOST_AUTO_TEST_CASE(inline_immediate_executor_calls_the_handler_within_the_initiation)
{
    core_fixture e(false);
    int calls = 0;
    core_fixture::start_lock(asio::bind_immediate_executor(inline_executor{&e.context},
                                                           [&](error_code code, lease) {
                                                               ++calls;
                                                               BOOST_TEST(code ==
                                                                          errc::not_running);
                                                           }),
                             e.spec("a"), {}, clock::duration::max());
    BOOST_TEST(calls == 1);
}

// When the handler is called, the operation has freed all its memory except what the handler itself
// holds.
BOOST_AUTO_TEST_CASE(memory_is_freed_before_the_handler_runs)
{
    core_fixture e;
    const counting_allocator<> allocator;
    const auto held_by_handler = std::make_shared<int>();
    const std::weak_ptr<int> watch = held_by_handler;
    std::optional<std::size_t> live;
    long users = -1;
    core_fixture::start_lock(
        asio::bind_allocator(allocator,
                             asio::bind_executor(e.context.get_executor(),
                                                 [&, held = held_by_handler](error_code, lease) {
                                                     live = allocator.live();
                                                     users = watch.use_count();
                                                 })),
        e.spec("a"), {}, clock::duration::max());
    BOOST_TEST(allocator.allocations() > 0u);
    e.poll();
    e.grant();
    BOOST_TEST(live.value() == 0u);
    // One for the handler, one for this test: no copy was made.
    BOOST_TEST(users == 2);
    BOOST_TEST(watch.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(emission_within_the_handler_has_no_effect)
{
    core_fixture e;
    asio::cancellation_signal signal;
    int calls = 0;
    core_fixture::start_lock(
        asio::bind_cancellation_slot(
            signal.slot(), asio::bind_executor(e.context.get_executor(),
                                               [&](error_code code, lease held) {
                                                   ++calls;
                                                   BOOST_TEST(!code);
                                                   signal.emit(asio::cancellation_type::all);
                                                   e.kept.push_back(std::move(held));
                                               })),
        e.spec("a"), {}, clock::duration::max());
    e.poll();
    e.grant();
    signal.emit(asio::cancellation_type::all);
    e.poll();
    BOOST_TEST(calls == 1);
    BOOST_TEST(e.kept.at(0).valid());
}

// The slot frees its part of the operation before the handler runs, and with it the last reference
// to the client.
BOOST_AUTO_TEST_CASE(slot_that_outlives_its_operation_keeps_no_memory_of_it)
{
    asio::cancellation_signal signal;
    std::weak_ptr<const detail::lock_spec> watch;
    core_fixture e;
    bool kept = true;
    {
        const auto spec = e.spec("a");
        watch = spec;
        core_fixture::start_lock(asio::bind_cancellation_slot(
                                     signal.slot(), asio::bind_executor(e.context.get_executor(),
                                                                        [&](error_code, lease) {
                                                                            kept = !watch.expired();
                                                                        })),
                                 spec, {}, clock::duration::zero());
    }
    e.poll();
    e.say_held();
    BOOST_TEST(!kept);
}

// An operation and its slot do not keep each other alive.
BOOST_AUTO_TEST_CASE(client_state_is_destroyed_with_its_last_user)
{
    std::weak_ptr<detail::client_state> watch;
    {
        core_fixture e;
        watch = e.core;
        const auto op = e.lock("a");
        const auto other = e.lock("a");
        other->cancel();
        e.poll();
        e.grant();
        lease held = std::move(op->value<1>());
        e.wait_lost(held);
        e.release(std::move(held));
        e.say_freed();
        e.shutdown();
        BOOST_TEST(e.running.done());
    }
    BOOST_TEST(watch.expired());
}

BOOST_AUTO_TEST_CASE(handlers_are_destroyed_uncalled_with_the_context)
{
    const auto token = std::make_shared<int>();
    int calls = 0;
    {
        auto e = std::make_unique<core_fixture>();
        lease held = e->taken(e->spec("b"));
        const auto spec = e->spec("a");
        for (int i = 0; i < 3; ++i)
            core_fixture::start_lock([token, &calls](error_code, lease) { ++calls; }, spec, {},
                                     clock::duration::max());
        core_fixture::start_lock([token, &calls](error_code, lease) { ++calls; }, spec,
                                 held.share_owner(), clock::duration::max());
        held.async_wait_lost([token, &calls](error_code) { ++calls; });
        e->poll();
        lease other = e->taken(e->spec("c"));
        other.async_release([token, &calls](error_code) { ++calls; });
        e->context.restart();
        e->context.poll();
        BOOST_TEST(token.use_count() > 6);
        BOOST_TEST(calls == 0);
        e->abandon();
        e.reset();
    }
    BOOST_TEST(calls == 0);
    BOOST_TEST(token.use_count() == 1);
}

// The handlers are destroyed even if another context, which continues, would run them.
BOOST_AUTO_TEST_CASE(handlers_of_another_context_are_destroyed_uncalled_with_the_client)
{
    asio::io_context elsewhere;
    const auto token = std::make_shared<int>();
    int calls = 0;
    const auto handler = [&] {
        return asio::bind_executor(elsewhere.get_executor(), [token, &calls](auto...) { ++calls; });
    };
    auto e = std::make_unique<core_fixture>();
    lease held = e->taken(e->spec("b"));
    core_fixture::start_lock(handler(), e->spec("a"), {}, clock::duration::max());
    core_fixture::start_lock(handler(), e->spec("b"), held.share_owner(), clock::duration::max());
    held.async_wait_lost(handler());
    lease other = e->taken(e->spec("c"));
    other.async_release(handler());
    e->context.restart();
    e->context.poll();
    BOOST_TEST(token.use_count() > 4);
    e->abandon();
    held = {};
    e.reset();
    elsewhere.run();
    BOOST_TEST(calls == 0);
    BOOST_TEST(token.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(assigned_completion_executor_ends_the_work_of_its_old_context)
{
    using detail::completion_executor;
    for (const bool erased : {false, true}) {
        asio::io_context first, second;
        const auto of = [&](asio::io_context& context) {
            return erased ? completion_executor(asio::any_io_executor(asio::make_strand(context)))
                          : completion_executor(context.get_executor());
        };
        completion_executor one = of(first);
        first.poll();
        BOOST_TEST(!first.stopped());
        one = of(second);
        first.poll();
        BOOST_TEST(first.stopped());
        completion_executor& same = one;
        one = std::move(same);
        second.poll();
        BOOST_TEST(!second.stopped());
        bool ran = false;
        one.post([&] { ran = true; });
        second.poll();
        BOOST_TEST(ran);
        one.reset();
        second.poll();
        BOOST_TEST(second.stopped());
    }
}

// Moving a lease while its operations are outstanding.
BOOST_AUTO_TEST_CASE(lease_can_be_moved_during_a_wait_for_its_loss)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"));
    const auto lost = e.wait_lost(held);
    lease moved = std::move(held);
    BOOST_TEST(!held);
    BOOST_TEST(moved.valid());
    auto on_heap = std::make_unique<lease>(std::move(moved));
    const auto again = e.wait_lost(*on_heap);
    e.advance(10s);
    e.renew_all(renewal_result::gone);
    BOOST_TEST(lost->value<0>() == errc::lost);
    BOOST_TEST(again->value<0>() == errc::lost);
    BOOST_TEST(!on_heap->valid());
}

BOOST_AUTO_TEST_CASE(assigning_to_a_lease_releases_what_it_held)
{
    core_fixture e;
    lease a = e.taken(e.spec("a"));
    const auto lost = e.wait_lost(a);
    a = e.taken(e.spec("b"));
    e.poll();
    BOOST_TEST(lost->value<0>() == aborted);
    BOOST_TEST(a.name() == "b");
    BOOST_TEST(e.last_release().name == "a");
    lease& self = a;
    a = std::move(self);
    BOOST_TEST(a.valid());
    e.poll();
    BOOST_TEST(e.store->release_count() == 1u);
}

BOOST_AUTO_TEST_CASE(lease_can_be_released_in_the_handler_of_its_loss)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"));
    std::optional<error_code> released;
    held.async_wait_lost(asio::bind_executor(e.context.get_executor(), [&](error_code code) {
        BOOST_TEST(code == errc::lost);
        BOOST_TEST(!held.valid());
        held.async_release(asio::bind_executor(e.context.get_executor(),
                                               [&](error_code outcome) { released = outcome; }));
    }));
    e.advance(10s);
    e.renew_all(renewal_result::gone);
    BOOST_TEST(released.value() == errc::lost);
}

BOOST_AUTO_TEST_CASE(deferred_wait_for_a_loss_started_after_the_release_is_aborted)
{
    for (const bool is_answered : {false, true}) {
        core_fixture e;
        lease held = e.taken(e.spec("a"));
        auto later = held.async_wait_lost(asio::deferred);
        const auto released = e.release(std::move(held));
        if (is_answered)
            e.say_freed();
        std::optional<error_code> outcome;
        std::move(later)([&](error_code code) { outcome = code; });
        e.poll();
        BOOST_TEST_REQUIRE(outcome.has_value());
        BOOST_TEST(*outcome == aborted);
        if (!is_answered)
            e.say_freed();
        BOOST_TEST(released->value<0>() == error_code());
    }
}

// A deferred release that is never started still releases.
BOOST_AUTO_TEST_CASE(deferred_release_takes_the_lease_at_once)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"));
    {
        const auto later = held.async_release(asio::deferred);
        BOOST_TEST(!held);
        e.poll();
        BOOST_TEST(e.store->release_count() == 0u);
    }
    e.poll();
    BOOST_TEST(e.store->release_count() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
