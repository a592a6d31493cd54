// A job that several machines start at the same time, and that one of them runs.
#include <leasehold.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>

#include <chrono>
#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

int runs = 0;

asio::awaitable<void> clear_caches()
{
    ++runs;
    co_return;
}

// [job]
asio::awaitable<void> nightly_job(leasehold::client& locks)
{
    // The lock stays for about a minute, so the clocks of the machines may differ by that.
    const leasehold::mutex job(locks, "nightly-job", {.lease_time = 1min});
    leasehold::error_code busy;
    leasehold::lease lease = co_await job.async_try_lock(asio::redirect_error(busy));
    if (busy == leasehold::errc::held)
        co_return; // another machine runs it, or has run it
    if (busy)
        throw boost::system::system_error(busy);
    co_await clear_caches();
    lease.detach(); // instead of a release
}
// [/job]

asio::awaitable<void> on_two_machines(leasehold::client& one, leasehold::client& other)
{
    co_await nightly_job(one);
    co_await one.async_shutdown(); // keeps the lock in the store
    co_await nightly_job(other);   // its clock is behind
    co_await other.async_shutdown();
}

} // namespace

int main()
try {
    asio::io_context context;
    leasehold::client one(context, "memory:machines");
    leasehold::client other(context, "memory:machines");
    one.async_run(asio::detached);
    other.async_run(asio::detached);
    asio::co_spawn(context, on_two_machines(one, other), [](std::exception_ptr failure) {
        if (failure)
            std::rethrow_exception(failure);
    });
    context.run();
    std::cout << "the job ran " << runs << " time(s)\n";
    return runs == 1 ? 0 : 1;
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n';
    return 1;
}
