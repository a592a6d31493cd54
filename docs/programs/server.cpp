// A server with a pool of threads: each request works under the lock of its order, and a signal
// stops the server in order.
#include <leasehold.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <future>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

std::atomic<int> booked = 0;

/// Work that only one request may do at a time. It would send the fence with each write.
asio::awaitable<void> book(std::uint64_t fence)
{
    asio::steady_timer database(co_await asio::this_coro::executor, 5ms);
    co_await database.async_wait();
    if (fence != 0)
        ++booked;
}

// [request]
/// Serves one request. Returns the response.
asio::awaitable<std::string> serve(leasehold::client& locks, std::string order)
{
    const leasehold::mutex lock(locks, "order:" + order, {.lease_time = 10s, .wait_limit = 10s});
    try {
        co_await leasehold::with_lock(lock,
                                      [](leasehold::lease& lease) { return book(lease.fence()); });
        co_return "200 booked";
    }
    catch (const boost::system::system_error& failed) {
        std::cerr << failed.what() << '\n';
        if (failed.code() == leasehold::condition::busy)
            co_return "409 busy, try again";
        if (failed.code() == leasehold::condition::lease_ended)
            co_return "500 the lock was lost";             // the work was cancelled
        co_return "503 the lock server cannot be reached"; // also during the shutdown
    }
}
// [/request]

} // namespace

int main(int argc, char** argv)
try {
    const char* const url = argc > 1 ? argv[1] : "memory:";
    // [client]
    asio::thread_pool requests(2); // handlers here may block

    asio::io_context renewals(1); // no handler here blocks: leases are renewed
    leasehold::client locks(renewals, url);
    locks.async_run(asio::detached);
    std::jthread watchdog([&] { renewals.run(); });
    // [/client]

    asio::signal_set signals(requests, SIGTERM, SIGINT);
    std::future<int> signalled = signals.async_wait(asio::use_future);

    std::vector<std::future<std::string>> in_progress;
    for (int i = 0; i < 20; ++i)
        in_progress.push_back(
            asio::co_spawn(requests, serve(locks, std::to_string(i % 3)), asio::use_future));
    std::raise(SIGTERM); // as an operator would

    // [stop]
    signalled.get();
    // No new requests are accepted. Wait for those in progress: each has a wait limit.
    for (std::future<std::string>& each : in_progress)
        std::cout << each.get() << '\n';
    // Waiters complete with `shut_down`, and every lease is released. Without an answer of the
    // store, this takes at most about five seconds.
    locks.async_shutdown(asio::use_future).get();
    requests.join();
    watchdog.join(); // returns, because `async_run` has completed
    // [/stop]

    return booked == 20 && locks.stats().held == 0 ? 0 : 1;
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n';
    return 1;
}
