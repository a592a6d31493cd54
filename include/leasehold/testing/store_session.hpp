#ifndef LEASEHOLD_TESTING_STORE_SESSION_HPP
#define LEASEHOLD_TESTING_STORE_SESSION_HPP

#include <leasehold/store.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::testing {

/// Opens a store, with a strand and a recording listener, for tests of stores. Makes the
/// asynchronous functions synchronous: each runs the context until there is a reply. Its destructor
/// calls `close`. Several sessions may share a context; each belongs to one thread.
/// @throws std::runtime_error From each function that waits, if the event does not happen within
///     ten seconds.
class store_session final : public store_listener
{
public:
    /// The result of a request.
    template <class Reply>
    struct answer
    {
        error_code code;              ///< The error, or none.
        Reply reply;                  ///< The reply of the store.
        bool on_strand = false;       ///< The handler was called on the strand.
        bool inside_the_call = false; ///< The handler was called inside the initiating call.
    };

    /// Opens the store.
    store_session(asio::io_context& context, std::shared_ptr<store> tested)
        : context_(context), strand_(asio::make_strand(context)), store_(std::move(tested))
    {
        on_the_strand([this] { store_->open(strand_, *this); });
    }

    ~store_session() { close(); }
    store_session(const store_session&) = delete;
    store_session& operator=(const store_session&) = delete;

    /// Runs the context until a partition can be reached.
    void wait_until_connected()
    {
        until([this] { return connected > 0; });
    }

    /// Closes the store. A second call has no effect.
    void close()
    {
        if (!std::exchange(closed_, true))
            on_the_strand([this] { store_->close(); });
    }

    /// Calls `store::async_acquire` and returns its result.
    answer<acquire_reply> acquire(const acquire_request& request)
    {
        return call<acquire_reply>(
            [&](auto done) { store_->async_acquire(request, std::move(done)); });
    }

    /// Calls `store::async_renew` and returns its result.
    answer<renew_reply> renew(std::span<const renewal> renewals)
    {
        return call<renew_reply>(
            [&](auto done) { store_->async_renew(renewals, std::move(done)); });
    }

    /// Calls `store::async_release` and returns its result.
    answer<release_reply> release(const release_request& request)
    {
        return call<release_reply>(
            [&](auto done) { store_->async_release(request, std::move(done)); });
    }

    /// Runs the context for this time.
    void wait(std::chrono::milliseconds time)
    {
        bool over = false;
        asio::steady_timer timer(context_, time);
        timer.async_wait([&](error_code) { over = true; });
        until([&] { return over; });
    }

    /// Calls `store::watch`.
    void watch(std::string_view name)
    {
        on_the_strand([&] { store_->watch(name); });
    }

    /// Calls `store::unwatch`.
    void unwatch(std::string_view name)
    {
        on_the_strand([&] { store_->unwatch(name); });
    }

    /// Runs the context until `wakeups` has this size.
    void wait_for_wakeups(std::size_t count)
    {
        until([&] { return wakeups.size() >= count; });
    }

    /// Runs handlers of the context on this thread until `done()`. If there are none, it waits,
    /// because another thread may post some.
    template <class Predicate>
    void until(Predicate done)
    {
        const auto work = asio::make_work_guard(context_);
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (!done()) {
            context_.restart();
            if (context_.run_one_until(end) == 0 && std::chrono::steady_clock::now() >= end)
                throw std::runtime_error("store_session: it did not happen in time");
        }
    }

    /// Calls `function` on the strand, and waits until it returns.
    template <class Function>
    void on_the_strand(Function function)
    {
        bool done = false;
        asio::post(strand_, [&] {
            in_call_ = true;
            function();
            in_call_ = false;
            done = true;
        });
        until([&] { return done; });
    }

    /// The store.
    store& get() noexcept { return *store_; }
    /// The context that it was opened with.
    asio::io_context& context() noexcept { return context_; }

    int connected = 0;                ///< Number of `on_connected` calls.
    int disconnected = 0;             ///< Number of `on_disconnected` calls.
    std::set<store_partition> online; ///< The partitions that can be reached.
    error_code why;                   ///< The reason of the last `on_disconnected` call.
    std::vector<std::string> wakeups; ///< The names of all `on_wakeup` calls.

    /// One `on_grant` call.
    struct grant
    {
        std::string name;  ///< The name of the lock.
        std::string owner; ///< The owner that may have the grant.
    };
    std::vector<grant> grants;     ///< All `on_grant` calls.
    std::vector<grant> gone;       ///< All `on_gone` calls.
    int listening = 0;             ///< Number of `on_listening` calls.
    bool listener_misused = false; ///< A call off the strand, inside a call, or after `close`.

private:
    template <class Reply, class Start>
    answer<Reply> call(Start start)
    {
        std::optional<answer<Reply>> result;
        int times = 0;
        on_the_strand([&] {
            start([&](error_code code, Reply reply) {
                ++times;
                result = answer<Reply>{code, std::move(reply), strand_.running_in_this_thread(),
                                       in_call_};
            });
        });
        until([&] { return result.has_value(); });
        context_.poll(); // a second completion would come now
        if (times != 1)
            throw std::runtime_error("a handler was invoked more than once");
        return std::move(*result);
    }

    void check() { listener_misused |= in_call_ || closed_ || !strand_.running_in_this_thread(); }

    void on_wakeup(std::string_view name) override
    {
        check();
        wakeups.emplace_back(name);
    }

    void on_grant(std::string_view name, std::string_view owner) override
    {
        check();
        grants.push_back({std::string(name), std::string(owner)});
    }

    void on_gone(std::string_view name, std::string_view owner) override
    {
        check();
        gone.push_back({std::string(name), std::string(owner)});
    }

    void on_listening(store_partition) override
    {
        check();
        ++listening;
    }

    void on_connected(store_partition partition) override
    {
        check();
        ++connected;
        online.insert(partition);
    }

    void on_disconnected(store_partition partition, error_code code) override
    {
        check();
        ++disconnected;
        online.erase(partition);
        why = code;
    }

    asio::io_context& context_;
    asio::strand<asio::io_context::executor_type> strand_;
    std::shared_ptr<store> store_;
    bool in_call_ = false;
    bool closed_ = false;
};

} // namespace leasehold::testing

#endif
