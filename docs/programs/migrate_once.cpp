// Several processes start at once. The first migrates the schema, and the others wait.
#include <leasehold.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstdint>
#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

/// A database that stores the version of its schema, and rejects an older fencing token.
struct database
{
    int version = 1;
    int migrations = 0;
    std::uint64_t newest = 0;

    asio::awaitable<void> migrate(int to, std::uint64_t fence)
    {
        asio::steady_timer work(co_await asio::this_coro::executor, 20ms);
        co_await work.async_wait();
        if (fence < newest)
            co_return;
        newest = fence;
        version = to;
        ++migrations;
    }
};

// [migrate]
asio::awaitable<void> bring_up_to_date(leasehold::client& locks, database& data)
{
    constexpr int wanted = 2;
    if (data.version >= wanted)
        co_return; // no lock is needed
    const leasehold::mutex migration(locks, "migration", {.lease_time = 30s, .wait_limit = 10min});
    leasehold::lease lease = co_await migration.async_lock();
    if (data.version < wanted) // another process may have migrated it
        co_await data.migrate(wanted, lease.fence());
    co_await lease.async_release();
}
// [/migrate]

asio::awaitable<void> start(leasehold::client& locks, database& data, int& waiting)
{
    co_await bring_up_to_date(locks, data);
    std::cout << "started with version " << data.version << '\n';
    if (--waiting == 0)
        co_await locks.async_shutdown();
}

} // namespace

int main()
try {
    asio::io_context context;
    leasehold::client locks(context, "memory:");
    locks.async_run(asio::detached);
    database data;
    int processes = 3;
    for (int i = processes; i > 0; --i)
        asio::co_spawn(context, start(locks, data, processes), [](std::exception_ptr failure) {
            if (failure)
                std::rethrow_exception(failure);
        });
    context.run();
    return data.migrations == 1 ? 0 : 1;
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n';
    return 1;
}
