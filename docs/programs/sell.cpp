// The first code of README: work under a lock. Usage: `sell [URL]`. Without a URL the lock is in
// this process.
#include <leasehold.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <stdexcept>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

int units = 500;

/// A stand-in for a database that rejects a fencing token smaller than the largest it has seen.
asio::awaitable<int> take_one(std::uint64_t fence)
{
    static std::uint64_t largest = 0;
    if (fence < largest)
        throw std::runtime_error("rejected: a newer holder has written");
    largest = fence;
    co_return --units;
}

// [sell]
asio::awaitable<void> sell(leasehold::client& locks)
{
    const leasehold::mutex stock(locks, "stock:sku-42", {.wait_limit = 5s});
    const int left = co_await leasehold::with_lock(
        stock, [](leasehold::lease& lease) -> asio::awaitable<int> {
            // Runs while the lock is held. It is cancelled if the lease is lost.
            std::cout << "lock acquired, fencing token " << lease.fence() << '\n';
            co_return co_await take_one(lease.fence());
        });
    std::cout << "lock released, " << left << " left\n";
}
// [/sell]

asio::awaitable<void> sell_once(leasehold::client& locks)
{
    co_await sell(locks);
    co_await locks.async_shutdown();
}

} // namespace

int main(int argc, char** argv)
try {
    const std::string url = argc > 1 ? argv[1] : "memory:";
    // [client]
    asio::io_context context;
    leasehold::client locks(context, url);
    locks.async_run(asio::detached); // connects, and renews the leases
    // [/client]
    asio::co_spawn(context, sell_once(locks), [](std::exception_ptr failure) {
        if (failure)
            std::rethrow_exception(failure);
    });
    context.run();
    return units == 499 ? 0 : 1;
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n';
    return 1;
}
