// The examples of the reference for locks, leases and errors. A part has the name of its header.
#include "expect.hpp"

#include <leasehold.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

int pages = 0;
std::uint64_t largest = 0;

/// A stand-in for a database that rejects a fencing token smaller than the largest it has seen.
asio::awaitable<void> write_page(int page, std::uint64_t fence)
{
    expect(fence >= largest, "rejected: a newer holder has written");
    largest = fence;
    pages = page;
    co_return;
}

// [mutex]
asio::awaitable<bool> refresh_once(leasehold::client& locks)
{
    const leasehold::mutex lock(locks, "prices", {.lease_time = 10s, .wait_limit = 2s});
    leasehold::lease lease = co_await lock.async_lock(); // throws after 2 s

    // Another try fails while the lease exists.
    auto [failed, other] = co_await lock.async_try_lock(asio::as_tuple);
    co_return failed == leasehold::errc::held;
}
// [/mutex]

// [lease]
asio::awaitable<void> write_report(leasehold::client& locks)
{
    const leasehold::mutex report(locks, "report");
    leasehold::lease lease = co_await report.async_lock();
    for (int page = 1; page <= 3 && lease.valid(); ++page)
        co_await write_page(page, lease.fence()); // the database rejects a smaller fence
    co_await lease.async_release();
}
// [/lease]

// [with_lock]
asio::awaitable<void> write_with_lock(leasehold::client& locks)
{
    const leasehold::mutex report(locks, "report");
    co_await leasehold::with_lock(report, [](leasehold::lease& lease) -> asio::awaitable<void> {
        co_await write_page(4, lease.fence()); // is cancelled if the lease is lost
    });
}
// [/with_lock]

// [options]
asio::awaitable<void> write_soon(leasehold::client& locks)
{
    leasehold::lock_options options;
    options.lease_time = 10s;  // a crashed holder blocks others for at most this time
    options.wait_limit = 2s;   // async_lock throws after this time
    options.longest_hold = 1h; // the client then releases the lock
    const leasehold::mutex report(locks, "report", options);
    leasehold::lease lease = co_await report.async_lock();
    co_await write_page(5, lease.fence());
}
// [/options]

// [clock]
/// The time for which the lease is certainly valid.
std::chrono::nanoseconds time_left(const leasehold::lease& lease)
{
    return lease.deadline() - leasehold::clock::now();
}
// [/clock]

// [owner]
/// Acquires the lock again, under the owner that a holder has sent as text.
asio::awaitable<std::uint64_t> help(leasehold::client& locks, std::string text)
{
    const leasehold::owner holder = leasehold::owner::from_string(text);
    const leasehold::mutex report = leasehold::mutex(locks, "report").with_owner(holder);
    leasehold::lease lease = co_await report.async_lock();
    co_return lease.fence(); // the fence of the holder
}
// [/owner]

// [error]
/// The status of an HTTP response.
int status_of(const leasehold::error_code& failed)
{
    if (!failed)
        return 200;
    if (failed == leasehold::condition::busy)
        return 409; // another owner holds the lock
    if (failed == leasehold::condition::store_fault)
        return 503; // a retry may help
    return 500;
}
// [/error]

// [diagnostics]
asio::awaitable<std::string> reason_of_a_wait(leasehold::client& locks)
{
    const leasehold::mutex report(locks, "report");
    leasehold::diagnostics details;
    auto [failed, lease] = co_await report.async_try_lock(details, asio::as_tuple);
    if (failed)
        co_return failed.message() + ": " + details.to_string(); // the server, the holder
    co_return "acquired";
}
// [/diagnostics]

// [with_diagnostics]
asio::awaitable<std::string> exception_of_a_wait(leasehold::client& locks)
{
    const leasehold::mutex report(locks, "report");
    try {
        leasehold::lease lease = co_await report.async_lock(
            leasehold::with_diagnostics(asio::cancel_after(20ms, asio::deferred)));
    }
    catch (const leasehold::error_with_diagnostics& failed) {
        co_return failed.get_diagnostics().holder; // the id of the holder's client
    }
    co_return "acquired";
}
// [/with_diagnostics]

// [client_info]
/// The program and the machine of a holder, for a page that shows a long wait.
std::string who_holds(const leasehold::diagnostics& details)
{
    const leasehold::client_info& holder = details.holder_info;
    if (holder.empty())
        return "client " + details.holder;
    return holder.program + " on " + holder.host + ", pid " + std::to_string(holder.pid);
}
// [/client_info]

asio::awaitable<void> all(leasehold::client& locks)
{
    expect(co_await refresh_once(locks), "the lock is held");
    co_await write_report(locks);
    expect(pages == 3, "three pages");
    co_await write_with_lock(locks);
    co_await write_soon(locks);
    expect(pages == 5, "five pages");

    const leasehold::mutex report(locks, "report");
    leasehold::lease lease = co_await report.async_lock();
    expect(time_left(lease) > 20s, "the lease is new");
    std::string shared = lease.share_owner().to_string();
    const std::uint64_t fence = co_await help(locks, std::move(shared));
    expect(fence == lease.fence(), "the same owner");
    const std::string reason = co_await reason_of_a_wait(locks);
    expect(reason.find(locks.id()) != std::string::npos, "the holder is named");
    const std::string holder = co_await exception_of_a_wait(locks);
    expect(holder == locks.id(), "the holder is named");
    expect(status_of(leasehold::errc::held) == 409 && status_of({}) == 200, "the status");
    leasehold::diagnostics details;
    details.holder = "5e0f8c21";
    expect(who_holds(details) == "client 5e0f8c21", "only the id is known");
    details.holder_info.program = "orders";
    expect(who_holds(details).starts_with("orders on"), "the program is known");
    co_await lease.async_release();
    co_await locks.async_shutdown();
}

} // namespace

int main()
try {
    // [client]
    asio::io_context context;
    leasehold::client locks(context, "memory:"); // or "redis://127.0.0.1"
    locks.async_run(asio::detached);             // connects, and renews the leases
    // [/client]
    std::exception_ptr wrong;
    asio::co_spawn(context, all(locks), [&](std::exception_ptr failure) {
        wrong = failure;
        if (wrong)
            locks.cancel();
    });
    context.run();
    if (wrong)
        std::rethrow_exception(wrong);
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n';
    return 1;
}
