// While the machine is suspended, the clock of the leases continues, but the timers stop. The
// `clock_gettime` of this program moves only that clock.
#include <boost/test/unit_test.hpp>

#include <leasehold/client.hpp>
#include <leasehold/error.hpp>
#include <leasehold/lease.hpp>
#include <leasehold/memory.hpp>
#include <leasehold/mutex.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

using namespace leasehold;
using namespace std::chrono_literals;

namespace {

std::atomic<long> suspended_seconds{0};

int read_clock(clockid_t clock, timespec* out)
{
    const long failed = ::syscall(SYS_clock_gettime, clock, out);
    if (failed == 0 && clock == CLOCK_BOOTTIME)
        out->tv_sec += suspended_seconds.load(std::memory_order_relaxed);
    return static_cast<int>(failed);
}

} // namespace

extern "C" __attribute__((visibility("default"))) int clock_gettime(clockid_t clock,
                                                                    timespec* out) noexcept
{
    return read_clock(clock, out);
}

BOOST_AUTO_TEST_SUITE(suspended_machine)

BOOST_AUTO_TEST_CASE(lease_that_expired_during_the_suspension_is_lost_soon_after)
{
    asio::io_context context;
    client locks(context.get_executor(), make_memory_store(std::make_shared<memory_space>()));
    locks.async_run(asio::detached);
    mutex one(locks, "one", {.lease_time = 20min, .renew = false});
    lease held;
    one.async_lock([&](error_code failed, lease got) {
        BOOST_TEST(!failed);
        held = std::move(got);
    });
    while (!held.valid())
        BOOST_TEST_REQUIRE(context.run_one() == 1u);
    std::optional<error_code> ended;
    held.async_wait_lost([&](error_code why) { ended = why; });
    context.poll();
    // The client waited for a request, and the timer for its timeout is still running.
    suspended_seconds = 10;
    BOOST_TEST_REQUIRE(context.run_one() == 1u);
    context.poll();
    BOOST_TEST(held.valid());

    suspended_seconds = 3600;
    BOOST_TEST(!held.valid());
    const auto before = std::chrono::steady_clock::now();
    while (!ended)
        BOOST_TEST_REQUIRE(context.run_one() == 1u);
    BOOST_TEST((std::chrono::steady_clock::now() - before < 1min));
    BOOST_TEST((*ended == errc::expired));
}

BOOST_AUTO_TEST_SUITE_END()
