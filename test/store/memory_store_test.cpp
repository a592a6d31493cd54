#include <boost/test/unit_test.hpp>

#include "support/counting_listener.hpp"
#include "support/queued_request.hpp"
#include "support/store_contract.hpp"

#include "memory/memory_space_state.hpp"

#include <leasehold/client.hpp>
#include <leasehold/clock.hpp>
#include <leasehold/memory.hpp>
#include <leasehold/store.hpp>

#include <unistd.h>

#include <atomic>
#include <fstream>
#include <semaphore>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;

class memory_lab final : public store_lab
{
public:
    std::shared_ptr<store> make_store() override { return make_memory_store(space_); }
    void erase(std::string_view name) override { space_->erase(name); }
    void clear() override { space_->clear(); }

private:
    std::shared_ptr<memory_space> space_ = std::make_shared<memory_space>();
};

const bool added = add_store_contract([] { return std::make_unique<memory_lab>(); });

} // namespace

// The smallest possible store has one partition and no optional feature.
BOOST_AUTO_TEST_CASE(minimal_store_has_default_traits)
{
    class smallest final : public store
    {
    public:
        void open(const asio::any_io_executor&, store_listener&) override {}
        void close() override {}
        void async_acquire(const acquire_request&, acquire_handler) override {}
        void async_renew(std::span<const renewal>, renew_handler) override {}
        void async_release(const release_request&, release_handler) override {}
        void watch(std::string_view) override {}
        void unwatch(std::string_view) override {}
    };
    const smallest one;
    for (const char* const name : {"", "a", "orders:7"})
        BOOST_TEST(one.partition_of(name) == 0u);
    BOOST_TEST(one.server_of(0).empty());
    BOOST_TEST(one.own_info().empty());
    const store_traits can = one.traits();
    BOOST_TEST(can.publishes);
    BOOST_TEST(!can.queues);
    BOOST_TEST(can.rejects_late);
    BOOST_TEST((!can.shared && !can.permits && !can.describes_holders));
    BOOST_TEST((!can.replica_acks && !can.dead_holder_grace));
    BOOST_TEST((can.smallest_lease == 1ms && can.grain == 1ms));
}

BOOST_AUTO_TEST_CASE(space_is_shared_by_name_while_it_is_used)
{
    const auto one = memory_space::shared("one");
    BOOST_TEST(memory_space::shared("one") == one);
    BOOST_TEST(memory_space::shared("two") != one);
    BOOST_TEST(memory_space::shared() == memory_space::shared(""));

    std::weak_ptr<memory_space> gone = memory_space::shared("three");
    BOOST_TEST(gone.expired());
    const auto user = make_memory_store(memory_space::shared("three"));
    BOOST_TEST(memory_space::shared("three") != nullptr);
}

BOOST_AUTO_TEST_CASE(space_keeps_fences_for_the_longest_requested_retention)
{
    const auto retention = [](memory_space& of) { return of.get().retention(); };
    const auto space = memory_space::shared("kept", 60s);
    BOOST_TEST((retention(*space) == 60s));
    BOOST_TEST(memory_space::shared("kept", 30s) == space);
    BOOST_TEST((retention(*space) == 60s));
    BOOST_TEST(memory_space::shared("kept") == space);
    BOOST_TEST((retention(*space) == 24h));
    BOOST_TEST(memory_space::shared("kept", 0s) == space);
    BOOST_TEST((retention(*space) == 0s));
    BOOST_TEST(memory_space::shared("kept") == space);
    BOOST_TEST((retention(*space) == 0s));

    asio::io_context context;
    const client used(context, "memory:url?fence_retention=5");
    BOOST_TEST((retention(*memory_space::shared("url", 1s)) == 5s));
}

BOOST_AUTO_TEST_CASE(operator_can_count_and_delete_locks)
{
    const auto space = std::make_shared<memory_space>();
    asio::io_context context;
    store_session session(context, make_memory_store(space));
    session.acquire(contract::take("short", "a:1", 20ms));
    session.acquire(contract::take("long", "a:2"));
    BOOST_TEST(space->size() == 2u);
    session.wait(22ms);
    BOOST_TEST(space->size() == 1u);
    BOOST_TEST(!space->erase("short"));
    BOOST_TEST(space->erase("long"));
    BOOST_TEST(!space->erase("long"));
    BOOST_TEST(space->size() == 0u);
}

// The context may end with outstanding replies and wake-ups, and before the store.
BOOST_AUTO_TEST_CASE(closed_store_is_unavailable)
{
    boost::asio::io_context context;
    const auto space = std::make_shared<memory_space>();
    const auto left = make_memory_store(space);
    counting_listener ears;
    left->open(context.get_executor(), ears);
    left->close();
    int told = 0;
    const auto refused = [&told](error_code code, const auto&) {
        BOOST_TEST((code == errc::store_unavailable));
        ++told;
    };
    const acquire_request asked{
        .name = "a", .owner = "a:1", .entry = {}, .lease = 10s, .fences = 1, .budget = 5s};
    left->async_acquire(asked, refused);
    const renewal one[] = {{"a", "a:1", 10s}};
    left->async_renew(one, refused);
    left->async_release({.name = "a", .owner = "a:1", .entry = {}}, refused);
    context.run();
    BOOST_TEST(told == 3);
    BOOST_TEST(space->size() == 0u);
}

BOOST_AUTO_TEST_CASE(repeated_close_of_a_store_removes_no_other_waiter)
{
    struct turns final : store_listener
    {
        void on_wakeup(std::string_view) override {}
        void on_grant(std::string_view, std::string_view owner) override { told += owner; }
        void on_connected(store_partition) override {}
        void on_disconnected(store_partition, error_code) override {}

        std::string told;
    };
    turns ears;
    boost::asio::io_context context;
    const auto space = std::make_shared<memory_space>();
    const auto open = [&] {
        auto made = make_memory_store(space);
        made->open(context.get_executor(), ears);
        return made;
    };
    const auto second = open(), third = open(), first = open();
    auto leaves = open();
    const auto ask = [&](store& who, const char* owner) {
        who.async_acquire(queued_request("a", owner), [](error_code, const acquire_reply&) {});
    };
    ask(*first, "a:1");
    ask(*second, "b:1");
    ask(*third, "c:1");
    ask(*leaves, "d:1");
    leaves->close();
    leaves->close();
    leaves.reset();
    for (const char* const owner : {"a:1", "b:1", "c:1"}) {
        first->async_release({.name = "a", .owner = owner, .entry = {}},
                             [](error_code, const release_reply&) {});
        context.restart();
        context.poll();
    }
    BOOST_TEST(ears.told == "b:1c:1");
    BOOST_TEST(space->size() == 0u);
}

BOOST_AUTO_TEST_CASE(context_destroyed_before_the_store_keeps_no_handler)
{
    counting_listener ears;
    const auto space = std::make_shared<memory_space>();
    const auto store = make_memory_store(space);
    const auto token = std::make_shared<int>();
    {
        asio::io_context context;
        store->open(asio::make_strand(context), ears);
        store->watch("lock");
        store->async_acquire(contract::take("lock", "a:1"), [token](error_code, acquire_reply) {});
        store->async_release({.name = "lock", .owner = "a:1", .entry = {}},
                             [token](error_code, release_reply) {});
        BOOST_TEST(token.use_count() == 3);
    }
    BOOST_TEST(token.use_count() == 1);

    // A release by another client must not be posted to the destroyed context.
    asio::io_context context;
    store_session other(context, make_memory_store(space));
    other.acquire(contract::take("lock", "b:1"));
    BOOST_TEST(other.release({.name = "lock", .owner = "b:1", .entry = {}}).reply.receivers == 0u);
    store->async_acquire(contract::take("lock", "a:2"), [token](error_code, acquire_reply) {});
    store->unwatch("lock");
    store->close();
    BOOST_TEST(token.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(store_can_be_destroyed_with_outstanding_replies)
{
    counting_listener ears;
    asio::io_context context;
    auto store = make_memory_store(std::make_shared<memory_space>());
    store->open(asio::make_strand(context), ears);
    store->watch("lock");
    int answers = 0;
    store->async_acquire(contract::take("lock", "a:1"),
                         [&](error_code, acquire_reply) { ++answers; });
    store.reset();
    context.run();
    BOOST_TEST(answers == 1);
    BOOST_TEST(ears.calls == 0);
}

// Exclusion among threads, each with its own context. The counter is not atomic on purpose.
BOOST_AUTO_TEST_CASE(locks_exclude_threads_from_each_other)
{
    const auto space = std::make_shared<memory_space>();
    std::atomic<int> inside = 0, grants = 0, clashes = 0;
    const auto work = [&](int id) {
        asio::io_context context;
        store_session session(context, make_memory_store(space));
        session.watch("lock");
        for (int i = 0; i < 200; ++i) {
            const std::string owner = std::to_string(id) + ':' + std::to_string(i);
            for (;;) {
                const std::size_t before = session.wakeups.size();
                if (session.acquire(contract::take("lock", owner)).reply.result ==
                    acquire_reply::outcome::granted)
                    break;
                // The watch is in effect, so no wake-up may be lost between a rejection and the
                // wait.
                session.wait_for_wakeups(before + 1);
            }
            clashes += inside.fetch_add(1) != 0;
            inside.fetch_sub(1);
            ++grants;
            session.release({.name = "lock", .owner = owner, .entry = {}});
        }
    };
    {
        std::jthread other([&] { work(2); });
        work(1);
    }
    BOOST_TEST(clashes == 0);
    BOOST_TEST(grants == 400);
}

namespace {

/// Blocks the thread that posts to it, which does so under the mutex of a space.
class holding_executor
{
public:
    explicit holding_executor(asio::execution_context& context) : context_(&context) {}

    template <class Function>
    void execute(Function&&) const
    {
        if (!std::exchange(state_->armed, false))
            return;
        state_->held.release();
        state_->may_go_on.acquire();
    }

    asio::execution_context& query(asio::execution::context_t) const noexcept { return *context_; }
    static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept
    {
        return asio::execution::blocking.never;
    }
    holding_executor require(asio::execution::blocking_t::never_t) const { return *this; }

    friend bool operator==(const holding_executor& a, const holding_executor& b) noexcept
    {
        return a.state_ == b.state_;
    }

    /// From now on, blocks the first post.
    void arm() const { state_->armed = true; }
    void wait_until_held() const { state_->held.acquire(); }
    void let_go() const { state_->may_go_on.release(); }

private:
    struct shared
    {
        bool armed = false;
        std::binary_semaphore held{0};
        std::binary_semaphore may_go_on{0};
    };

    asio::execution_context* context_;
    std::shared_ptr<shared> state_ = std::make_shared<shared>();
};

struct deaf_watcher final : memory::watcher
{
    void on_wakeup(std::string_view) override {}
    void on_grant(std::string_view, std::string_view) override {}
};

/// Whether a thread of this process sleeps, like one that waits for a locked mutex.
bool sleeps(pid_t thread)
{
    std::ifstream in("/proc/self/task/" + std::to_string(thread) + "/stat");
    std::string text;
    std::getline(in, text);
    const auto name_end = text.rfind(')');
    return name_end != std::string::npos && text.compare(name_end, 3, ") S") == 0;
}

} // namespace

// The caller has timed out by then, and the granted lock would remain held.
BOOST_AUTO_TEST_CASE(wait_for_another_thread_counts_against_the_budget)
{
    asio::io_context context;
    const memory_space space;
    memory_space::state& locks = space.get();
    const holding_executor slow(context);
    const auto watcher = std::make_shared<deaf_watcher>();
    locks.acquire(contract::take("other", "a:1"), 0);
    locks.watch("other", watcher, slow);
    slow.arm();
    const std::jthread holds(
        [&] { locks.release({.name = "other", .owner = "a:1", .entry = {}}, 0); });
    slow.wait_until_held();

    acquire_request asked = contract::take("lock", "b:1");
    asked.budget = 20ms;
    std::atomic<pid_t> id = 0;
    acquire_reply said;
    std::jthread waits([&] {
        id = gettid();
        said = locks.acquire(asked, 0);
    });
    while (id == 0 || !sleeps(id))
        std::this_thread::yield();
    const auto end = leasehold::clock::now() + asked.budget;
    while (leasehold::clock::now() <= end)
        std::this_thread::yield();
    slow.let_go();
    waits.join();
    BOOST_TEST((said.result == acquire_reply::outcome::late));
    BOOST_TEST(space.size() == 0u);
}

// Any end of the budget, including one before the epoch of the clock or its range.
BOOST_AUTO_TEST_CASE(negative_budget_is_late)
{
    using std::chrono::milliseconds;
    asio::io_context context;
    store_session session(context, make_memory_store(std::make_shared<memory_space>()));
    for (const milliseconds budget :
         {milliseconds(-1), milliseconds(-std::chrono::years(1)),
          milliseconds(-std::chrono::years(1000)), milliseconds::min()}) {
        acquire_request asked = contract::take("lock", "a:1");
        asked.budget = budget;
        BOOST_TEST((session.acquire(asked).reply.result == acquire_reply::outcome::late));

        session.acquire(contract::take("lock", "b:1"));
        asked.waits = true;
        const auto left = session.release(
            {.name = "lock", .owner = "b:1", .entry = {}, .next = &asked});
        BOOST_TEST((left.reply.result == release_reply::outcome::freed));
        BOOST_TEST(!left.reply.next.has_value());
    }
    acquire_request asked = contract::take("lock", "a:1");
    asked.budget = milliseconds::max();
    BOOST_TEST((session.acquire(asked).reply.result == acquire_reply::outcome::granted));
}

BOOST_AUTO_TEST_CASE(wake_up_after_the_unwatch_is_not_reported)
{
    counting_listener ears;
    asio::io_context context;
    const auto space = std::make_shared<memory_space>();
    const auto store = make_memory_store(space);
    store->open(context.get_executor(), ears);
    store->watch("lock");
    context.poll();
    const int calls = ears.calls;
    BOOST_TEST(calls == 2); // connected, and the watch is in effect
    memory_space::state& locks = space->get();
    locks.acquire(contract::take("lock", "a:1"), 0);
    BOOST_TEST(locks.release({.name = "lock", .owner = "a:1", .entry = {}}, 0).receivers == 1u);
    store->unwatch("lock");
    context.restart();
    context.poll();
    BOOST_TEST(ears.calls == calls);
    store->close();
}
