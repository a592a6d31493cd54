// The first program: acquires a lock, and releases it. `first [URL]`; without a URL the lock is
// kept in this process.
#include <leasehold.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> work(leasehold::client& locks)
{
    leasehold::mutex stock(locks, "stock:sku-42", {.wait_limit = 5s});
    leasehold::lease lease = co_await stock.async_lock();
    std::cout << "lock acquired, fencing token " << lease.fence() << '\n';
    co_await lease.async_release();
    std::cout << "lock released\n";
    co_await locks.async_shutdown();
}

int main(int argc, char** argv)
try {
    asio::io_context context;
    leasehold::client locks(context, argc > 1 ? argv[1] : "memory:");
    locks.async_run(asio::detached);
    asio::co_spawn(context, work(locks), [](std::exception_ptr failure) {
        if (failure)
            std::rethrow_exception(failure);
    });
    context.run();
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n';
    return 1;
}
