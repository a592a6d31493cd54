// Lock, work, release. The pages on other libraries compare this code with theirs.
#include <leasehold.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

std::uint64_t written = 0;

asio::awaitable<void> write(std::uint64_t fence)
{
    written = fence;
    co_return;
}

// [lock]
asio::awaitable<void> write_order(leasehold::client& locks)
{
    const leasehold::mutex order(locks, "order:17", {.lease_time = 30s, .wait_limit = 5s});
    leasehold::lease lease = co_await order.async_lock(); // throws if the limit passes
    co_await write(lease.fence());
    co_await lease.async_release(); // the destructor would release it, too
}
// [/lock]

// [with_lock]
asio::awaitable<void> write_order_or_stop(leasehold::client& locks)
{
    const leasehold::mutex order(locks, "order:17", {.lease_time = 30s, .wait_limit = 5s});
    co_await leasehold::with_lock(order,
                                  [](leasehold::lease& lease) { return write(lease.fence()); });
}
// [/with_lock]

asio::awaitable<void> both(leasehold::client& locks)
{
    co_await write_order(locks);
    co_await write_order_or_stop(locks);
    co_await locks.async_shutdown();
}

} // namespace

int main(int argc, char** argv)
try {
    const char* const url = argc > 1 ? argv[1] : "memory:";
    asio::io_context context;
    leasehold::client locks(context, url);
    locks.async_run(asio::detached);
    asio::co_spawn(context, both(locks), [](std::exception_ptr failure) {
        if (failure)
            std::rethrow_exception(failure);
    });
    context.run();
    return written != 0 ? 0 : 1;
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n';
    return 1;
}
