// Handles used, cancelled, moved and destroyed on several threads at once. Of most use under
// ThreadSanitizer.
#include <boost/test/unit_test.hpp>

#include "support/print.hpp"

#include <leasehold/client.hpp>
#include <leasehold/lease.hpp>
#include <leasehold/memory.hpp>
#include <leasehold/mutex.hpp>
#include <leasehold/observer.hpp>
#include <leasehold/with_lock.hpp>

#include <boost/asio/append.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace leasehold;
using namespace std::chrono_literals;

namespace {

constexpr int threads = 4;

// The data that a lock protects. Not atomic on purpose: if the lock fails, ThreadSanitizer reports
// a data race.
struct guarded
{
    std::uint64_t count = 0;
    std::uint64_t fence = 0;
};

struct parties
{
    std::shared_ptr<memory_space> space = std::make_shared<memory_space>();
    asio::thread_pool pool{threads};
    std::vector<std::unique_ptr<client>> clients;
    std::vector<std::future<void>> running;

    explicit parties(int count = 3)
    {
        for (int i = 0; i < count; ++i) {
            clients.push_back(
                std::make_unique<client>(pool.get_executor(), make_memory_store(space)));
            running.push_back(clients.back()->async_run(asio::use_future));
        }
    }

    void shut_down()
    {
        for (const auto& each : clients)
            each->async_shutdown(asio::use_future).get();
        for (auto& each : running)
            each.get();
    }
};

// Runs `work(i)` on separate threads until all have returned.
template <class Work>
void on_threads(Work work)
{
    std::vector<std::jthread> all;
    for (int i = 0; i < threads; ++i)
        all.emplace_back([&work, i] { work(i); });
}

// Counts the renewals of a client.
class renewal_counter : public observer
{
public:
    void renewed(std::string_view, std::uint64_t, duration, duration) noexcept override
    {
        const std::lock_guard lock(mutex_);
        ++count_;
        changed_.notify_all();
    }

    // Blocks this thread until `more` renewals were confirmed. Returns false after a long wait.
    bool wait_for(int more)
    {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, 10s,
                                 [this, goal = count_ + more] { return count_ >= goal; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int count_ = 0;
};

} // namespace

BOOST_AUTO_TEST_SUITE(several_threads)

// User code blocks one thread of two. The other thread renews a short lease of the same client.
BOOST_AUTO_TEST_CASE(blocking_user_code_does_not_delay_renewals)
{
    // Blocks, and returns whether the lease was renewed meanwhile.
    using blocker = std::function<bool()>;
    struct place
    {
        const char* name;
        std::function<void(client&, const mutex&, blocker, std::promise<bool>&)> run;
    };
    const place places[] = {
        {"a coroutine under with_lock",
         [](client&, const mutex& m, const blocker& block, std::promise<bool>& result) {
             with_lock(
                 m,
                 [block, &result]() -> asio::awaitable<void> {
                     result.set_value(block());
                     co_return;
                 },
                 asio::detached);
         }},
        {"an operation under with_lock",
         [](client& c, const mutex& m, const blocker& block, std::promise<bool>& result) {
             with_lock(
                 m,
                 [block, &result, executor = c.get_executor()] {
                     result.set_value(block());
                     return asio::post(executor, asio::append(asio::deferred, error_code()));
                 },
                 asio::detached);
         }},
        {"the handler of with_lock",
         [](client&, const mutex& m, const blocker& block, std::promise<bool>& result) {
             with_lock(
                 m, []() -> asio::awaitable<void> { co_return; },
                 [block, &result](std::exception_ptr) { result.set_value(block()); });
         }},
        {"the handler of a lock",
         [](client&, const mutex& m, const blocker& block, std::promise<bool>& result) {
             m.async_lock([block, &result](error_code, lease) { result.set_value(block()); });
         }},
        {"the handler of a release",
         [](client&, const mutex& m, const blocker& block, std::promise<bool>& result) {
             m.async_lock([block, &result](error_code, lease held) {
                 held.async_release([block, &result](error_code) { result.set_value(block()); });
             });
         }},
        {"what runs on the client's executor",
         [](client& c, const mutex&, const blocker& block, std::promise<bool>& result) {
             asio::post(c.get_executor(), [block, &result] { result.set_value(block()); });
         }},
        {"the handler of an operation that never began",
         [](client& c, const mutex&, const blocker& block, std::promise<bool>& result) {
             c.async_run([block, &result](error_code) { result.set_value(block()); });
         }},
    };
    for (const place& each : places) {
        BOOST_TEST_CONTEXT(each.name)
        {
            asio::thread_pool pool(2);
            const auto counter = std::make_shared<renewal_counter>();
            client c(pool.get_executor(), make_memory_store(std::make_shared<memory_space>()),
                     counter);
            auto running = c.async_run(asio::use_future);
            lease brief = mutex(c, "brief", {.lease_time = 1s, .renew_interval = 20ms})
                              .async_lock(asio::use_future)
                              .get();
            std::promise<bool> renewed;
            each.run(c, mutex(c, "other"), [counter] { return counter->wait_for(3); }, renewed);
            BOOST_TEST(renewed.get_future().get());
            BOOST_TEST(brief.valid());
            c.async_shutdown(asio::use_future).get();
            running.get();
        }
    }
}

BOOST_AUTO_TEST_CASE(blocking_work_under_one_lock_does_not_delay_another)
{
    asio::thread_pool pool(2);
    client c(pool.get_executor(), make_memory_store(std::make_shared<memory_space>()));
    auto running = c.async_run(asio::use_future);
    std::promise<void> second_ran;
    std::promise<bool> first_saw_it;
    with_lock(
        mutex(c, "first"),
        [&]() -> asio::awaitable<void> {
            first_saw_it.set_value(second_ran.get_future().wait_for(10s) ==
                                   std::future_status::ready);
            co_return;
        },
        asio::detached);
    with_lock(
        mutex(c, "second"),
        [&]() -> asio::awaitable<void> {
            second_ran.set_value();
            co_return;
        },
        asio::detached);
    BOOST_TEST(first_saw_it.get_future().get());
    c.async_shutdown(asio::use_future).get();
    running.get();
}

BOOST_AUTO_TEST_CASE(locks_on_several_threads_exclude_each_other_with_rising_fences)
{
    parties all;
    guarded data;
    std::atomic<std::uint64_t> grants = 0, disorder = 0, in_use = 0;
    constexpr int each_does = 400;
    on_threads([&](int i) {
        for (int n = 0; n < each_does; ++n) {
            const mutex m(*all.clients[static_cast<std::size_t>(i + n) % all.clients.size()],
                          "data");
            lease held = m.async_lock(asio::use_future).get();
            in_use += held.valid();
            ++data.count;
            disorder += held.fence() <= data.fence;
            data.fence = held.fence();
            ++grants;
            if (n % 3 != 0)
                held.async_release(asio::use_future).get();
        }
    });
    BOOST_TEST(data.count == grants);
    BOOST_TEST(grants == threads * each_does);
    BOOST_TEST(disorder == 0u);
    BOOST_TEST(in_use == grants);
    all.shut_down();
    BOOST_TEST(all.space->size() == 0u);
}

asio::awaitable<void> worker(parties& all, guarded& data, std::atomic<std::uint64_t>& grants,
                             std::atomic<std::uint64_t>& disorder, unsigned id)
{
    for (unsigned n = 0; n < 60; ++n) {
        const mutex m(*all.clients[(id + n) % all.clients.size()], "data");
        if (n % 2 == 0) {
            lease held = co_await m.async_lock(asio::use_awaitable);
            ++data.count;
            disorder += held.fence() <= data.fence;
            data.fence = held.fence();
            ++grants;
            co_await held.async_release(asio::use_awaitable);
        }
        else {
            auto work = [&](lease& held) -> asio::awaitable<void> {
                ++data.count;
                disorder += held.fence() <= data.fence;
                data.fence = held.fence();
                ++grants;
                co_await asio::post(asio::use_awaitable);
            };
            co_await with_lock(m, work, asio::use_awaitable);
        }
    }
}

BOOST_AUTO_TEST_CASE(coroutines_on_a_pool_exclude_each_other_with_rising_fences)
{
    parties all;
    guarded data;
    std::atomic<std::uint64_t> grants = 0, disorder = 0;
    std::vector<std::future<void>> ended;
    constexpr unsigned many = 24;
    for (unsigned i = 0; i < many; ++i)
        ended.push_back(asio::co_spawn(asio::make_strand(all.pool),
                                       worker(all, data, grants, disorder, i), asio::use_future));
    for (auto& each : ended)
        each.get();
    BOOST_TEST(grants == many * 60);
    BOOST_TEST(disorder == 0u);
    BOOST_TEST(data.count == grants);
    all.shut_down();
    BOOST_TEST(all.space->size() == 0u);
}

// A cancellation slot that is emitted at any moment on a strand of the caller.
struct attempt_by_slot : std::enable_shared_from_this<attempt_by_slot>
{
    attempt_by_slot(const mutex& tried, asio::thread_pool& pool, std::atomic<int>& counter)
        : m(tried), strand(asio::make_strand(pool)), done(counter)
    {}

    void start(std::chrono::microseconds patience)
    {
        asio::post(strand, [self = shared_from_this(), patience] {
            self->m.async_lock(asio::bind_cancellation_slot(
                self->signal.slot(),
                asio::bind_executor(self->strand, [self](error_code code, lease held) {
                    self->calls += 1;
                    self->ok = self->calls == 1 && (code ? !held : held.valid());
                    self->timer.cancel();
                    // Here, and not where the operation is cancelled: the grant may be on its way
                    // to this handler, and a shutdown would release it.
                    ++self->done;
                })));
            self->timer.expires_after(patience);
            self->timer.async_wait(
                [self](error_code) { self->signal.emit(asio::cancellation_type::total); });
        });
    }

    mutex m;
    asio::strand<asio::thread_pool::executor_type> strand;
    asio::cancellation_signal signal;
    asio::steady_timer timer{strand};
    int calls = 0;
    bool ok = false;
    std::atomic<int>& done;
};

BOOST_AUTO_TEST_CASE(lock_can_be_cancelled_from_another_thread)
{
    parties all;
    std::atomic<int> done = 0;
    constexpr int many = 1000;
    std::vector<std::shared_ptr<attempt_by_slot>> attempts;
    std::minstd_rand random(1);
    for (int i = 0; i < many; ++i) {
        const mutex m(*all.clients[static_cast<std::size_t>(i) % all.clients.size()],
                      "name " + std::to_string(i % 3));
        attempts.push_back(std::make_shared<attempt_by_slot>(m, all.pool, done));
        attempts.back()->start(std::chrono::microseconds(random() % 3000));
    }
    while (done < many)
        std::this_thread::yield();
    all.shut_down();
    all.pool.join();
    int ok = 0;
    for (const auto& each : attempts)
        ok += each->ok;
    BOOST_TEST(ok == many);
    BOOST_TEST(all.space->size() == 0u);
    attempts.clear();
}

BOOST_AUTO_TEST_CASE(lease_can_be_read_on_any_thread)
{
    parties all(1);
    const mutex m(*all.clients[0], "a", {.lease_time = 10s, .renew_interval = 1ms});
    lease held = m.async_lock(asio::use_future).get();
    std::atomic<bool> stop = false;
    std::atomic<std::uint64_t> reads = 0, backward = 0;
    {
        std::vector<std::jthread> readers;
        for (int i = 0; i < 2; ++i) {
            readers.emplace_back([&] {
                auto last = held.deadline();
                while (!stop) {
                    const auto now = held.deadline();
                    backward += now < last;
                    last = now;
                    reads += held.valid() ? 1 : 0;
                    reads += held.fence() != 0 && !held.share_owner().empty();
                }
            });
        }
        const auto renewed = [&] { return all.clients[0]->stats().renewed; };
        while (renewed() < 50)
            std::this_thread::yield();
        all.space->clear();
        auto lost = held.async_wait_lost(asio::as_tuple(asio::use_future));
        const auto why = std::get<0>(lost.get());
        BOOST_TEST(why == errc::lost);
        stop = true;
    }
    BOOST_TEST(reads > 0u);
    BOOST_TEST(backward == 0u);
    BOOST_TEST(!held.valid());
    all.shut_down();
}

BOOST_AUTO_TEST_CASE(leases_can_be_moved_and_destroyed_on_any_thread)
{
    parties all;
    std::atomic<int> got = 0;
    constexpr int each_does = 300;
    on_threads([&](int i) {
        std::vector<lease> kept;
        for (int n = 0; n < each_does; ++n) {
            const auto& c = all.clients[static_cast<std::size_t>(n) % all.clients.size()];
            const mutex m(*c, "name " + std::to_string((i * 7 + n) % 5));
            auto [code, held] = m.async_try_lock_for(1ms, asio::as_tuple(asio::use_future)).get();
            if (code)
                continue;
            ++got;
            held.async_wait_lost(asio::detached);
            kept.push_back(std::move(held));
            if (kept.size() == 3)
                kept.erase(kept.begin() + n % 3);
            if (n % 5 == 0) {
                std::jthread elsewhere(
                    [moved = std::move(kept.back())]() mutable { moved = lease(); });
                kept.pop_back();
            }
        }
    });
    BOOST_TEST(got > 0);
    all.shut_down();
    BOOST_TEST(all.space->size() == 0u);
}

BOOST_AUTO_TEST_CASE(clients_can_be_destroyed_while_they_are_used)
{
    const auto space = std::make_shared<memory_space>();
    std::atomic<int> ended = 0, started = 0;
    {
        asio::thread_pool pool(threads);
        on_threads([&](int i) {
            for (int n = 0; n < 60; ++n) {
                client c(pool.get_executor(), make_memory_store(space));
                auto ran = c.async_run(asio::as_tuple(asio::use_future));
                const mutex m(c, "a"), own(c, "b" + std::to_string(i));
                for (const mutex* each : {&m, &own, &m}) {
                    ++started;
                    each->async_lock([&](error_code, lease held) {
                        held.async_wait_lost(asio::detached);
                        ++ended;
                    });
                }
                if (n % 3 == 0)
                    c.async_shutdown(asio::detached);
                if (n % 2 == 0)
                    c.cancel();
                // The client is destroyed with all operations outstanding.
                if (n % 4 == 0)
                    ran.wait();
            }
        });
        pool.join();
    }
    BOOST_TEST(started == threads * 60 * 3);
    BOOST_TEST(ended == started);
    BOOST_TEST(space->size() == 0u);
}

BOOST_AUTO_TEST_CASE(stopped_pool_destroys_all_outstanding_operations)
{
    for (int round = 0; round < 20; ++round) {
        const auto token = std::make_shared<int>();
        const auto space = std::make_shared<memory_space>();
        std::vector<lease> kept(8);
        {
            asio::thread_pool pool(threads);
            client c(pool.get_executor(), make_memory_store(space));
            c.async_run([token](error_code) {});
            std::atomic<int> got = 0;
            for (std::size_t i = 0; i < kept.size(); ++i) {
                const mutex m(c, "name " + std::to_string(i % 4));
                m.async_lock([token, &got, &slot = kept[i]](error_code code, lease held) {
                    if (!code)
                        slot = std::move(held);
                    ++got;
                });
            }
            if (round % 2 == 0)
                while (got < 4)
                    std::this_thread::yield();
            pool.stop();
            pool.join();
        }
        for (const lease& each : kept)
            BOOST_TEST(!each.valid());
        kept.clear();
        BOOST_TEST(token.use_count() == 1);
    }
}

BOOST_AUTO_TEST_SUITE_END()
