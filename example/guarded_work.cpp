// Work that stops when its lock is lost. An operator deletes the key while the work runs. The work
// is cancelled, and the error is the reason of the loss, not `operation_aborted`.
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
#include <string_view>

namespace asio = boost::asio;
namespace redis = boost::redis;
using namespace std::chrono_literals;

namespace {

constexpr char name[] = "report:nightly";

/// Deletes the key, as an operator could do with redis-cli.
asio::awaitable<void> delete_key(const std::string& url)
{
    constexpr std::string_view memory = "memory:";
    if (url.starts_with(memory)) {
        leasehold::memory_space::shared(url.substr(memory.size()))->erase(name);
        co_return;
    }
    const auto executor = co_await asio::this_coro::executor;
    const auto connection = example::connect(executor, leasehold::redis_config(url));
    redis::request request;
    request.push("DEL", name);
    co_await connection->async_exec(request, redis::ignore, asio::cancel_after(5s));
    connection->cancel();
}

/// Writes a long report, page by page. Each page would be stored with the fence.
asio::awaitable<int> write_report(const std::string& url, leasehold::lease& lease)
{
    asio::steady_timer timer(co_await asio::this_coro::executor);
    for (int page = 1; page <= 1'000; ++page) {
        std::cout << "page " << page << ", fence " << lease.fence() << '\n';
        if (page == 3) {
            std::cout << "an operator deletes the key of the lock\n";
            co_await delete_key(url);
        }
        timer.expires_after(50ms);
        co_await timer.async_wait(); // the cancellation arrives here
    }
    co_return 1'000;
}

// [work]
asio::awaitable<void> work(leasehold::client& locks, const std::string& url,
                           leasehold::error_code& reason)
{
    // The next renewal detects the loss, at the latest at the end of the lease time.
    const leasehold::mutex report(locks, name,
                                  {.lease_time = 1s, .renew_interval = 200ms, .wait_limit = 5s});
    try {
        const int pages = co_await leasehold::with_lock(
            report, [&](leasehold::lease& lease) { return write_report(url, lease); });
        throw std::runtime_error("all " + std::to_string(pages) +
                                 " pages were written: the loss was not detected");
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
        "Runs work under a lock, deletes the key of the lock, and shows that the work is "
        "cancelled.");
    line.url(url);
    line.parse(argc, argv);

    asio::io_context context(1);
    leasehold::client locks(context, url);
    locks.async_run(asio::detached);
    leasehold::error_code reason;
    asio::co_spawn(context, work(locks, url, reason), [](std::exception_ptr failure) {
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
