// The effect of each failed allocation. In the initiating call, it throws and has no other effect.
// On the strand, it ends the client, and `run` of the context throws. A lock is never orphaned for
// longer than its lease time, and no handler is called twice or kept.
#include <boost/test/results_collector.hpp>
#include <boost/test/unit_test.hpp>

#include "core/client_state.hpp"
#include "support/failing_memory.hpp"

#include <leasehold/client.hpp>
#include <leasehold/detail/access.hpp>
#include <leasehold/lease.hpp>
#include <leasehold/memory.hpp>
#include <leasehold/mutex.hpp>
#include <leasehold/with_lock.hpp>

#include <boost/asio/append.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

using namespace leasehold;
using test::failing_memory;
using namespace std::chrono_literals;

namespace {

constexpr lock_options quick{.lease_time = 100ms};
constexpr std::size_t most_allocations = 2000; ///< Per operation. More allocations mean a loop.

/// The calls and results of a handler.
struct fate
{
    int calls = 0;
    error_code code;
    lease held;
};

/// Two clients of one memory space. Allocations fail in one of them. Members declared before the
/// clients outlive them.
struct scene
{
    std::shared_ptr<memory_space> space = std::make_shared<memory_space>();
    asio::io_context context;
    asio::cancellation_signal signal; ///< The signal of the operation under test.
    std::vector<std::shared_ptr<fate>> fates;
    std::vector<std::weak_ptr<fate>> handlers;
    std::unique_ptr<client> other;
    std::unique_ptr<client> one;
    lease held;
    std::function<void()> act; ///< The initiating call.
    /// The operation under test has its own strand, and its handler is the last one.
    bool guards = false;
    /// The operation under test is the loss of a lease; the last handler waits for it.
    bool loses = false;
    int thrown_by_call = 0;
    int thrown_by_run = 0;

    scene() : other(make()), one(make()) { poll(); }

    std::unique_ptr<client> make()
    {
        auto made = std::make_unique<client>(context, make_memory_store(space));
        made->async_run(handler());
        return made;
    }

    struct note
    {
        std::shared_ptr<fate> to;
        void operator()(error_code code) const
        {
            ++to->calls;
            to->code = code;
        }
        void operator()(error_code code, lease got) const
        {
            (*this)(code);
            to->held = std::move(got);
        }
    };

    /// Returns a handler that records its results, and whether it still exists.
    note handler()
    {
        fates.push_back(std::make_shared<fate>());
        const std::shared_ptr<fate> kept(fates.back().get(), [mine = fates.back()](fate*) {});
        handlers.push_back(kept);
        return {kept};
    }

    mutex lock(client& by) const { return mutex(by, "lock", quick); }

    /// Runs the ready handlers. Continues after an exception, as a program would.
    void poll()
    {
        for (;;) {
            try {
                context.restart();
                context.poll();
                return;
            }
            catch (const std::bad_alloc&) {
                ++thrown_by_run;
            }
        }
    }

    /// Runs until the predicate holds, or five seconds have passed.
    template <class Predicate>
    bool comes(Predicate reached)
    {
        const auto end = std::chrono::steady_clock::now() + 5s;
        for (poll(); !reached(); poll()) {
            if (std::chrono::steady_clock::now() > end)
                return false;
            context.restart();
            context.run_one_for(5ms);
        }
        return true;
    }

    lease take(client& by)
    {
        const auto got = std::make_shared<fate>();
        lock(by).async_lock([got](error_code code, lease given) {
            got->code = code;
            got->held = std::move(given);
        });
        const auto taken = [&] {
            let_go(); // an earlier waiter may hold the lock
            return static_cast<bool>(got->held);
        };
        BOOST_REQUIRE_MESSAGE(comes(taken), "not taken: " << got->code.message());
        return std::move(got->held);
    }

    /// Makes the loss of a lease the operation under test.
    lease& lose_without_memory()
    {
        mutex(*one, "lock", {.lease_time = 100ms, .renew = false}).async_lock(handler());
        poll();
        loses = true;
        act = [this] {
            const auto end = std::chrono::steady_clock::now() + 5s;
            while (!is_lost() && std::chrono::steady_clock::now() < end) {
                context.restart();
                context.run_one_for(5ms);
            }
        };
        return fates.back()->held;
    }

    bool is_lost() const { return loses && fates.back()->calls > 0; }

    /// Destroys the leases that handlers received.
    void let_go() const
    {
        for (const auto& each : fates)
            each->held = {};
    }

    /// Whether a delivered lease still exists.
    bool is_held() const
    {
        const auto lives = [](const auto& each) { return each->held.valid(); };
        return held.valid() || std::any_of(fates.begin(), fates.end(), lives);
    }
};

struct summary
{
    std::size_t allocations = 0;
    int by_call = 0;
    int by_run = 0;
    int made_good = 0;
    int terminated = 0;
    int stuck = 0;
};

/// If an Asio strand gets no memory to be scheduled, it regards itself as scheduled and never runs
/// again.
bool is_stuck(scene& s, const std::unique_ptr<client>& c)
{
    if (!c)
        return false;
    // A client has two strands: one for its own work, and one for handlers without an executor.
    const auto run = std::make_shared<int>(0);
    for (const auto& strand : {detail::access::state_of(*c)->executor(), c->get_executor()})
        asio::post(strand, [run] { ++*run; });
    s.poll();
    return *run != 2;
}

void look_at(scene& s, bool reached, summary& all)
{
    BOOST_TEST(s.thrown_by_call + s.thrown_by_run <=
               (reached ? 1 : 0)); // one failure causes one exception
    all.by_call += s.thrown_by_call;
    all.by_run += s.thrown_by_run;
    all.made_good += reached && s.thrown_by_call + s.thrown_by_run == 0 ? 1 : 0;
    // The same in a strand that the client does not know. The handlers that wait there keep their
    // lease, and it is renewed.
    if (s.guards && s.thrown_by_run > 0 && s.fates.back()->calls == 0 &&
        !s.handlers.back().expired()) {
        ++all.stuck;
        return;
    }
    // The lock is free, or a lease exists.
    BOOST_TEST(s.comes([&] { return s.space->size() == 0 || s.is_held(); }));
    const bool stuck = is_stuck(s, s.one) || is_stuck(s, s.other);
    all.stuck += stuck ? 1 : 0;
    if (s.one && !stuck) {
        // Every call completes, even on a client that has ended.
        const auto late = std::make_shared<fate>();
        s.lock(*s.one).async_try_lock([late](error_code, lease) { ++late->calls; });
        BOOST_TEST(s.comes([&] { return late->calls == 1; }));
    }
    s.act = nullptr;
    s.held = {};
    BOOST_TEST(s.comes([&] {
        s.let_go(); // the lock may have been handed to another waiter
        return s.space->size() == 0;
    }));
    for (const auto& each : s.fates)
        BOOST_TEST(each->calls <= 1);
    const auto third = s.make();
    const lease next = s.take(*third);
    BOOST_TEST(next.valid());
}

/// Prepares with memory, then acts with one failing allocation. Returns false if there are fewer
/// allocations.
bool fail_one(const std::function<void(scene&)>& prepare, std::size_t index, summary& all)
{
    std::vector<std::weak_ptr<fate>> handlers;
    std::vector<std::weak_ptr<detail::client_state>> cores;
    bool reached = false;
    {
        std::optional<scene> made;
        do { // again if a slow machine lost the lease already
            prepare(made.emplace());
            made->poll();
        } while (made->is_lost());
        scene& s = *made;
        {
            const failing_memory here(index);
            try {
                std::exchange(s.act, nullptr)();
            }
            catch (const std::bad_alloc&) {
                ++s.thrown_by_call;
            }
            s.poll();
            reached = here.reached();
        }
        look_at(s, reached, all);
        handlers = s.handlers;
        for (const auto* each : {&s.one, &s.other})
            if (*each)
                cores.emplace_back(detail::access::state_of(**each));
    }
    // Nothing is left.
    for (const auto& each : handlers)
        BOOST_TEST(each.expired());
    for (const auto& each : cores)
        BOOST_TEST(each.expired());
    return reached;
}

constexpr int broken = 1;
constexpr int terminated = 2;
constexpr int over = 3;
constexpr int thrown_by_call = 4;
constexpr int thrown_by_run = 5;
constexpr int made_good = 6;
constexpr int stuck = 8; ///< Added to the exit code.

/// In a process of its own, because some failures end it: a strand of Asio that cannot get the
/// memory to continue.
int fail_one_elsewhere(const std::function<void(scene&)>& prepare, std::size_t index)
{
    const pid_t child = ::fork();
    BOOST_REQUIRE(child >= 0);
    if (child == 0) {
        std::set_terminate([] { ::_exit(failing_memory::armed() ? terminated : broken); });
        summary one;
        int outcome = broken;
        try {
            const bool reached = fail_one(prepare, index, one);
            outcome = !reached          ? over
                      : one.by_call > 0 ? thrown_by_call
                      : one.by_run > 0  ? thrown_by_run
                                        : made_good;
            outcome |= one.stuck > 0 ? stuck : 0;
        }
        catch (const std::exception& error) {
            BOOST_TEST_ERROR(error.what());
        }
        catch (...) { // a failed required check
            ::_exit(broken);
        }
        using namespace boost::unit_test;
        ::_exit(
            results_collector.results(framework::current_test_case().p_id).p_assertions_failed == 0
                ? outcome
                : broken);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : broken;
}

/// Acts until each allocation has failed once.
summary fail_each(const std::function<void(scene&)>& prepare)
{
    summary all;
    // For a debugger: runs only this allocation, in this process.
    if (const char* const only = std::getenv("LEASEHOLD_TEST_ALLOCATION")) {
        fail_one(prepare, std::strtoul(only, nullptr, 10), all);
        return all;
    }
    for (;;) {
        BOOST_REQUIRE(all.allocations < most_allocations);
        const int told = fail_one_elsewhere(prepare, all.allocations + 1);
        const int outcome = told & ~stuck;
        all.stuck += told == outcome ? 0 : 1;
        if (outcome == over)
            break;
        ++all.allocations;
        if (outcome == terminated)
            BOOST_TEST_MESSAGE("allocation " << all.allocations << " ends the process");
        BOOST_TEST_CONTEXT("allocation " << all.allocations)
        {
            BOOST_REQUIRE((outcome >= terminated && outcome <= made_good));
        }
        all.by_call += outcome == thrown_by_call ? 1 : 0;
        all.by_run += outcome == thrown_by_run ? 1 : 0;
        all.made_good += outcome == made_good ? 1 : 0;
        all.terminated += outcome == terminated ? 1 : 0;
    }
    BOOST_TEST_MESSAGE(all.allocations << " allocations: " << all.by_call << " thrown by the call, "
                                       << all.by_run << " by run(), " << all.made_good
                                       << " made good; in Asio " << all.terminated
                                       << " end the process and " << all.stuck << " stop a strand");
    // At least half of the allocations are those of this library.
    BOOST_TEST((all.terminated + all.stuck) * 2 <= static_cast<int>(all.allocations));
    BOOST_TEST(all.allocations > 0u);
    return all;
}

} // namespace

BOOST_AUTO_TEST_SUITE(failing_allocation)

BOOST_AUTO_TEST_CASE(failed_allocation_in_a_lock_orphans_no_lock)
{
    const summary all = fail_each([](scene& s) {
        s.act = [m = s.lock(*s.one), done = asio::bind_cancellation_slot(
                                         s.signal.slot(), s.handler())] { m.async_lock(done); };
    });
    BOOST_TEST(all.by_call > 0);
    BOOST_TEST(all.by_run > 0);
}

BOOST_AUTO_TEST_CASE(failed_allocation_in_a_waiting_lock_orphans_no_lock)
{
    fail_each([](scene& s) {
        const auto has_it = std::make_shared<lease>(s.take(*s.other));
        s.act = [&s, has_it, m = s.lock(*s.one), done = s.handler()] {
            m.async_lock(done);
            s.poll();
            *has_it = {};
        };
    });
}

// If there is no memory for the details, the error is still reported.
BOOST_AUTO_TEST_CASE(failed_allocation_of_details_keeps_the_error)
{
    const auto details = std::make_shared<diagnostics>();
    const summary all = fail_each([details](scene& s) {
        const auto has_it = std::make_shared<lease>(s.take(*s.other));
        s.act = [&s, has_it, details, m = s.lock(*s.one), done = s.handler()] {
            m.async_try_lock(*details, done);
            s.poll();
            BOOST_TEST((done.to->calls == 0 || done.to->code == errc::held ||
                        done.to->code == errc::shut_down));
            *has_it = {};
        };
    });
    BOOST_TEST(all.made_good >= 2); // in the store, and in the client
}

BOOST_AUTO_TEST_CASE(failed_allocation_of_the_details_of_a_loss_orphans_no_lock)
{
    const auto details = std::make_shared<diagnostics>();
    fail_each(
        [details](scene& s) { s.lose_without_memory().async_wait_lost(*details, s.handler()); });
}

// Requested details allocate nothing without an error.
BOOST_AUTO_TEST_CASE(details_of_a_successful_lock_allocate_nothing)
{
    const auto cost = [](auto start) {
        scene s;
        const mutex m = s.lock(*s.one);
        std::size_t least = most_allocations;
        for (int i = 0; i < 5; ++i) { // until the reused memory exists
            const failing_memory here(0);
            start(m, s);
            s.poll();
            s.let_go();
            s.poll();
            least = std::min(least, failing_memory::counted());
        }
        return least;
    };
    lease got;
    const auto handler = [&](error_code code, lease held) {
        BOOST_TEST(!code);
        got = std::move(held);
    };
    const auto plain = cost([&](const mutex& m, scene& s) {
        m.async_lock(handler);
        s.poll();
        got = {};
    });
    diagnostics details;
    const auto told = cost([&](const mutex& m, scene& s) {
        m.async_lock(details, handler);
        s.poll();
        got = {};
    });
    const auto thrown = cost([&](const mutex& m, scene& s) {
        m.async_lock(with_diagnostics([&](const std::exception_ptr& failed, lease held) {
            BOOST_TEST(!failed);
            got = std::move(held);
        }));
        s.poll();
        got = {};
    });
    BOOST_TEST(plain > 0u);
    BOOST_TEST(told == plain);
    BOOST_TEST(thrown == plain);
}

BOOST_AUTO_TEST_CASE(failed_allocation_in_a_handoff_orphans_no_lock)
{
    fail_each([](scene& s) {
        s.held = s.take(*s.one);
        s.lock(*s.one).async_lock(s.handler());
        s.poll();
        s.act = [&s] { s.held = {}; };
    });
}

BOOST_AUTO_TEST_CASE(failed_allocation_in_a_reentrant_acquisition_orphans_no_lock)
{
    fail_each([](scene& s) {
        s.held = s.take(*s.one);
        s.act = [m = s.lock(*s.one), holder = s.held.share_owner(), done = s.handler()] {
            m.with_owner(holder).async_lock(done);
        };
    });
}

BOOST_AUTO_TEST_CASE(failed_allocation_in_a_cancellation_orphans_no_lock)
{
    fail_each([](scene& s) {
        const auto has_it = std::make_shared<lease>(s.take(*s.other));
        s.lock(*s.one).async_lock(asio::bind_cancellation_slot(s.signal.slot(), s.handler()));
        s.poll();
        s.act = [&s, has_it] { s.signal.emit(asio::cancellation_type::total); };
    });
}

BOOST_AUTO_TEST_CASE(failed_allocation_in_a_release_orphans_no_lock)
{
    const summary all = fail_each([](scene& s) {
        s.held = s.take(*s.one);
        s.act = [&s, done = asio::bind_cancellation_slot(s.signal.slot(), s.handler())] {
            s.held.async_release(done);
        };
    });
    BOOST_TEST(all.by_call > 0);
    BOOST_TEST(all.by_run > 0);
}

BOOST_AUTO_TEST_CASE(failed_allocation_in_a_lease_destructor_delays_the_release)
{
    const summary all = fail_each([](scene& s) {
        s.held = s.take(*s.one);
        s.held.async_wait_lost(s.handler());
        s.act = [&s] { s.held = {}; };
    });
    BOOST_TEST(all.by_call == 0);  // a destructor does not throw
    BOOST_TEST(all.made_good > 0); // the release is sent with the next renewal
}

BOOST_AUTO_TEST_CASE(failed_allocation_in_a_detach_delays_it)
{
    const summary all = fail_each([](scene& s) {
        s.held = s.take(*s.one);
        s.held.async_wait_lost(s.handler());
        s.act = [&s] { s.held.detach(); };
    });
    BOOST_TEST(all.by_call == 0);
    BOOST_TEST(all.made_good > 0); // the lease ends instead of its next renewal
}

BOOST_AUTO_TEST_CASE(failed_allocation_in_a_wait_for_a_loss_orphans_no_lock)
{
    fail_each([](scene& s) {
        s.held = s.take(*s.one);
        s.act = [&s, done = asio::bind_cancellation_slot(s.signal.slot(), s.handler())] {
            s.held.async_wait_lost(done);
        };
    });
}

BOOST_AUTO_TEST_CASE(failed_allocation_in_a_loss_orphans_no_lock)
{
    fail_each([](scene& s) {
        lease& held = s.lose_without_memory();
        for (int i = 0; i < 3; ++i)
            held.async_wait_lost(s.handler());
    });
}

BOOST_AUTO_TEST_CASE(failed_allocation_in_with_lock_orphans_no_lock)
{
    fail_each([](scene& s) {
        const auto work = [&s] {
            return asio::post(s.context, asio::append(asio::deferred, error_code()));
        };
        s.guards = true;
        s.act = [work, m = s.lock(*s.one), done = s.handler()] { with_lock(m, work, done); };
    });
}

BOOST_AUTO_TEST_CASE(failed_allocation_in_a_new_client_orphans_no_lock)
{
    fail_each([](scene& s) {
        const auto run = s.handler();
        s.act = [&s, run] {
            s.one = std::make_unique<client>(s.context, make_memory_store(s.space));
            s.one->async_run(run);
        };
        s.one.reset();
    });
}

BOOST_AUTO_TEST_CASE(failed_allocation_in_a_shutdown_orphans_no_lock)
{
    fail_each([](scene& s) {
        s.held = s.take(*s.one);
        s.held.async_wait_lost(s.handler());
        s.lock(*s.one).async_lock(s.handler());
        s.act = [&s, done = asio::bind_cancellation_slot(s.signal.slot(), s.handler())] {
            s.one->async_shutdown(done);
        };
    });
}

BOOST_AUTO_TEST_CASE(failed_allocation_in_a_client_destructor_orphans_no_lock)
{
    const summary all = fail_each([](scene& s) {
        s.held = s.take(*s.one);
        s.held.async_wait_lost(s.handler());
        s.lock(*s.one).async_lock(s.handler());
        s.act = [&s] { s.one.reset(); };
    });
    BOOST_TEST(all.by_call == 0);
}

BOOST_AUTO_TEST_CASE(failed_allocation_in_a_renewal_orphans_no_lock)
{
    fail_each([](scene& s) {
        s.held = s.take(*s.one);
        s.held.async_wait_lost(s.handler());
        s.poll();
        s.act = [&s] {
            const auto before = s.one->stats().renewed;
            const auto end = std::chrono::steady_clock::now() + 5s;
            while (s.one->stats().renewed == before && s.held.valid() &&
                   std::chrono::steady_clock::now() < end) {
                s.context.restart();
                s.context.run_one_for(5ms);
            }
        };
    });
}

BOOST_AUTO_TEST_SUITE_END()
