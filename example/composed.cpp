// A composed operation that acquires a lock. It works with every completion token, and its
// cancellation cancels the wait for the lock.
#include "support/arguments.hpp"

#include <leasehold.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

/// A log to which one operation at a time appends a line.
struct shared_log
{
    leasehold::mutex lock;
    std::vector<std::string> lines{};
};

/// The steps of `async_append`: lock, write, release.
class append
{
public:
    append(shared_log& log, std::string text)
        : log_(log),
          text_(std::move(text)),
          writing_(std::make_unique<asio::steady_timer>(log.lock.get_executor()))
    {}

    /// Starts the operation.
    template <class Self>
    void operator()(Self& self)
    {
        // By default, a composed operation accepts terminal cancellation only.
        self.reset_cancellation_state(asio::enable_total_cancellation());
        log_.lock.async_lock(std::move(self));
    }

    /// Continues after the acquire.
    template <class Self>
    void operator()(Self& self, leasehold::error_code failed, leasehold::lease lease)
    {
        if (failed)
            return self.complete(failed);
        lease_ = std::move(lease);
        // No cancellation from here on, because it would leave half a line.
        self.reset_cancellation_state(asio::disable_cancellation());
        step_ = step::writing;
        writing_->expires_after(20ms);
        writing_->async_wait(std::move(self));
    }

    /// Continues after the write, and after the release.
    template <class Self>
    void operator()(Self& self, leasehold::error_code failed)
    {
        if (step_ == step::writing) {
            step_ = step::releasing;
            log_.lines.push_back(text_);
            leasehold::lease leaving = std::move(
                lease_); // a local variable, because `self` moves the members away
            return leaving.async_release(std::move(self));
        }
        writing_.reset(); // an operation frees its memory before it completes
        self.complete(failed);
    }

private:
    enum class step
    {
        locking,
        writing,
        releasing,
    };

    shared_log& log_;
    std::string text_;
    std::unique_ptr<asio::steady_timer> writing_;
    leasehold::lease lease_;
    step step_ = step::locking;
};

/// Appends a line under the log's lock. Completes with `void(error_code)`, the error of the lock.
/// Supports all types of cancellation while it waits for the lock.
template <asio::completion_token_for<void(leasehold::error_code)> Token = asio::deferred_t>
auto async_append(shared_log& log, std::string text, Token&& token = Token())
{
    return asio::async_compose<Token, void(leasehold::error_code)>(append(log, std::move(text)),
                                                                   token, log.lock.get_executor());
}

asio::awaitable<void> work(leasehold::client& locks, bool& passed)
{
    shared_log log{leasehold::mutex(locks, "log")};
    co_await async_append(log, "first");

    // While another lease holds the lock, the operation waits, here at most 100 ms.
    leasehold::lease other = co_await log.lock.async_lock();
    leasehold::error_code cancelled;
    co_await async_append(
        log, "second", asio::cancel_after(100ms, asio::redirect_error(asio::deferred, cancelled)));
    std::cout << "second: " << cancelled.message() << '\n';
    co_await other.async_release();

    // The cancelled operation left nothing behind.
    co_await async_append(log, "third");
    for (const std::string& line : log.lines)
        std::cout << "log: " << line << '\n';
    passed = cancelled == asio::error::operation_aborted && log.lines.size() == 2;
    co_await locks.async_shutdown();
}

} // namespace

int main(int argc, char** argv)
try {
    std::string url = "memory:";
    example::arguments line(
        "Makes an asynchronous operation that acquires a lock, and cancels it.");
    line.url(url);
    line.parse(argc, argv);

    asio::io_context context(1);
    leasehold::client locks(context, url);
    locks.async_run(asio::detached);
    bool passed = false;
    asio::co_spawn(context, work(locks, passed), [](std::exception_ptr failure) {
        if (failure)
            std::rethrow_exception(failure);
    });
    context.run();
    return passed ? 0 : 1;
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n';
    return 1;
}
