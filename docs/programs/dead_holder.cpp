// A holder stops, as if it had died. Another client gets its lock long before the lease ends.
#include "expect.hpp"

#include <leasehold.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

asio::awaitable<void> take(leasehold::client& locks, leasehold::lease& to)
{
    // [promise]
    const leasehold::mutex report(locks, "report", {.lease_time = 30s, .dead_holder_grace = 2s});
    leasehold::lease lease = co_await report.async_lock();
    // [/promise]
    to = std::move(lease);
}

asio::awaitable<void> notice(leasehold::lease& lease)
{
    // [lost]
    leasehold::error_code why;
    co_await lease.async_wait_lost(asio::redirect_error(why));
    if (why == leasehold::errc::silent)
        std::cout << "lost: " << why.message() << '\n';
    // [/lost]
    expect(why == leasehold::errc::silent, "the loss has another reason");
}

/// Runs the context only until the work is done.
void run(asio::io_context& context, asio::awaitable<void> work)
{
    bool done = false;
    asio::co_spawn(context, std::move(work), [&](std::exception_ptr failure) {
        if (failure)
            std::rethrow_exception(failure);
        done = true;
    });
    while (!done)
        context.run_one();
}

} // namespace

int main()
try {
    const char* const url = std::getenv("LEASEHOLD_URL");
    if (url == nullptr || *url == '\0')
        throw std::runtime_error("run it with a server: example/with_redis PROGRAM");
    asio::io_context dying;
    leasehold::client its(dying, url);
    its.async_run(asio::detached);
    leasehold::lease old;
    run(dying, take(its, old)); // after this, its context does not run

    asio::io_context context;
    leasehold::client locks(context, url);
    locks.async_run(asio::detached);
    const auto begun = leasehold::clock::now();
    leasehold::lease next;
    run(context, take(locks, next));
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(
        leasehold::clock::now() - begun);
    std::cout << "granted after " << waited.count() << " ms\n";
    expect(waited < 20s, "it waited for the end of the lease");
    expect(!old.valid(), "two clients hold the lock");
    expect(next.fence() > old.fence(), "the fence did not rise");

    run(dying, notice(old));
    run(context, next.async_release(asio::use_awaitable));
    run(context, locks.async_shutdown(asio::use_awaitable));
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n';
    return 1;
}
