// One lock, two processes inside: the holder gives its owner's text to a helper, which enters the
// same lock with it. Others get in when both have left.
#include "support/arguments.hpp"
#include "support/lines.hpp"
#include "support/worker.hpp"

#include <leasehold.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>

#include <unistd.h>

#include <chrono>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

leasehold::mutex invoice_lock(const leasehold::client& locks)
{
    return leasehold::mutex(locks, "invoice:2041", {.wait_limit = 5s});
}

/// The helper: reads who the holder is, enters, stays until it is told to leave.
asio::awaitable<void> help(leasehold::client& locks)
{
    example::lines orders(co_await asio::this_coro::executor, ::dup(STDIN_FILENO));
    const auto text = co_await orders.next();
    if (text) {
        // [helper]
        const leasehold::owner holder = leasehold::owner::from_string(*text);
        const leasehold::mutex invoice = invoice_lock(locks);
        leasehold::lease lease = co_await invoice.async_lock(holder);
        // [/helper]
        std::cout << lease.fence() << std::endl;
        co_await orders.next();
        co_await lease.async_release();
        std::cout << "left" << std::endl;
    }
    co_await locks.async_shutdown();
}

void expect(bool what, const char* otherwise)
{
    if (!what)
        throw std::runtime_error(otherwise);
}

/// The holder.
asio::awaitable<void> work(leasehold::client& locks, example::worker& helper)
{
    const leasehold::mutex invoice = invoice_lock(locks);
    example::lines answers(co_await asio::this_coro::executor, helper.take_output());

    leasehold::lease lease = co_await invoice.async_lock();
    const auto fence = lease.fence();
    std::cout << "holder: in, with fence " << fence << '\n';

    // The text is the right to enter: it goes through a pipe, not through arguments that everybody
    // can list.
    // [holder]
    helper.tell(lease.owner().to_string());
    // [/holder]
    const auto entered = co_await answers.next();
    expect(entered && *entered == std::to_string(fence), "the helper did not enter");
    std::cout << "helper: in as well, with fence " << *entered << '\n';

    co_await lease.async_release();
    std::cout << "holder: left\n";
    leasehold::error_code refused;
    leasehold::lease stranger = co_await invoice.async_try_lock(asio::redirect_error(refused));
    std::cout << "others: " << refused.message() << '\n';
    expect(refused == leasehold::errc::held, "the lock was not held by the helper");

    helper.tell("leave");
    const auto left = co_await answers.next();
    expect(left && *left == "left", "the helper did not leave");
    std::cout << "helper: left\n";
    stranger = co_await invoice.async_lock();
    std::cout << "others: in, with fence " << stranger.fence() << '\n';
    expect(stranger.fence() > fence, "the fence did not rise");
    co_await stranger.async_release();
    co_await locks.async_shutdown();
}

void run(const std::string& url, example::worker* helper)
{
    asio::io_context context(1);
    leasehold::client locks(context, url);
    locks.async_run(asio::detached);
    asio::co_spawn(context, helper != nullptr ? work(locks, *helper) : help(locks),
                   [](std::exception_ptr failure) {
                       if (failure)
                           std::rethrow_exception(failure);
                   });
    context.run();
}

} // namespace

int main(int argc, char** argv)
try {
    std::string url = "redis://127.0.0.1:6379";
    std::string worker;
    example::arguments line("Lets another process enter a lock that this one holds.");
    line.url(url, example::stores::servers_only);
    line.hidden("--worker", worker);
    line.parse(argc, argv);
    if (!worker.empty()) {
        run(url, nullptr);
        return 0;
    }
    example::worker helper(argv[0], {"--worker", "1", "--url", url});
    run(url, &helper);
    return helper.wait();
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n';
    return 1;
}
