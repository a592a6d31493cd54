// The ways to limit the wait for a lock.
#include "expect.hpp"

#include <leasehold.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>

#include <chrono>
#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

asio::awaitable<void> always(leasehold::client& locks)
{
    // [always]
    // Every wait with this handle ends after 50 ms.
    const leasehold::mutex seat(locks, "seat:12", {.wait_limit = 50ms});
    try {
        leasehold::lease lease = co_await seat.async_lock();
    }
    catch (const boost::system::system_error& failed) {
        if (failed.code() != leasehold::condition::busy)
            throw;
        std::cout << failed.what() << '\n'; // the lock, its holder, the time waited
    }
    // [/always]
}

asio::awaitable<void> once(const leasehold::mutex& seat)
{
    // [once]
    leasehold::diagnostics details;
    auto [failed, lease] = co_await seat.async_try_lock(details, asio::as_tuple); // no exception
    if (failed == leasehold::errc::held)
        std::cout << "held by client " << details.holder << '\n';
    // [/once]
    expect(failed == leasehold::errc::held && !lease, "it is held");
}

asio::awaitable<void> this_time(const leasehold::mutex& seat)
{
    leasehold::error_code failed;
    // [this_time]
    leasehold::lease lease = co_await seat.async_try_lock_for(50ms, asio::redirect_error(failed));
    // [/this_time]
    expect(failed == leasehold::errc::timed_out && !lease, "it is held");

    const auto time = leasehold::clock::now() + 50ms;
    // [until]
    lease = co_await seat.async_try_lock_until(time, asio::redirect_error(failed));
    // [/until]
    expect(failed == leasehold::errc::timed_out && !lease, "it is held");
}

asio::awaitable<void> cancelled(const leasehold::mutex& seat)
{
    leasehold::error_code failed;
    // [cancelled]
    leasehold::lease lease = co_await seat.async_lock(
        asio::cancel_after(50ms, asio::redirect_error(asio::deferred, failed)));
    // [/cancelled]
    expect(failed == asio::error::operation_aborted && !lease, "it is held");
}

asio::awaitable<void> all(leasehold::client& locks)
{
    const leasehold::mutex seat(locks, "seat:12");
    leasehold::lease taken = co_await seat.async_lock();
    co_await always(locks);
    co_await once(seat);
    co_await this_time(seat);
    co_await cancelled(seat);
    co_await taken.async_release();
    co_await locks.async_shutdown();
}

} // namespace

int main()
try {
    asio::io_context context;
    leasehold::client locks(context, "memory:");
    locks.async_run(asio::detached);
    asio::co_spawn(context, all(locks), [](std::exception_ptr failure) {
        if (failure)
            std::rethrow_exception(failure);
    });
    context.run();
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n';
    return 1;
}
