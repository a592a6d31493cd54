// A log of the events of a program's locks, and a test that makes a lease lost.
#include <leasehold.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string_view>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

// [observer]
/// Runs on the strand that renews the leases: must not block, must not throw.
class log : public leasehold::observer
{
public:
    void not_acquired(std::string_view name, leasehold::error_code why, duration /*waited*/,
                      const leasehold::diagnostics& details) noexcept override
    {
        std::clog << name << ": " << why.message() << "; " << details.to_string() << '\n';
    }

    void renewal_late(std::string_view name, std::uint64_t fence, leasehold::error_code why,
                      duration left) noexcept override
    {
        using std::chrono::milliseconds;
        std::clog << name << ", fence " << fence << ": not renewed, " << why.message() << ", "
                  << std::chrono::duration_cast<milliseconds>(left).count() << " ms left\n";
    }

    void lost(std::string_view name, std::uint64_t fence, duration, leasehold::error_code reason,
              const leasehold::diagnostics& details) noexcept override
    {
        ++losses;
        std::clog << "LOST " << name << ", fence " << fence << ": " << reason.message() << "; "
                  << details.to_string() << '\n';
    }

    int losses = 0;
};
// [/observer]

// [loss]
asio::awaitable<void> lose(leasehold::client& locks, leasehold::memory_space& space)
{
    const leasehold::mutex report(locks, "report", {.lease_time = 300ms});
    leasehold::lease lease = co_await report.async_lock();
    space.erase("report"); // as if an operator had deleted the key

    leasehold::error_code reason;
    co_await lease.async_wait_lost(asio::redirect_error(reason));
    std::cout << "lost: " << reason.message() << '\n';
    co_await locks.async_shutdown();
}
// [/loss]

} // namespace

int main()
try {
    asio::io_context context;
    // [sink]
    const auto problems = std::make_shared<leasehold::log_observer>(
        [](std::string_view line) { std::clog << "locks: " << line << '\n'; });
    const leasehold::client logged(context, "memory:", problems);
    // [/sink]
    // [client]
    const auto watching = std::make_shared<log>();
    const auto space = std::make_shared<leasehold::memory_space>();
    leasehold::client locks(context, leasehold::make_memory_store(space), watching);
    std::clog << "this process is client " << locks.id() << '\n';
    // [/client]
    locks.async_run(asio::detached);
    asio::co_spawn(context, lose(locks, *space), [](std::exception_ptr failure) {
        if (failure)
            std::rethrow_exception(failure);
    });
    context.run();
    return watching->losses == 1 && locks.stats().lost == 1 ? 0 : 1;
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n';
    return 1;
}
