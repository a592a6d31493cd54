#ifndef LEASEHOLD_SRC_CORE_ASYNC_CALLING_EXECUTOR_HPP
#define LEASEHOLD_SRC_CORE_ASYNC_CALLING_EXECUTOR_HPP

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/outstanding_work.hpp>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

namespace leasehold::detail {

namespace asio = boost::asio;

/// What is to be called on the thread that an operation is begun on, while it is begun.
class call_queue : public std::enable_shared_from_this<call_queue>
{
public:
    using function = asio::any_completion_handler<void()>;

    // From any thread.
    void push(function call);
    void work_started();
    void work_ended();

    /// Calls what comes, until nobody has work that could bring more.
    void run();

    /// Nobody calls here any more: what comes has to be called elsewhere.
    void close() noexcept;

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<function> calls_;
    std::size_t work_ = 0;
    bool closed_ = false;
};

/// For a handler without an executor, of an operation that has no client whose executor could take
/// its place: it is called where the operation is begun, before that returns.
///
/// What stands around such a handler may have a timer, as `cancel_after` has, and calls it when
/// that is gone. A timer needs a thread to wait on. It has one, but what it calls comes back
/// through this executor to the thread that begins the operation, which waits for it: not for long,
/// because the timer is cancelled before.
class calling_executor
{
public:
    /// For the operation that this thread begins next.
    [[nodiscard]] static asio::any_io_executor of_next_call();

    /// What was asked for by the operation that this thread begins now; null: nothing.
    [[nodiscard]] static std::shared_ptr<call_queue> take_calls() noexcept;

    [[nodiscard]] asio::execution_context& query(asio::execution::context_t) const;
    [[nodiscard]] static constexpr asio::execution::blocking_t query(
        asio::execution::blocking_t) noexcept
    {
        return asio::execution::blocking.never;
    }
    [[nodiscard]] calling_executor require(asio::execution::blocking_t::never_t) const noexcept
    {
        return *this;
    }
    [[nodiscard]] calling_executor require(asio::execution::outstanding_work_t::tracked_t) const;
    [[nodiscard]] calling_executor require(asio::execution::outstanding_work_t::untracked_t) const
    {
        return calling_executor(calls_->shared_from_this());
    }

    template <class F>
    void execute(F&& f) const
    {
        calls_->push(call_queue::function(std::forward<F>(f)));
    }

    bool operator==(const calling_executor& other) const noexcept
    {
        return calls_.get() == other.calls_.get();
    }

private:
    explicit calling_executor(std::shared_ptr<call_queue> calls) noexcept : calls_(std::move(calls))
    {}

    std::shared_ptr<call_queue> calls_; ///< A tracked one has a count of its own, which is work.
};

} // namespace leasehold::detail

#endif
