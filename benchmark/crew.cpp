#include "crew.hpp"

#include "support/polling_loop.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstdlib>
#include <iostream>

namespace leasehold::benchmark {
namespace {

// Ends the program without an exception: running coroutines refer to objects that unwinding would
// destroy.
[[noreturn]] void give_up()
{
    std::cerr << "error: the coroutines of a measurement did not end in time" << std::endl;
    std::_Exit(1);
}

} // namespace

void crew::add(asio::awaitable<void> task)
{
    ++running_;
    asio::co_spawn(context_, std::move(task), [this](std::exception_ptr failure) {
        if (failure && !failure_)
            failure_ = failure;
        if (--running_ == 0)
            context_.stop();
    });
}

void crew::wait(std::chrono::seconds limit)
{
    // Not run_until, which reads the clock for each handler: a tenth of the measured time.
    asio::steady_timer watch(context_, limit);
    watch.async_wait([](boost::system::error_code stopped) {
        if (!stopped)
            give_up();
    });
    while (running_ > 0) {
        context_.restart();
        if (patience_.count() > 0)
            example::run_polling(context_, patience_);
        else
            context_.run();
    }
    if (failure_)
        std::rethrow_exception(failure_);
}

void run(asio::io_context& context, asio::awaitable<void> task)
{
    crew one(context);
    one.add(std::move(task));
    one.wait();
}

} // namespace leasehold::benchmark
