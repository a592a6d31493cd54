// Counts the lines that one operation of the library executes, with a warm client and a free lock:
// operation acquire|release|renew URL.
#include <leasehold.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <unistd.h>

extern "C" void __gcov_reset();
extern "C" void __gcov_dump();

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

[[noreturn]] void end_count()
{
    __gcov_dump();
    _exit(EXIT_SUCCESS);
}

/// Ends the count when a lease has been renewed.
class renewal_observer final : public leasehold::observer
{
public:
    void renewed(std::string_view, std::uint64_t, duration, duration) noexcept override
    {
        if (counts)
            end_count();
    }
    void answered(leasehold::store_request, duration, leasehold::error_code) noexcept override {}

    bool counts = false;
};

asio::awaitable<void> operate(std::string which, std::string url)
{
    const auto executor = co_await asio::this_coro::executor;
    // An acquire and a release with the default observer, which writes problems.
    const auto watching = std::make_shared<renewal_observer>();
    leasehold::client locks(executor, url,
                            which == "renew" ? watching : leasehold::log_to_stderr());
    locks.async_run(asio::detached);
    leasehold::mutex m(locks, "walk", {.lease_time = 1500ms});
    for (int i = 0; i < 3; ++i) { // load the scripts and fill the caches
        leasehold::lease held = co_await m.async_lock();
        co_await held.async_release();
    }
    asio::steady_timer idle(executor, 300ms); // the work after a release has ended by then
    co_await idle.async_wait();

    if (which == "acquire")
        __gcov_reset();
    leasehold::lease held = co_await m.async_lock();
    if (which == "acquire")
        end_count();
    if (which == "renew") {
        idle.expires_after(200ms); // the same after an acquire; the renewal is due after 500 ms
        co_await idle.async_wait();
        __gcov_reset();
        watching->counts = true;
        idle.expires_after(10s);
        co_await idle.async_wait();
        std::cerr << "error: nothing was renewed in 10 s\n";
        std::exit(EXIT_FAILURE);
    }
    __gcov_reset();
    co_await held.async_release();
    end_count();
}

} // namespace

int main(int count, char** words)
{
    const std::string_view which = count == 3 ? words[1] : "";
    if (which != "acquire" && which != "release" && which != "renew") {
        std::cerr << "usage: operation acquire|release|renew URL\n";
        return 2;
    }
    asio::io_context context(1);
    asio::co_spawn(context, operate(words[1], words[2]), [](std::exception_ptr failed) {
        if (failed)
            std::rethrow_exception(failed);
    });
    context.run();
}
