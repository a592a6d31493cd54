// A file that only the newest holder of a lock writes.
#include <leasehold.hpp>
#include <leasehold/extras/guard/file.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <stdlib.h>

#include <cstdint>
#include <exception>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>

namespace asio = boost::asio;
namespace guard = leasehold::guard;

namespace {

// [write]
asio::awaitable<leasehold::error_code> write_report(asio::thread_pool& disk, guard::file file,
                                                    std::uint64_t fence, std::string content)
{
    // The guard blocks: it waits for the disk and for other writers.
    const auto write = [&]() -> asio::awaitable<leasehold::error_code> {
        co_return file.replace(fence, content);
    };
    co_return co_await asio::co_spawn(disk, write, asio::use_awaitable);
}
// [/write]

asio::awaitable<void> run(leasehold::client& locks, asio::thread_pool& disk,
                          std::filesystem::path folder)
{
    const leasehold::mutex lock(locks, "report");
    const guard::file file(folder / "report.csv");
    // [lock]
    leasehold::lease lease = co_await lock.async_lock();
    const leasehold::error_code failed = co_await write_report(disk, file, lease.fence(), "a;b\n");
    if (failed == guard::errc::stale_fence)
        std::cout << "another client has acquired the lock, and has written\n";
    // [/lock]
    const leasehold::error_code late = co_await write_report(disk, file, lease.fence() - 1, "c\n");
    co_await lease.async_release();
    co_await locks.async_shutdown();
    if (failed || late != guard::errc::stale_fence)
        throw std::runtime_error("the guard accepted the wrong write");
}

} // namespace

int main()
try {
    std::string folder = (std::filesystem::temp_directory_path() / "report-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr)
        throw std::runtime_error("no folder can be made at " + folder);
    asio::io_context context;
    asio::thread_pool disk(1);
    leasehold::client locks(context, "memory:");
    locks.async_run(asio::detached);
    std::exception_ptr wrong;
    asio::co_spawn(context, run(locks, disk, folder), [&](std::exception_ptr e) { wrong = e; });
    context.run();
    std::filesystem::remove_all(folder);
    if (wrong)
        std::rethrow_exception(wrong);
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n';
    return 1;
}
