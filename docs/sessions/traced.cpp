// The traced program of ../how_to/tracing.md. Until it is killed, it repeatedly acquires locks,
// waits for them, renews, loses and releases them. Its locks are in the process.
#include <leasehold/client.hpp>
#include <leasehold/lease.hpp>
#include <leasehold/memory.hpp>
#include <leasehold/mutex.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <memory>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr leasehold::lock_options short_lease{.lease_time = 200ms};

/// Holds a lock for longer than its lease time, so that it is renewed.
asio::awaitable<void> sell(leasehold::client& locks)
{
    const leasehold::mutex stock(locks, "stock:sku-42", short_lease);
    asio::steady_timer pause(co_await asio::this_coro::executor);
    for (;;) {
        leasehold::lease lease = co_await stock.async_lock();
        pause.expires_after(300ms);
        co_await pause.async_wait();
        co_await lease.async_release(asio::as_tuple);
    }
}

/// Deletes the lock after each acquire.
asio::awaitable<void> lose(leasehold::client& locks, leasehold::memory_space& space)
{
    const leasehold::mutex report(locks, "nightly-report", short_lease);
    for (;;) {
        leasehold::lease lease = co_await report.async_lock();
        space.erase("nightly-report");
        co_await lease.async_wait_lost(asio::as_tuple);
    }
}

} // namespace

int main()
try {
    asio::io_context context;
    const auto space = std::make_shared<leasehold::memory_space>();
    leasehold::client first(context, leasehold::make_memory_store(space));
    leasehold::client second(context, leasehold::make_memory_store(space));
    first.async_run(asio::detached);
    second.async_run(asio::detached);
    const auto rethrow = [](std::exception_ptr failure) {
        if (failure)
            std::rethrow_exception(failure);
    };
    asio::co_spawn(context, sell(first), rethrow);
    asio::co_spawn(context, sell(second), rethrow);
    asio::co_spawn(context, lose(first, *space), rethrow);
    context.run();
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n';
    return 1;
}
