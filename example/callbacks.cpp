// Without coroutines: plain handlers, and futures for a thread that may block.
#include "support/arguments.hpp"

#include <leasehold.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <future>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

// [handlers]
/// Acquires the lock, prints, releases it, and calls `done`. Each step is the handler of the
/// previous step.
class visit : public std::enable_shared_from_this<visit>
{
public:
    using done_function = std::function<void(leasehold::error_code, std::uint64_t fence)>;

    visit(leasehold::mutex lock, done_function done)
        : lock_(std::move(lock)), done_(std::move(done))
    {}

    void start()
    {
        lock_.async_lock(
            [self = shared_from_this()](leasehold::error_code failed, leasehold::lease lease) {
                if (failed)
                    self->done_(failed, 0);
                else
                    self->work(std::move(lease));
            });
    }

private:
    void work(leasehold::lease lease)
    {
        const auto fence = lease.fence();
        std::cout << "handler: lock acquired, fencing token " << fence << '\n';
        lease.async_release([self = shared_from_this(), fence](leasehold::error_code ended) {
            self->done_(ended, fence);
        });
    }

    leasehold::mutex lock_;
    done_function done_;
};
// [/handlers]

} // namespace

int main(int argc, char** argv)
try {
    std::string url = "memory:";
    example::arguments line("Acquires a lock with plain handlers, then with futures.");
    line.url(url);
    line.parse(argc, argv);

    asio::io_context context;
    leasehold::client locks(context, url);
    locks.async_run(asio::detached);
    auto work = asio::make_work_guard(context);
    std::jthread network([&] { context.run(); });

    // Handlers run on the thread of the context.
    const leasehold::mutex printer(locks, "printer", {.wait_limit = 5s});
    std::promise<std::uint64_t> visited;
    std::make_shared<visit>(printer, [&](leasehold::error_code failed, std::uint64_t fence) {
        if (failed)
            visited.set_exception(std::make_exception_ptr(boost::system::system_error(failed)));
        else
            visited.set_value(fence);
    })->start();

    bool rising = false;
    std::exception_ptr failure;
    try {
        const auto first = visited.get_future().get();

        // [futures]
        // get() blocks this thread, and throws the same exceptions as co_await.
        leasehold::lease lease = printer.async_lock(asio::use_future).get();
        std::cout << "future: lock acquired, fencing token " << lease.fence() << '\n';
        rising = lease.fence() > first;
        lease.async_release(asio::use_future).get();
        // [/futures]
    }
    catch (...) {
        failure = std::current_exception();
    }
    locks.async_shutdown(asio::use_future).wait();
    work.reset();
    network.join();
    if (failure)
        std::rethrow_exception(failure);
    return rising ? 0 : 1;
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n';
    return 1;
}
