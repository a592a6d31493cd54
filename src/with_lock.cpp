#include <leasehold/detail/guarded_work.hpp>

#include "core/turn/turn_context.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>

#include <memory>
#include <new>

namespace leasehold::detail {

/// The steps of `with_lock`: wait, work beside a watch on the lease, release, complete. On a strand
/// of its own: the work and its cancellation must not meet, and neither may delay the client.
class guarded_run : public std::enable_shared_from_this<guarded_run>
{
    enum class phase
    {
        waiting,
        working,
        releasing,
    };

    template <class Handler>
    auto on_strand(asio::cancellation_signal& signal, Handler handler)
    {
        return asio::bind_cancellation_slot(signal.slot(),
                                            asio::bind_executor(executor_, std::move(handler)));
    }

    struct completion
    {
        guarded_call_ptr call;
        asio::cancellation_slot slot;
        error_code reason;
        details_ptr details;

        void operator()()
        {
            // Before the handler runs: this frees what the slot keeps of the operation, and a late
            // emission has no effect.
            if (slot.is_connected())
                slot.clear();
            call.release()->complete(reason, details);
        }
    };

public:
    guarded_run(guarded_call_ptr call, const mutex& lock, guarded_places places)
        : call_(std::move(call)),
          lock_(lock),
          strand_(places.work),
          executor_(strand_.executor()),
          completion_(std::move(places.completion)),
          slot_(places.cancellation)
    {}

    void start()
    {
        if (slot_.is_connected()) {
            // Signals are not thread-safe, and the emission may come from any thread: it is
            // repeated on the strand.
            slot_.assign([weak = weak_from_this()](asio::cancellation_type type) {
                if (const auto self = weak.lock())
                    self->strand_.post([self, type] { self->cancel(type); });
            });
        }
        lock_.async_lock(current_, on_strand(waiting_, [self = shared_from_this()](
                                                           error_code failed, lease held) {
                             self->locked(failed, std::move(held));
                         }));
    }

    [[nodiscard]] const asio::any_io_executor& executor() const noexcept { return executor_; }
    [[nodiscard]] asio::cancellation_slot work_slot() noexcept { return working_.slot(); }

    void spawn(asio::awaitable<void> work)
    {
        asio::co_spawn(executor_, std::move(work),
                       on_strand(working_, [self = shared_from_this()](std::exception_ptr thrown) {
                           if (thrown)
                               self->call_->work().fail(std::move(thrown));
                           self->worked();
                       }));
    }

    void worked()
    {
        if (phase_ != phase::working)
            return;
        work_ended_ = true;
        if (watch_ended_)
            release();
        else
            watching_.emit(asio::cancellation_type::terminal);
    }

private:
    void cancel(asio::cancellation_type type)
    {
        if (phase_ == phase::waiting) {
            cancelled_ = true;
            waiting_.emit(type);
        }
        else if (phase_ == phase::working &&
                 (type & asio::cancellation_type::terminal) != asio::cancellation_type::none) {
            cancel_work();
        }
    }

    // Emits once: a second emission must not disturb a coroutine that cleans up after the first.
    void cancel_work()
    {
        if (!std::exchange(work_cancelled_, true))
            working_.emit(asio::cancellation_type::terminal);
    }

    void locked(error_code failed, lease held)
    {
        if (failed) {
            explain(failed);
            return finish();
        }
        lease_ = std::move(held);
        if (cancelled_) {
            // The lock was granted before the cancellation reached the client.
            reason_ = asio::error::operation_aborted;
            return release();
        }
        phase_ = phase::working;
        try {
            // The watch begins before the work: if it fails, the work does not begin.
            watch_ended_ = true;
            lease_.async_wait_lost(
                current_, on_strand(watching_, [self = shared_from_this()](error_code ended) {
                    self->watched(ended);
                }));
            watch_ended_ = false;
            call_->work().begin(lease_, shared_from_this());
        }
        catch (...) {
            if (!call_->work().fail(std::current_exception())) {
                // Only the context's `run` can report the exception.
                phase_ = phase::releasing;
                call_.reset();
                lease_ = lease();
                throw;
            }
            worked();
        }
    }

    void watched(error_code ended)
    {
        watch_ended_ = true;
        if (phase_ != phase::working)
            return;
        // `operation_aborted`: the work has ended, or has released the lease itself.
        if (ended != asio::error::operation_aborted)
            explain(ended);
        if (work_ended_)
            release();
        else
            cancel_work();
    }

    void release()
    {
        phase_ = phase::releasing;
        call_->work().discard();
        lease_.async_release(
            current_,
            asio::bind_executor(executor_, [self = shared_from_this()](error_code released) {
                // The lease may have ended unnoticed since the last check.
                if (!self->reason_ &&
                    (released == condition::lease_ended || released == errc::shut_down))
                    self->explain(released);
                self->finish();
            }));
    }

    // Copied, because the next operation overwrites the details.
    void explain(error_code reason)
    {
        reason_ = reason;
        try {
            details_ = std::make_shared<const diagnostics>(std::move(current_));
        }
        catch (const std::bad_alloc&) {
            details_.reset();
        }
    }

    void finish()
    {
        call_->work().discard();
        const auto to = std::exchange(completion_, completion_executor());
        to.post(completion{std::move(call_), slot_, reason_, std::move(details_)});
    }

    guarded_call_ptr call_;
    mutex lock_;
    strand strand_;
    asio::any_io_executor executor_; ///< The strand.
    completion_executor completion_;
    asio::cancellation_slot
        slot_; ///< Of the caller. Belongs to the initiating thread, then to the handler's executor.
    asio::cancellation_signal waiting_;
    asio::cancellation_signal working_;
    asio::cancellation_signal watching_;
    phase phase_ = phase::waiting;
    bool cancelled_ = false; ///< During the wait.
    bool work_cancelled_ = false;
    bool work_ended_ = false;
    bool watch_ended_ = false;
    error_code reason_;   ///< Takes precedence over the result of the work.
    details_ptr details_; ///< Of the reason.
    diagnostics current_; ///< Of the current operation.
    lease lease_;
};

void start_guarded(guarded_call_ptr call, const mutex& lock, guarded_places places)
{
    std::make_shared<guarded_run>(std::move(call), lock, std::move(places))->start();
}

asio::any_io_executor work_executor(const guarded_run& run) noexcept
{
    return run.executor();
}

asio::cancellation_slot work_slot(guarded_run& run) noexcept
{
    return run.work_slot();
}

void work_ended(guarded_run& run)
{
    run.worked();
}

void spawn_work(run_ptr run, asio::awaitable<void> work)
{
    run->spawn(std::move(work));
}

} // namespace leasehold::detail
