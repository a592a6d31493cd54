#ifndef LEASEHOLD_DETAIL_GUARDED_WORK_HPP
#define LEASEHOLD_DETAIL_GUARDED_WORK_HPP

#include <leasehold/lease.hpp>
#include <leasehold/mutex.hpp>

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/system_error.hpp>

#include <array>
#include <concepts>
#include <exception>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace leasehold::detail {

using work_strand = asio::strand<asio::any_io_executor>;

template <class T>
inline constexpr bool is_awaitable = false;
template <class T, class Executor>
inline constexpr bool is_awaitable<asio::awaitable<T, Executor>> = true;

template <class Work>
decltype(auto) call_work(Work& work, lease& held)
{
    if constexpr (std::invocable<Work&, lease&>)
        return work(held);
    else
        return work();
}

/// The work as an operation that has not started.
template <class Work>
auto make_operation(Work& work, lease& held, const work_strand& strand)
{
    using result = decltype(call_work(work, held));
    if constexpr (is_awaitable<std::remove_cvref_t<result>>)
        return asio::co_spawn(strand, call_work(work, held), asio::deferred);
    else
        return call_work(work, held);
}

template <class Work>
using work_signature_t = asio::completion_signature_of_t<decltype(make_operation(
    std::declval<Work&>(), std::declval<lease&>(), std::declval<const work_strand&>()))>;

inline void assign_error(error_code& out, error_code why)
{
    out = why;
}

inline void assign_error(std::exception_ptr& out, error_code why)
{
    out = std::make_exception_ptr(boost::system::system_error(why));
}

/// The steps of `with_lock`: wait, work beside a watch on the lease, release, complete.
template <class Signature, class Work, class Handler>
class guarded_work;

template <class Error, class... Results, class Work, class Handler>
class guarded_work<void(Error, Results...), Work, Handler>
    : public std::enable_shared_from_this<guarded_work<void(Error, Results...), Work, Handler>>
{
public:
    guarded_work(Handler handler, const mutex& lock, Work work)
        : handler_(std::move(handler)),
          executor_(asio::get_associated_executor(handler_, lock.get_executor())),
          guard_(track(executor_)),
          strand_(asio::any_io_executor(executor_)),
          lock_(lock),
          work_(std::move(work))
    {}

    void start()
    {
        slot_ = asio::get_associated_cancellation_slot(handler_);
        if (slot_.is_connected()) {
            // Signals are not thread-safe, and the emission may come from anywhere: it is repeated
            // on the strand.
            slot_.assign([weak = this->weak_from_this()](asio::cancellation_type type) {
                if (auto self = weak.lock())
                    asio::post(self->strand_, [self, type] { self->cancel(type); });
            });
        }
        lock_.async_lock(asio::bind_cancellation_slot(
            signal_.slot(), asio::bind_executor(strand_, [self = this->shared_from_this()](
                                                             error_code failed, lease held) {
                self->locked(failed, std::move(held));
            })));
    }

private:
    enum class phase
    {
        waiting,
        working,
        releasing,
    };

    void cancel(asio::cancellation_type type)
    {
        const bool terminal = (type & asio::cancellation_type::terminal) !=
                              asio::cancellation_type::none;
        if (phase_ == phase::waiting) {
            cancelled_ = true;
            signal_.emit(type);
        }
        else if (phase_ == phase::working && terminal) {
            // Only terminal: a parallel group forwards the first emission and no more.
            signal_.emit(asio::cancellation_type::terminal);
        }
    }

    void locked(error_code failed, lease held)
    {
        if (failed)
            return fail(failed);
        lease_ = std::move(held);
        if (cancelled_)
            return release(asio::error::operation_aborted);
        phase_ = phase::working;
        try {
            asio::experimental::make_parallel_group(make_operation(*work_, lease_, strand_),
                                                    lease_.async_wait_lost())
                .async_wait(asio::experimental::wait_for_one(),
                            asio::bind_cancellation_slot(
                                signal_.slot(),
                                asio::bind_executor(strand_, worked{this->shared_from_this()})));
        }
        catch (...) {
            // The work could not even be started; a release is due all the same.
            if constexpr (std::same_as<Error, std::exception_ptr>)
                error_ = std::current_exception();
            else
                throw;
            results_.emplace(Results()...);
            release({});
        }
    }

    struct worked
    {
        std::shared_ptr<guarded_work> self;

        void operator()(std::array<std::size_t, 2>, Error error, Results... results,
                        error_code ended)
        {
            self->error_ = std::move(error);
            self->results_.emplace(std::move(results)...);
            // When the work was first, the watch was aborted.
            self->release(ended == asio::error::operation_aborted ? error_code() : ended);
        }
    };

    void release(error_code reason)
    {
        phase_ = phase::releasing;
        work_.reset();
        lease_.async_release(asio::bind_executor(
            strand_, [self = this->shared_from_this(), reason](error_code released) {
                if (reason)
                    self->fail(reason);
                else if (released == condition::lease_ended || released == errc::shut_down)
                    self->fail(released); // it ended unseen, between the last look and now
                else
                    self->finish();
            }));
    }

    void fail(error_code reason)
    {
        assign_error(error_, reason);
        results_.emplace(Results()...);
        finish();
    }

    void finish()
    {
        work_.reset();
        auto allocator = asio::get_associated_allocator(handler_);
        auto executor = executor_;
        auto completion = [handler = std::move(handler_), slot = slot_, guard = std::move(guard_),
                           error = std::move(error_), results = std::move(*results_)]() mutable {
            slot.clear();
            std::apply(
                [&](auto&... values) {
                    std::move(handler)(std::move(error), std::move(values)...);
                },
                results);
        };
        asio::post(executor, asio::bind_allocator(allocator, std::move(completion)));
    }

    using executor_type = asio::associated_executor_t<Handler, asio::any_io_executor>;

    /// Keeps the handler's context busy. A work guard would do, but ends the process where an
    /// executor cannot be copied for want of memory.
    static auto track(const executor_type& executor)
    {
        return asio::prefer(executor, asio::execution::outstanding_work.tracked);
    }
    using tracked_type = decltype(track(std::declval<const executor_type&>()));

    Handler handler_;
    executor_type executor_;
    tracked_type guard_;
    asio::associated_cancellation_slot_t<Handler> slot_;
    work_strand strand_;
    asio::cancellation_signal signal_;
    phase phase_ = phase::waiting;
    bool cancelled_ = false;
    mutex lock_;
    lease lease_;
    std::optional<Work> work_;
    Error error_{};
    std::optional<std::tuple<Results...>> results_;
};

template <class Signature>
class guard_initiation
{
public:
    using executor_type = asio::any_io_executor;

    explicit guard_initiation(executor_type executor) noexcept : executor_(std::move(executor)) {}

    [[nodiscard]] executor_type get_executor() const noexcept { return executor_; }

    template <class Handler, class Work>
    void operator()(Handler&& handler, const mutex& lock, Work&& work) const
    {
        using operation = guarded_work<Signature, std::decay_t<Work>, std::decay_t<Handler>>;
        auto allocator = asio::get_associated_allocator(handler);
        std::allocate_shared<operation>(allocator, std::forward<Handler>(handler), lock,
                                        std::forward<Work>(work))
            ->start();
    }

private:
    executor_type executor_;
};

} // namespace leasehold::detail

#endif
