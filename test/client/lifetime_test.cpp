// The order of destruction of clients, handles, contexts and processes.
#include <boost/test/unit_test.hpp>

#include "support/core_fixture.hpp"
#include "support/memory_lab.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#if defined(__unix__)
#include <sys/wait.h>
#include <unistd.h>
#endif

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using kind = recording_observer::kind;

namespace {

const error_code aborted = asio::error::operation_aborted;

// All kinds of outstanding operations, and objects to destroy.
struct world
{
    std::shared_ptr<memory_space> space = std::make_shared<memory_space>();
    std::unique_ptr<asio::io_context> context = std::make_unique<asio::io_context>();
    std::unique_ptr<client> holder = std::make_unique<client>(*context, make_memory_store(space));
    std::unique_ptr<client> waiter = std::make_unique<client>(*context, make_memory_store(space));
    std::unique_ptr<mutex> held_one = std::make_unique<mutex>(*holder, "a");
    std::unique_ptr<mutex> waited_one = std::make_unique<mutex>(*waiter, "a");
    std::unique_ptr<lease> held = std::make_unique<lease>();
    std::shared_ptr<int> token = std::make_shared<int>();
    int started = 0;
    int calls = 0;
    std::vector<error_code> codes;

    auto handler()
    {
        ++started;
        return [this, alive = token](error_code code, auto&&...) {
            ++calls;
            codes.push_back(code);
        };
    }

    void start()
    {
        holder->async_run(handler());
        waiter->async_run(handler());
        held_one->async_lock([this, alive = token](error_code code, lease got) {
            if (code || !held || !held_one || !waited_one)
                return;
            *held = std::move(got);
            held->async_wait_lost(handler());
            held_one->async_lock(handler());
            held_one->with_owner(held->share_owner()).async_lock(handler());
            held_one->async_try_lock_for(10s, handler());
            waited_one->async_lock(handler());
        });
    }

    void step(int steps)
    {
        for (int i = 0; i < steps; ++i) {
            context->restart();
            context->poll_one();
        }
    }
};

using destroyer = std::function<void(world&)>;

const std::vector<std::pair<const char*, destroyer>> destroyers = {
    {"holder", [](world& w) { w.holder.reset(); }},
    {"waiter", [](world& w) { w.waiter.reset(); }},
    {"mutexes",
     [](world& w) {
         w.held_one.reset();
         w.waited_one.reset();
     }},
    {"lease", [](world& w) { w.held.reset(); }},
    {"context", [](world& w) { w.context.reset(); }},
};

} // namespace

BOOST_AUTO_TEST_SUITE(lifetime)

// Each order of destruction, starting after each step of the context.
BOOST_AUTO_TEST_CASE(objects_can_be_destroyed_in_any_order_at_any_step)
{
    std::vector<std::size_t> order{0, 1, 2, 3, 4};
    int orders = 0;
    do {
        ++orders;
        for (int steps = 0; steps < 45; ++steps) {
            std::weak_ptr<int> watch;
            {
                world w;
                watch = w.token;
                w.start();
                w.step(steps);
                for (const std::size_t each : order) {
                    destroyers[each].second(w);
                    if (w.context)
                        w.step(2);
                }
                BOOST_TEST(w.calls <= w.started);
                w.token.reset();
                BOOST_TEST(watch.expired()); // no handler is kept
            }
        }
    } while (std::next_permutation(order.begin(), order.end()));
    BOOST_TEST(orders == 120);
}

BOOST_AUTO_TEST_CASE(destroyed_client_completes_its_operations_and_releases_its_locks)
{
    world w;
    w.start();
    run_until(*w.context, [&] { return w.started == 7; });
    w.step(50);
    BOOST_TEST(w.space->size() == 1u);
    w.holder.reset();
    w.waiter.reset();
    run_until(*w.context, [&] { return w.calls == w.started; });
    for (const error_code& each : w.codes)
        BOOST_TEST((each == errc::shut_down || each == aborted || !each));
    BOOST_TEST(w.space->size() == 0u);
    BOOST_TEST(!w.held->valid());
}

BOOST_AUTO_TEST_CASE(mutex_can_be_destroyed_during_its_lock)
{
    memory_lab lab;
    const auto one = lab.make_client();
    std::optional<lease> got;
    {
        const mutex m(*one, "a");
        m.async_lock([&](error_code, lease held) { got = std::move(held); });
    }
    lab.until([&] { return got.has_value(); });
    BOOST_TEST(got->valid());
    BOOST_TEST(got->name() == "a");
}

BOOST_AUTO_TEST_CASE(destroyed_lease_releases_its_lock)
{
    memory_lab lab;
    const auto one = lab.make_client(), two = lab.make_client();
    {
        const lease held = lab.take(mutex(*one, "a"));
        BOOST_TEST(lab.space->size() == 1u);
    }
    const lease next = lab.take(mutex(*two, "a"));
    BOOST_TEST(next.valid());
    BOOST_TEST(one->stats().released == 1u);
}

BOOST_AUTO_TEST_CASE(lease_that_outlives_its_client_or_context_is_invalid)
{
    lease after_client, after_context;
    {
        memory_lab lab;
        {
            const auto one = lab.make_client();
            after_client = lab.take(mutex(*one, "a"));
            after_context = lab.take(mutex(*one, "b"));
            BOOST_TEST(after_client.valid());
        }
        lab.until([&] { return lab.space->size() == 0; });
        BOOST_TEST(!after_client.valid());
    }
    BOOST_TEST(!after_context.valid());
    BOOST_TEST(after_context.name() == "b");
    BOOST_TEST(after_context.fence() > 0u);
    int calls = 0;
    const auto token = std::make_shared<int>();
    after_context.async_wait_lost([&calls, token](error_code) { ++calls; });
    after_context.async_release([&calls, token](error_code) { ++calls; });
    // The handlers have no context to run on.
    BOOST_TEST(calls == 0);
    BOOST_TEST(token.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(operations_after_the_end_of_the_context_call_no_handler)
{
    std::optional<mutex> m;
    std::unique_ptr<client> one;
    {
        memory_lab lab;
        one = lab.make_client();
        m.emplace(*one, "a");
        lab.poll();
    }
    int calls = 0;
    const auto token = std::make_shared<int>();
    m->async_lock([&calls, token](error_code, lease) { ++calls; });
    one->async_shutdown([&calls, token](error_code) { ++calls; });
    one->cancel();
    BOOST_TEST(one->stats().waiting == 0u);
    BOOST_TEST(calls == 0);
    BOOST_TEST(token.use_count() == 1);
}

// Even if the handler belongs to another context that continues, in any state of the client.
BOOST_AUTO_TEST_CASE(handler_is_not_called_after_the_end_of_the_client_context)
{
    enum class client_was
    {
        fresh,
        running,
        shut_down
    };
    for (const client_was state : {client_was::fresh, client_was::running, client_was::shut_down}) {
        asio::io_context elsewhere;
        const auto token = std::make_shared<int>();
        int calls = 0;
        const auto handler = [&] {
            return asio::bind_executor(elsewhere.get_executor(),
                                       [token, &calls](auto&&...) { ++calls; });
        };
        std::unique_ptr<client> one;
        std::optional<mutex> m;
        lease held;
        lease other; // empty for a client that was never run
        class owner holder;
        {
            memory_lab lab;
            one = state == client_was::fresh
                      ? std::make_unique<client>(lab.context, make_memory_store(lab.space))
                      : lab.make_client();
            m.emplace(*one, "a");
            if (state == client_was::fresh) {
                const auto running = lab.make_client();
                held = lab.take(mutex(*running, "b"));
                holder = held.share_owner();
            }
            else {
                held = lab.take(*m);
                other = lab.take(mutex(*one, "b"));
                holder = held.share_owner();
            }
            if (state == client_was::shut_down) {
                one->async_shutdown(asio::detached);
                lab.poll();
            }
        }
        m->async_lock(handler());
        m->with_owner(holder).async_lock(handler());
        m->async_try_lock(handler());
        m->async_try_lock_for(1s, handler());
        one->async_run(handler());
        one->async_shutdown(handler());
        held.async_wait_lost(handler());
        held.async_release(handler());
        if (state != client_was::fresh)
            other.async_release(handler());
        elsewhere.run();
        BOOST_TEST(calls == 0);
        BOOST_TEST(token.use_count() == 1);
        // The released lease refers to no client any more.
        held.async_release(handler());
        elsewhere.restart();
        elsewhere.run();
        BOOST_TEST(calls == 1);
        BOOST_TEST(token.use_count() == 1);
    }
}

// O7: a lock that was acquired three times is free after three releases.
BOOST_AUTO_TEST_CASE(O7_lock_acquired_three_times_is_free_after_three_releases)
{
    memory_lab lab;
    const auto one = lab.make_client(), two = lab.make_client();
    const mutex m(*one, "a"), elsewhere(*two, "a");
    std::vector<lease> in;
    in.push_back(lab.take(m));
    const owner shared = owner::from_string(in[0].share_owner().to_string());
    for (const mutex* each : {&m, &elsewhere}) {
        std::optional<lease> got;
        each->with_owner(shared).async_lock([&](error_code code, lease held) {
            BOOST_TEST(!code);
            got = std::move(held);
        });
        lab.until([&] { return got.has_value(); });
        BOOST_TEST(got->fence() == in[0].fence());
        in.push_back(std::move(*got));
    }
    // The leases may be released in any order.
    while (!in.empty()) {
        BOOST_TEST(lab.space->size() == 1u);
        for (const lease& each : in)
            BOOST_TEST(each.valid());
        lease leaving = std::move(in.front());
        in.erase(in.begin());
        BOOST_TEST(lab.release(std::move(leaving)) == error_code());
    }
    BOOST_TEST(lab.space->size() == 0u);
    lab.until_idle(*one);
    lab.until_idle(*two);
    std::optional<error_code> refused;
    m.with_owner(shared).async_lock([&](error_code code, lease) { refused = code; });
    lab.until([&] { return refused.has_value(); });
    BOOST_TEST(*refused == errc::lost);
}

BOOST_AUTO_TEST_CASE(O6_reentrant_acquisition_of_a_lost_lock_fails)
{
    memory_lab lab;
    const auto one = lab.make_client();
    const mutex m(*one, "a", {.lease_time = 10s, .renew_interval = 5ms});
    lease held = lab.take(m);
    const owner shared = held.share_owner();
    std::optional<error_code> lost, refused;
    held.async_wait_lost([&](error_code code) { lost = code; });
    lab.space->erase("a");
    lab.until([&] { return lost.has_value(); });
    BOOST_TEST(*lost == errc::lost);
    m.with_owner(shared).async_lock([&](error_code code, lease) { refused = code; });
    lab.until([&] { return refused.has_value(); });
    BOOST_TEST(*refused == errc::lost);
}

BOOST_AUTO_TEST_CASE(waiters_are_served_in_order_and_fences_rise)
{
    memory_lab lab;
    const auto one = lab.make_client(), two = lab.make_client();
    const mutex m(*one, "a"), theirs(*two, "a");
    constexpr int many = 200;
    std::vector<int> order;
    std::vector<std::uint64_t> fences;
    std::vector<lease> kept;
    for (int i = 0; i < many; ++i) {
        m.async_lock([&, i](error_code code, lease held) {
            BOOST_TEST(!code);
            order.push_back(i);
            fences.push_back(held.fence());
        });
    }
    int others = 0;
    for (int i = 0; i < 20; ++i) {
        theirs.async_lock([&](error_code code, lease held) {
            BOOST_TEST(!code);
            fences.push_back(held.fence());
            ++others;
        });
    }
    lab.until([&] { return order.size() == many && others == 20; });
    BOOST_TEST(std::is_sorted(order.begin(), order.end()));
    BOOST_TEST(
        (std::adjacent_find(fences.begin(), fences.end(), std::greater_equal<>()) == fences.end()));
    BOOST_TEST(one->stats().handed_off > 0u);
    lab.until_idle(*one);
    lab.until_idle(*two);
}

BOOST_AUTO_TEST_CASE(shutdown_in_a_signal_handler_releases_the_lock)
{
    memory_lab lab;
    auto one = std::make_unique<client>(lab.context, make_memory_store(lab.space));
    std::optional<error_code> ran, shut, lost;
    one->async_run([&](error_code code) { ran = code; });
    lease held = lab.take(mutex(*one, "a"));
    held.async_wait_lost([&](error_code code) { lost = code; });
    asio::signal_set signals(lab.context, SIGTERM);
    signals.async_wait([&](error_code code, int) {
        BOOST_TEST(!code);
        one->async_shutdown([&](error_code outcome) { shut = outcome; });
    });
    std::raise(SIGTERM);
    lab.until([&] { return ran && shut && lost; });
    BOOST_TEST(*ran == error_code());
    BOOST_TEST(*shut == error_code());
    BOOST_TEST(*lost == errc::shut_down);
    BOOST_TEST(lab.space->size() == 0u);
}

// When everything has ended, nothing keeps the context busy.
BOOST_AUTO_TEST_CASE(context_runs_out_of_work_after_a_shutdown)
{
    memory_lab lab;
    const auto one = lab.make_client();
    {
        const lease held = lab.take(mutex(*one, "a"));
    }
    one->async_shutdown(asio::detached);
    lab.context.restart();
    lab.context.run(); // returns
    BOOST_TEST(lab.context.stopped());
    BOOST_TEST(lab.space->size() == 0u);
}

BOOST_AUTO_TEST_CASE(lock_without_an_outstanding_run_fails_with_not_running)
{
    memory_lab lab;
    client never_run(lab.context, make_memory_store(lab.space));
    std::optional<error_code> why;
    mutex(never_run, "a").async_lock([&](error_code code, lease) { why = code; });
    lab.until([&] { return why.has_value(); });
    BOOST_TEST(*why == errc::not_running);
    std::optional<error_code> shut, ran;
    never_run.async_shutdown([&](error_code code) { shut = code; });
    lab.until([&] { return shut.has_value(); });
    BOOST_TEST(!*shut);
    never_run.async_run([&](error_code code) { ran = code; });
    lab.until([&] { return ran.has_value(); });
    BOOST_TEST(*ran == errc::shut_down);
}

BOOST_AUTO_TEST_CASE(client_without_a_store_throws)
{
    asio::io_context context;
    BOOST_CHECK_THROW(client(context, std::shared_ptr<store>()), boost::system::system_error);
}

// An observer that uses handles: no internal mutex is locked during its callbacks.
struct busy_observer final : observer
{
    client* locks = nullptr;
    std::vector<lease> kept;
    int nested = 0;

    void more() noexcept
    {
        if (locks == nullptr)
            return;
        kept.clear(); // releases
        if (nested >= 20)
            return;
        ++nested;
        const mutex m(*locks, "nested " + std::to_string(nested % 3));
        m.async_try_lock([](error_code, lease) {});
        static_cast<void>(locks->stats());
    }

    void acquired(std::string_view, std::uint64_t, duration, bool) noexcept override { more(); }
    void not_acquired(std::string_view, error_code, duration, const diagnostics&) noexcept override
    {
        more();
    }
    void waiting(std::string_view, std::chrono::milliseconds) noexcept override { more(); }
    void released(std::string_view, std::uint64_t, duration) noexcept override { more(); }
    void lost(std::string_view, std::uint64_t, duration, error_code,
              const diagnostics&) noexcept override
    {
        more();
    }
    void renewed(std::string_view, std::uint64_t, duration, duration) noexcept override { more(); }
    void connected() noexcept override { more(); }
};

BOOST_AUTO_TEST_CASE(R8_observer_can_use_handles_in_its_callbacks)
{
    memory_lab lab;
    const auto watching = std::make_shared<busy_observer>();
    const auto one = lab.make_client(watching), two = lab.make_client();
    watching->locks = one.get();
    const mutex m(*one, "a", {.lease_time = 10s, .renew_interval = 5ms});
    for (int i = 0; i < 5; ++i) {
        lease held = lab.take(m);
        watching->kept.push_back(std::move(held)); // destroyed at the next event
        lease other = lab.take(mutex(*two, "b"));
        std::optional<error_code> why;
        mutex(*one, "b").async_try_lock([&](error_code code, lease) { why = code; });
        lab.until([&] { return why.has_value(); });
        BOOST_TEST(*why == errc::held);
    }
    lease last = lab.take(m);
    lab.space->erase("a");
    std::optional<error_code> lost;
    last.async_wait_lost([&](error_code code) { lost = code; });
    lab.until([&] { return lost.has_value(); });
    BOOST_TEST(watching->nested == 20);
    watching->locks = nullptr;
    watching->kept.clear();
    lab.until_idle(*one);
}

BOOST_AUTO_TEST_CASE(observer_can_shut_down_its_client)
{
    struct ending_observer final : observer
    {
        std::function<void()> end;
        void acquired(std::string_view, std::uint64_t, duration, bool) noexcept override
        {
            std::exchange(end, nullptr)();
        }
    };
    memory_lab lab;
    const auto watching = std::make_shared<ending_observer>();
    const auto one = lab.make_client(watching);
    std::optional<error_code> shut;
    watching->end = [&] { one->async_shutdown([&](error_code code) { shut = code; }); };
    std::optional<error_code> locked;
    mutex(*one, "a").async_lock([&](error_code code, lease) { locked = code; });
    lab.until([&] { return shut && locked; });
    BOOST_TEST(!*shut);
    BOOST_TEST(lab.space->size() == 0u);
}

// R1: lock and release cycles leave neither timers nor memory behind.
BOOST_AUTO_TEST_CASE(R1_lock_cycles_leave_no_timers)
{
    core_fixture e;
    const auto spec = e.spec("a", {.handoff_count = 0});
    std::size_t requests_early = 0;
    constexpr int cycles = 5'000; // on the scripted store, which remembers every call
    for (int i = 0; i < cycles; ++i) {
        core_fixture::locking op(e.context.get_executor());
        op.start([&](auto handler) { e.async_lock(spec, std::move(handler)); });
        e.poll();
        e.store->grant(static_cast<std::size_t>(i), static_cast<std::uint64_t>(i) + 1);
        e.poll();
        op.value<1>() = lease();
        e.poll();
        e.store->say_freed(static_cast<std::size_t>(i));
        e.poll();
        BOOST_TEST_REQUIRE(e.stats().held == 0u);
        if (i == 10)
            requests_early = e.time.requests();
    }
    // A wake-up earlier than needed costs less than a timer for each cycle.
    BOOST_TEST(e.time.requests() - requests_early < 10u);
    e.advance(60s);
    BOOST_TEST((e.time.wake_at() == clock::time_point::max()));
    BOOST_TEST(e.store->renew_count() == 0u);
}

BOOST_AUTO_TEST_CASE(R1_endless_lock_cycles_leave_no_timers_and_no_leases)
{
    memory_lab lab;
    const auto one = lab.make_client();
    const mutex m(*one, "a");
    constexpr int cycles = LEASEHOLD_TEST_CYCLES;
    int done = 0;
    // Each handler starts the next lock, so one is outstanding at a time.
    struct cycle
    {
        const mutex& m;
        int& done;
        void operator()(error_code code, lease held) const
        {
            if (code || !held.valid())
                return;
            if (++done < cycles)
                m.async_lock(*this);
        }
    };
    m.async_lock(cycle{m, done});
    run_until(lab.context, [&] { return done == cycles; }, 250s);
    lab.until_idle(*one);
    BOOST_TEST(one->stats().acquired == static_cast<std::uint64_t>(cycles));
    BOOST_TEST(one->stats().released == static_cast<std::uint64_t>(cycles));
    BOOST_TEST(one->stats().renewed < 10u);
    one->async_shutdown(asio::detached);
    lab.context.restart();
    lab.context.run(); // ends: no timer is left
    BOOST_TEST(lab.context.stopped());
}

#if defined(__unix__)
// Row 27: the child has a copy of all objects, and owns none of them.
BOOST_AUTO_TEST_CASE(row27_forked_child_holds_no_lease_and_sends_no_request)
{
    memory_lab lab;
    const auto one = lab.make_client();
    const mutex m(*one, "a", {.lease_time = 10s, .renew_interval = 10ms});
    auto held = std::make_unique<lease>(lab.take(m));
    const auto fence = held->fence();
    for (const bool notifies : {true, false}) { // with and without `notify_fork`
        lab.context.notify_fork(asio::execution_context::fork_prepare);
        const pid_t child = ::fork();
        if (child == 0) {
            if (notifies)
                lab.context.notify_fork(asio::execution_context::fork_child);
            int failed = held->valid() ? 1 : 0;
            const auto before = one->stats();
            bool called = false;
            if (!notifies)
                m.async_try_lock([&](error_code code, lease got) { called = !code || got; });
            held.reset();
            if (notifies) { // otherwise its descriptors are those of the parent
                lab.context.restart();
                lab.context.run_for(50ms);
            }
            const auto after = one->stats();
            failed |= after.releases_sent != before.releases_sent ? 2 : 0;
            failed |= after.renewed != before.renewed ? 4 : 0;
            failed |= after.acquires_sent != before.acquires_sent ? 8 : 0;
            failed |= called ? 16 : 0;
            failed |= fence == 0 ? 32 : 0;
            ::_exit(failed);
        }
        BOOST_TEST_REQUIRE(child > 0);
        lab.context.notify_fork(asio::execution_context::fork_parent);
        int status = 0;
        BOOST_TEST(::waitpid(child, &status, 0) == child);
        BOOST_TEST(WIFEXITED(status));
        BOOST_TEST(WEXITSTATUS(status) == 0);
        // The parent continues.
        const auto renewed = one->stats().renewed;
        if (!held->valid())
            *held = lab.take(m); // the child took long, which this test is not about
        lab.until([&] { return one->stats().renewed > renewed; });
        BOOST_TEST(held->valid());
    }
}
#endif

BOOST_AUTO_TEST_SUITE_END()
