// Work with a lease, without `with_lock`: the end of one cancels the other.
#include <leasehold.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <memory>
#include <tuple>
#include <utility>
#include <variant>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

asio::awaitable<void> work(asio::steady_timer::duration length)
{
    asio::steady_timer timer(co_await asio::this_coro::executor, length);
    co_await timer.async_wait(asio::use_awaitable);
}

// [either]
/// @returns The reason of the loss, or success if the work has ended first.
asio::awaitable<leasehold::error_code> lost_or_done(leasehold::lease& lease,
                                                    asio::awaitable<void> work)
{
    using namespace asio::experimental::awaitable_operators;
    auto first = co_await (lease.async_wait_lost(asio::as_tuple(asio::use_awaitable)) ||
                           std::move(work));
    if (first.index() == 0)
        co_return std::get<0>(std::get<0>(first));
    co_return leasehold::error_code();
}
// [/either]

asio::awaitable<void> hold(leasehold::client& locks, leasehold::memory_space& space, bool& is_good)
{
    const leasehold::mutex report(locks, "report", {.lease_time = 300ms});
    {
        leasehold::lease lease = co_await report.async_lock();
        is_good = !co_await lost_or_done(lease, work(1ms)) && lease.valid();
        co_await lease.async_release();
    }
    leasehold::lease lease = co_await report.async_lock();
    space.erase("report"); // as an operator would, with DEL
    const leasehold::error_code reason = co_await lost_or_done(lease, work(1h));
    std::cout << "lost: " << reason.message() << '\n';
    is_good = is_good && reason == leasehold::errc::lost;
    co_await locks.async_shutdown();
}

} // namespace

int main()
try {
    asio::io_context context;
    const auto space = std::make_shared<leasehold::memory_space>();
    leasehold::client locks(context, leasehold::make_memory_store(space));
    locks.async_run(asio::detached);
    bool is_good = false;
    asio::co_spawn(context, hold(locks, *space, is_good), [](std::exception_ptr failure) {
        if (failure)
            std::rethrow_exception(failure);
    });
    context.run();
    return is_good ? 0 : 1;
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n';
    return 1;
}
