// Work that stops when its lock is gone. An operator deletes the key while the work runs; the work
// is cancelled, and the reason is reported rather than the abort that it caused.
#include "support/arguments.hpp"
#include "support/redis.hpp"

#include <leasehold.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/redis/ignore.hpp>
#include <boost/redis/request.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

namespace asio = boost::asio;
namespace redis = boost::redis;
using namespace std::chrono_literals;

namespace {

constexpr char name[] = "report:nightly";

/// What an operator would do with redis-cli.
asio::awaitable<void> delete_key(const leasehold::config& where)
{
    if (where.store == leasehold::config::kind::memory) {
        leasehold::memory_space::shared(where.memory_name)->erase(name);
        co_return;
    }
    const auto executor = co_await asio::this_coro::executor;
    const auto connection = example::connect(executor, where);
    redis::request request;
    request.push("DEL", name);
    co_await connection->async_exec(request, redis::ignore, asio::cancel_after(5s));
    connection->cancel();
}

/// A long report, page by page, with the fence at hand for the place where the pages are stored.
asio::awaitable<int> write_report(const leasehold::config& where, leasehold::lease& lease)
{
    asio::steady_timer timer(co_await asio::this_coro::executor);
    for (int page = 1; page <= 1'000; ++page) {
        std::cout << "page " << page << ", fence " << lease.fence() << '\n';
        if (page == 3) {
            std::cout << "somebody deletes the lock by hand\n";
            co_await delete_key(where);
        }
        timer.expires_after(50ms);
        co_await timer.async_wait(); // where the cancellation arrives
    }
    co_return 1'000;
}

// [work]
asio::awaitable<void> work(leasehold::client& locks, const leasehold::config& where,
                           leasehold::error_code& reason)
{
    // The next renewal detects the loss, at the latest at the end of the lease time.
    const leasehold::mutex report(locks, name,
                                  {.lease_time = 1s, .renew_interval = 200ms, .wait_limit = 5s});
    try {
        const int pages = co_await leasehold::with_lock(
            report, [&](leasehold::lease& lease) { return write_report(where, lease); });
        throw std::runtime_error("all " + std::to_string(pages) +
                                 " pages were written: the loss went unnoticed");
    }
    catch (const boost::system::system_error& failure) {
        if (failure.code() != leasehold::condition::lease_ended)
            throw;
        reason = failure.code();
    }
    co_await locks.async_shutdown();
}
// [/work]

} // namespace

int main(int argc, char** argv)
try {
    std::string url = "memory:";
    example::arguments line(
        "Runs work under a lock, deletes the lock by hand, and shows that the work is cancelled.");
    line.url(url);
    line.parse(argc, argv);
    const leasehold::config where(url);

    asio::io_context context(1);
    leasehold::client locks(context, where);
    locks.async_run(asio::detached);
    leasehold::error_code reason;
    asio::co_spawn(context, work(locks, where, reason), [](std::exception_ptr failure) {
        if (failure)
            std::rethrow_exception(failure);
    });
    context.run();
    std::cout << "the work was cancelled: " << reason.message() << '\n';
    return reason == leasehold::errc::lost ? 0 : 1;
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n';
    return 1;
}
