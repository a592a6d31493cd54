#ifndef LEASEHOLD_TEST_SUPPORT_CORE_FIXTURE_HPP
#define LEASEHOLD_TEST_SUPPORT_CORE_FIXTURE_HPP

#include "core/client_state.hpp"
#include "support/completion.hpp"
#include "support/fake_store.hpp"
#include "support/manual_time.hpp"
#include "support/moved_time.hpp"
#include "support/print.hpp"
#include "support/recording_observer.hpp"

#include <leasehold/client.hpp>
#include <leasehold/lease.hpp>
#include <leasehold/mutex.hpp>
#include <leasehold/owner.hpp>

#include <boost/asio/io_context.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace leasehold::test {

/// A client's core on one thread, with a store whose replies the test supplies and a clock that the
/// test moves.
class core_fixture
{
public:
    using locking = completion<error_code, lease>;
    using waiting = completion<error_code>;

    explicit core_fixture(bool run_and_connect = true)
    {
        if (!run_and_connect)
            return;
        run();
        connect();
    }

    explicit core_fixture(std::shared_ptr<fake_store> with) : store(std::move(with))
    {
        run();
        connect();
    }

    ~core_fixture()
    {
        if (abandoned_)
            return;
        core->cancel();
        poll();
    }

    /// From now on, nothing runs. The context ends with all outstanding operations.
    void abandon() { abandoned_ = true; }

    void run()
    {
        running.start([&](auto handler) { async_run(std::move(handler)); });
        poll();
    }

    void connect()
    {
        store->connect();
        poll();
    }

    void disconnect(error_code why = errc::store_unavailable)
    {
        store->disconnect(why);
        poll();
    }

    /// Like the public operations, but without their objects.
    /// @{
    template <class Token>
    auto async_run(Token&& token)
    {
        return detail::initiate<void(error_code), &detail::start_run>(core,
                                                                      std::forward<Token>(token));
    }

    template <class Token>
    auto async_shutdown(Token&& token)
    {
        return detail::initiate<void(error_code), &detail::start_shutdown>(
            core, std::forward<Token>(token));
    }

    template <class Token>
    auto async_lock(detail::spec_ptr spec, clock::duration limit, owner holder, Token&& token)
    {
        return start_lock(std::forward<Token>(token), std::move(spec), std::move(holder), limit);
    }

    static void begin_lock(detail::lock_handler&& handler, detail::spec_ptr spec, owner holder,
                           clock::duration limit)
    {
        if (!holder.empty())
            spec = std::make_shared<const detail::lock_spec>(*spec, std::move(holder));
        detail::start_lock(std::move(handler), std::move(spec), limit);
    }

    template <class Token>
    static auto start_lock(Token&& token, detail::spec_ptr spec, owner holder,
                           clock::duration limit, diagnostics* details = nullptr)
    {
        return detail::initiate_explained<void(error_code, lease), &core_fixture::begin_lock>(
            std::move(spec), std::forward<Token>(token), details, std::move(holder), limit);
    }

    template <class Token>
    auto async_lock(detail::spec_ptr spec, Token&& token)
    {
        return async_lock(std::move(spec), clock::duration::max(), {}, std::forward<Token>(token));
    }
    /// @}

    /// Runs all ready handlers, including due wake-ups. Throws if that does not end.
    void poll()
    {
        for (int rounds = 0;; ++rounds) {
            context.restart();
            context.poll();
            const bool renewed = renew_all_when_asked && answer_renewals();
            if (!time.wake() && !renewed)
                return;
            if (rounds > 1000)
                throw std::runtime_error("the timer runs in a loop");
        }
    }

    void advance(clock::duration by)
    {
        move_time(time, by, [this] { poll(); });
    }

    /// Moves the clock while no code runs, as if the process was paused.
    void skip(clock::duration by)
    {
        time.set(time.now() + by);
        poll();
    }

    detail::spec_ptr spec(std::string name, lock_options options = {}) const
    {
        options.validate();
        return std::make_shared<const detail::lock_spec>(core, std::move(name), options);
    }

    std::shared_ptr<locking> lock(const detail::spec_ptr& spec,
                                  clock::duration limit = clock::duration::max(), owner holder = {})
    {
        auto op = make<locking>();
        op->start(
            [&](auto handler) { async_lock(spec, limit, std::move(holder), std::move(handler)); });
        poll();
        return op;
    }

    std::shared_ptr<locking> lock(std::string name) { return lock(spec(std::move(name))); }

    std::shared_ptr<waiting> release(lease held)
    {
        auto op = make<waiting>();
        op->start([&](auto handler) { held.async_release(std::move(handler)); });
        poll();
        return op;
    }

    std::shared_ptr<waiting> wait_lost(lease& held)
    {
        auto op = make<waiting>();
        op->start([&](auto handler) { held.async_wait_lost(std::move(handler)); });
        poll();
        return op;
    }

    std::shared_ptr<waiting> shutdown()
    {
        auto op = make<waiting>();
        op->start([&](auto handler) { async_shutdown(std::move(handler)); });
        poll();
        return op;
    }

    /// A lease of `spec`, acquired as the next request to the store.
    lease taken(const detail::spec_ptr& spec, std::uint32_t fences = 1)
    {
        const auto op = lock(spec);
        grant(fences);
        return std::move(op->value<1>());
    }

    /// Answer the latest request of the kind.
    /// @{
    void grant(std::uint32_t fences = 1)
    {
        store->grant(store->acquire_count() - 1, fence, fences);
        fence += fences;
        poll();
    }
    void say_held(std::chrono::milliseconds remaining = std::chrono::seconds(10))
    {
        store->say_held(store->acquire_count() - 1, remaining);
        poll();
    }
    /// Also waits until the next request is sent, if that is within five seconds.
    void say_held_and_wait(std::chrono::milliseconds remaining)
    {
        const auto asked = store->acquire_count();
        say_held(remaining);
        for (int i = 0; i < 5000 && store->acquire_count() == asked; ++i)
            advance(std::chrono::milliseconds(1));
    }
    void say(acquire_reply::outcome result)
    {
        store->complete_acquire(store->acquire_count() - 1, {},
                                {.result = result, .fences = 0, .first_fence = 0, .remaining = {}});
        poll();
    }
    void fail_acquire(error_code why)
    {
        store->complete_acquire(store->acquire_count() - 1, why);
        poll();
    }
    void renew_all(renewal_result result = renewal_result::renewed)
    {
        store->renew_all(store->renew_count() - 1, result);
        poll();
    }
    void fail_renew(error_code why)
    {
        store->complete_renew(store->renew_count() - 1, why);
        poll();
    }
    void say_freed(std::uint64_t receivers = 0)
    {
        store->say_freed(store->release_count() - 1, receivers);
        poll();
    }
    void say_released(release_reply::outcome result)
    {
        store->complete_release(store->release_count() - 1, {}, {.result = result, .receivers = 0});
        poll();
    }
    void fail_release(error_code why)
    {
        store->complete_release(store->release_count() - 1, why);
        poll();
    }
    /// @}

    fake_store::acquire_call last_acquire() const { return store->acquires().back(); }
    fake_store::release_call last_release() const { return store->releases().back(); }
    client_stats stats() const { return core->stats(); }

    /// An operation that has not been started. It lives as long as this object.
    template <class Operation>
    std::shared_ptr<Operation> make()
    {
        auto made = std::make_shared<Operation>(context.get_executor());
        operations_.push_back(made);
        return made;
    }

private:
    bool abandoned_ = false;
    // Slots refer to their signals until the context has ended.
    std::vector<std::shared_ptr<void>> operations_;

public:
    asio::io_context context;
    manual_time time;
    std::shared_ptr<fake_store> store = std::make_shared<fake_store>();
    std::shared_ptr<recording_observer> seen = std::make_shared<recording_observer>();
    std::shared_ptr<detail::client_state> core = detail::client_state::make(
        context.get_executor(), store, seen, time.make_source());
    waiting running{context.get_executor()};
    std::uint64_t fence = 1; ///< The fence of the next grant.
    bool renew_all_when_asked = false;

    /// Leases that a test keeps to the end.
    std::vector<lease> kept;
    std::vector<std::shared_ptr<locking>> others;
    std::vector<std::shared_ptr<waiting>> releases;

private:
    bool answer_renewals()
    {
        bool any = false;
        const auto calls = store->renewals();
        for (std::size_t i = 0; i < calls.size(); ++i) {
            if (calls[i].answered)
                continue;
            store->renew_all(i);
            any = true;
        }
        return any;
    }
};

} // namespace leasehold::test

#endif
