// One lock, held by two processes: the holder passes the text of its owner to a helper, which
// acquires the same lock reentrantly. Other clients get the lock when both have released it.
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

/// The helper: reads the owner, acquires the lock, and holds it until the next line arrives.
asio::awaitable<void> help(leasehold::client& locks)
{
    example::lines orders(co_await asio::this_coro::executor, ::dup(STDIN_FILENO));
    const auto text = co_await orders.next();
    if (text) {
        // [helper]
        const leasehold::owner holder = leasehold::owner::from_string(*text);
        const leasehold::mutex invoice = invoice_lock(locks).with_owner(holder);
        leasehold::lease lease = co_await invoice.async_lock();
        // [/helper]
        std::cout << lease.fence() << std::endl;
        co_await orders.next();
        co_await lease.async_release();
        std::cout << "released" << std::endl;
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
    std::cout << "holder: lock acquired, fencing token " << fence << '\n';

    // Any process that has the text can acquire the lock. So it goes through a pipe, not through
    // arguments, which other users can list.
    // [holder]
    helper.send(lease.share_owner().to_string());
    // [/holder]
    const auto reentered = co_await answers.next();
    expect(reentered && *reentered == std::to_string(fence), "the helper did not acquire the lock");
    std::cout << "helper: lock acquired, fencing token " << *reentered << '\n';

    co_await lease.async_release();
    std::cout << "holder: lock released\n";
    leasehold::error_code refused;
    leasehold::lease other = co_await invoice.async_try_lock(asio::redirect_error(refused));
    std::cout << "other client: " << refused.message() << '\n';
    expect(refused == leasehold::errc::held, "the lock was not held by the helper");

    helper.send("release");
    const auto left = co_await answers.next();
    expect(left && *left == "released", "the helper did not release the lock");
    std::cout << "helper: lock released\n";
    other = co_await invoice.async_lock();
    std::cout << "other client: lock acquired, fencing token " << other.fence() << '\n';
    expect(other.fence() > fence, "the fence did not rise");
    co_await other.async_release();
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
    example::arguments line("Shares a held lock with another process.");
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
