#ifndef LEASEHOLD_SRC_CORE_ASYNC_COMPLETION_HPP
#define LEASEHOLD_SRC_CORE_ASYNC_COMPLETION_HPP

#include <leasehold/detail/initiation.hpp>
#include <leasehold/error.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_immediate_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <atomic>
#include <tuple>
#include <utility>

namespace leasehold::detail {

/// A handler that waits for its results. Keeps the handler's context busy, and leaves the handler
/// on the handler's own executor, never inside a call and never in the client's strand: the user's
/// code must not hold up the renewals.
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

    /// The caller wants the details of an error. They are made for nobody else.
    [[nodiscard]] bool explained() const noexcept { return explained_; }

    [[nodiscard]] bool pending() const noexcept { return static_cast<bool>(handler_); }

    /// It was cancelled, and there was no memory to say so on the strand. From any thread.
    std::atomic<bool> cancel_requested = false;

    /// Where the caller's cancellation arrives. Belongs to the initiating thread, then to the
    /// handler's executor; never to the strand.
    [[nodiscard]] asio::cancellation_slot& slot() noexcept { return slot_; }

    void operator()(carried_t<Results>... results, details_ptr details = {})
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

    /// Calls the handler with an error, or destroys it: when there is none, or no memory to call
    /// it.
    void end(error_code why) noexcept
    {
        if (why && pending()) {
            try {
                std::tuple<carried_t<Results>...> results;
                std::get<0>(results) = why;
                std::apply([this](carried_t<Results>&... each) { (*this)(std::move(each)...); },
                           results);
            }
            catch (...) {
            }
        }
        drop();
    }

    /// Completes an operation that never began.
    static void immediate(handler_type&& bound, const asio::any_io_executor& io,
                          carried_t<Results>... results, details_ptr details = {})
    {
        if (!io)
            return; // the context has ended
        // The immediate executor only says how to get out of the call; the handler belongs to its
        // own executor.
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
        std::tuple<carried_t<Results>...> results;
        details_ptr details;

        void operator()()
        {
            // Before the handler runs: what the slot keeps of the operation is freed, and a late
            // emission finds nothing.
            if (slot.is_connected())
                slot.clear();
            std::apply(
                [this](carried_t<Results>&... each) {
                    std::move(handler)(std::move(each)..., details);
                },
                results);
        }
    };

    const bool explained_;
    erased_handler handler_;
    completion_executor executor_;
    asio::cancellation_slot slot_;
};

} // namespace leasehold::detail

#endif
