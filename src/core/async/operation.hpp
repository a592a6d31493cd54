#ifndef LEASEHOLD_SRC_CORE_ASYNC_OPERATION_HPP
#define LEASEHOLD_SRC_CORE_ASYNC_OPERATION_HPP

// One asynchronous operation of a handle: `completion` holds its handler, `cancel_by_slot` connects
// the caller's cancellation slot, `posted_op` carries it to the client's strand, and the completion
// takes the results back to the handler.

#include "core/turn/turn_context.hpp"

#include <leasehold/detail/initiation.hpp>
#include <leasehold/error.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_immediate_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <atomic>
#include <memory>
#include <tuple>
#include <utility>

namespace leasehold::detail {

/// A handler that waits for its results. Keeps the handler's context busy. The handler runs on its
/// own executor, never inside a call and never on the client's strand: the user's code must not
/// delay the renewals.
template <class... Results>
class completion
{
public:
    using handler_type = bound_handler<void(Results...)>;

    explicit completion(handler_type&& bound)
        : explained_(bound.explained),
          handler_(std::move(bound.handler)),
          executor_(std::move(bound.executor)),
          slot_(asio::get_associated_cancellation_slot(handler_))
    {}

    /// Whether the caller requested the details of an error. They are made only then.
    [[nodiscard]] bool explained() const noexcept { return explained_; }

    [[nodiscard]] bool pending() const noexcept { return static_cast<bool>(handler_); }

    /// The operation was cancelled, but memory was exhausted when that was reported to the strand.
    /// From any thread.
    std::atomic<bool> cancel_requested = false;

    /// The caller's cancellation slot. Belongs to the initiating thread, then to the handler's
    /// executor; never to the strand.
    [[nodiscard]] asio::cancellation_slot& slot() noexcept { return slot_; }

    void operator()(Results... results, details_ptr details = {})
    {
        const completion_executor executor(std::move(executor_));
        executor.post(
            invocation{std::move(handler_), slot_, {std::move(results)...}, std::move(details)});
    }

    /// Destroys the handler without calling it: its context has ended.
    void drop() noexcept
    {
        const auto handler = std::move(handler_);
        executor_.reset();
    }

    /// Calls the handler with an error. Destroys it if there is no error, or no memory for the
    /// call.
    void end(error_code why) noexcept
    {
        if (why && pending()) {
            try {
                std::tuple<Results...> results;
                std::get<0>(results) = why;
                std::apply([this](Results&... each) { (*this)(std::move(each)...); }, results);
            }
            catch (...) {
            }
        }
        drop();
    }

    /// Completes an operation that never began.
    static void immediate(handler_type&& bound, const asio::any_io_executor& io, Results... results,
                          details_ptr details = {})
    {
        if (!io)
            return; // the context has ended
        // The immediate executor only leads out of the call; the handler belongs to its own
        // executor.
        const asio::any_completion_executor way_out = asio::get_associated_immediate_executor(
            bound.handler, io);
        asio::any_completion_executor executor = asio::prefer(
            asio::get_associated_executor(bound.handler, way_out),
            asio::execution::outstanding_work.tracked);
        way_out.execute(
            [executor = std::move(executor), call = invocation{std::move(bound.handler),
                                                               {},
                                                               {std::move(results)...},
                                                               std::move(details)}]() mutable {
                executor.execute(std::move(call));
            });
    }

private:
    using erased_handler = decltype(handler_type::handler);

    struct invocation
    {
        erased_handler handler;
        asio::cancellation_slot slot;
        std::tuple<Results...> results;
        details_ptr details;

        void operator()()
        {
            // Before the handler runs: this frees what the slot keeps of the operation, and a late
            // emission has no effect.
            if (slot.is_connected())
                slot.clear();
            std::apply(
                [this](Results&... each) { std::move(handler)(std::move(each)..., details); },
                results);
        }
    };

    const bool explained_;
    erased_handler handler_;
    completion_executor executor_;
    asio::cancellation_slot slot_;
};

/// Waits for the end of a release, a shutdown or the client's run, none of which depends on the
/// wait. The first outcome counts.
class outcome_op : public boost::intrusive_ref_counter<outcome_op>
{
public:
    explicit outcome_op(completion<error_code>::handler_type&& handler) : done(std::move(handler))
    {}

    void complete(error_code outcome, details_ptr details = {})
    {
        if (done.pending())
            done(outcome, std::move(details));
    }

    /// Ends only the wait.
    void cancel() { complete(asio::error::operation_aborted); }

    completion<error_code> done;
};

using outcome_op_ptr = boost::intrusive_ptr<outcome_op>;

/// An operation on its way to the strand. If it does not arrive, because the context has ended, its
/// handler is destroyed here: the caller's slot still refers to the operation, and a handler that
/// owns that slot would never be destroyed.
template <class Op>
class posted_op
{
public:
    explicit posted_op(boost::intrusive_ptr<Op> op) noexcept : op_(std::move(op)) {}
    posted_op(posted_op&&) noexcept = default;
    posted_op& operator=(posted_op&&) = delete;

    ~posted_op()
    {
        if (op_ && !arrived_)
            op_->done.drop();
    }

    /// Calls `begin(op)`. If that throws, the operation completes with `errc::shut_down`.
    template <class Begin>
    void arrive(turn_context& at, Begin begin)
    {
        arrived_ = true;
        try {
            begin(op_);
            if (op_->done.cancel_requested.load(std::memory_order_relaxed))
                at.cancel_requested.store(true, std::memory_order_relaxed);
        }
        catch (...) {
            op_->done.end(errc::shut_down);
            throw;
        }
    }

private:
    boost::intrusive_ptr<Op> op_;
    bool arrived_ = false;
};

/// From now on an emission on the caller's slot, of any type and from any thread, calls
/// `cancel(op)` in a turn of the client. Called in the initiating call, before the operation goes
/// to the strand.
template <class Op, class Cancel>
void cancel_by_slot(turn_context& client, const boost::intrusive_ptr<Op>& op, Cancel cancel)
{
    auto& slot = op->done.slot();
    if (!slot.is_connected())
        return;
    slot.assign([weak = client.weak_from_this(), op,
                 cancel = std::move(cancel)](asio::cancellation_type type) {
        const auto self = weak.lock();
        if (!self || type == asio::cancellation_type::none)
            return;
        try {
            self->on_strand([op, cancel] { cancel(*op); });
        }
        catch (...) {
            if (self->failed())
                throw; // the cancellation arrived, and its exception has ended the client
            op->done.cancel_requested.store(true, std::memory_order_relaxed);
            self->cancel_requested.store(
                true, std::memory_order_release); // the end of the next turn handles it
        }
    });
}

template <class Op>
void cancel_by_slot(turn_context& client, const boost::intrusive_ptr<Op>& op)
{
    cancel_by_slot(client, op, [](Op& cancelled) { cancelled.cancel(); });
}

} // namespace leasehold::detail

#endif
