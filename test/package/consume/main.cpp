// A program of a user, which uses only the headers and the library of the project.
#include <leasehold.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>
#include <iostream>

namespace asio = boost::asio;

static asio::awaitable<bool> excludes(leasehold::client& locks)
{
    const leasehold::mutex door(locks, "door");
    leasehold::lease first = co_await door.async_try_lock();
    bool refused = false;
    try {
        const leasehold::lease second = co_await door.async_try_lock();
    }
    catch (const boost::system::system_error& error) {
        refused = error.code() == leasehold::errc::held;
    }
    const bool held = first.valid() && first.fence() > 0;
    co_await first.async_release();
    co_await locks.async_shutdown();
    co_return held&& refused;
}

int main()
{
    asio::io_context context;
    leasehold::client locks(context, "memory:");
    locks.async_run(asio::detached);
    bool passed = false;
    asio::co_spawn(context, excludes(locks), [&](std::exception_ptr error, bool result) {
        if (error)
            std::rethrow_exception(error);
        passed = result;
    });
    context.run();
    std::cout << (passed ? "one holder, the other refused\n" : "the lock does not exclude\n");
    return passed ? 0 : 1;
}
