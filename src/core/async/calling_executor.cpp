#include "core/async/calling_executor.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/thread_pool.hpp>

namespace leasehold::detail {
namespace {

/// Made by the first call that has a timer around it.
thread_local std::shared_ptr<call_queue> next_call;

} // namespace

void call_queue::push(function call)
{
    {
        const std::lock_guard lock(mutex_);
        if (!closed_) {
            calls_.push_back(std::move(call));
            changed_.notify_one();
            return;
        }
    }
    asio::post(asio::system_executor(), std::move(call));
}

void call_queue::work_started()
{
    const std::lock_guard lock(mutex_);
    ++work_;
}

void call_queue::work_ended()
{
    const std::lock_guard lock(mutex_);
    if (--work_ == 0)
        changed_.notify_one();
}

void call_queue::run()
{
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return !calls_.empty() || work_ == 0; });
        if (calls_.empty())
            return;
        function call = std::move(calls_.front());
        calls_.pop_front();
        lock.unlock();
        std::move(call)();
        lock.lock();
    }
}

void call_queue::close() noexcept
{
    std::deque<function> left; // by an exception; destroyed outside of the lock
    const std::lock_guard lock(mutex_);
    closed_ = true;
    left.swap(calls_);
}

asio::any_io_executor calling_executor::of_next_call()
{
    if (!next_call)
        next_call = std::make_shared<call_queue>();
    return calling_executor(next_call);
}

std::shared_ptr<call_queue> calling_executor::take_calls() noexcept
{
    return std::move(next_call);
}

asio::execution_context& calling_executor::query(asio::execution::context_t) const
{
    // Not the system's threads: a program may block them all in such calls.
    static asio::thread_pool timers(1);
    return timers;
}

calling_executor calling_executor::require(asio::execution::outstanding_work_t::tracked_t) const
{
    const std::shared_ptr<call_queue> calls = calls_->shared_from_this();
    calls->work_started();
    return calling_executor(
        std::shared_ptr<call_queue>(calls.get(), [calls](call_queue* of) { of->work_ended(); }));
}

} // namespace leasehold::detail
