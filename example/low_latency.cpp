// The time of one acquire and release, with an event loop that sleeps while it waits for the
// server, and with one that polls for a while before it sleeps.
#include "support/arguments.hpp"
#include "support/polling_loop.hpp"

#include <leasehold.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

namespace {

asio::awaitable<void> lock_often(leasehold::client& locks, int times,
                                 std::vector<steady::duration>& took)
{
    const leasehold::mutex stock(locks, "low_latency");
    for (int i = 0; i < times; ++i) {
        const auto begun = steady::now();
        leasehold::lease lease = co_await stock.async_lock();
        co_await lease.async_release();
        took.push_back(steady::now() - begun);
    }
    co_await locks.async_shutdown();
}

/// Returns the median.
template <class Run>
std::chrono::microseconds measure(const std::string& url, int times, Run run)
{
    asio::io_context context(1);
    leasehold::client locks(context, url);
    locks.async_run(asio::detached);
    std::vector<steady::duration> took;
    asio::co_spawn(context, lock_often(locks, times, took), [](std::exception_ptr failure) {
        if (failure)
            std::rethrow_exception(failure);
    });
    run(context);
    const auto middle = took.begin() + static_cast<std::ptrdiff_t>(took.size() / 2);
    std::nth_element(took.begin(), middle, took.end());
    return std::chrono::duration_cast<std::chrono::microseconds>(*middle);
}

} // namespace

int main(int argc, char** argv)
try {
    std::string url = "memory:";
    int times = 10'000;
    int patience_us = 50;
    example::arguments line("Measures an acquire and release with two loops.");
    line.url(url);
    line.number("--times", times, 1, 10'000'000, "acquires with each loop");
    line.number("--patience-us", patience_us, 1, 1'000'000, "time of polling before it sleeps");
    line.parse(argc, argv);

    const auto sleeps = measure(url, times, [](asio::io_context& context) { context.run(); });
    std::cout << "run():         " << sleeps.count() << " us (median)\n";
    const auto patience = std::chrono::microseconds(patience_us);
    const auto polls = measure(url, times, [patience](asio::io_context& context) {
        example::run_polling(context, patience);
    });
    std::cout << "run_polling(): " << polls.count() << " us (median)\n";
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n';
    return 1;
}
