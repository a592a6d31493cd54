#ifndef LEASEHOLD_TEST_REDIS_LAB_HPP
#define LEASEHOLD_TEST_REDIS_LAB_HPP

#include "support/client_thread.hpp"
#include "support/redis_server.hpp"
#include "support/tested_layout.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <future>
#include <string>
#include <utility>

namespace leasehold::test {

using namespace std::chrono_literals;
using kind = recording_observer::kind;

inline const std::string stock = "stock";
inline const std::string stock_fence = fence_key_of(stock);
inline const std::string stock_channel = "redisson_lock__channel:{stock}";

/// Renewed often, so that little of the lease time has passed when a fault occurs. A wait without
/// end fails its test.
inline lock_options leases_of(std::chrono::milliseconds time)
{
    lock_options options;
    options.lease_time = time;
    options.renew_interval = time / 10;
    options.wait_limit = 25s;
    return options;
}

/// Long enough to outlast any test.
inline lock_options long_leases()
{
    lock_options options = leases_of(60s);
    options.renew_interval = 100ms;
    return options;
}

inline bool exists(resp_client& store, const std::string& key = stock)
{
    return store.integer({"EXISTS", key}) == 1;
}

/// Acquires the lock. Failing to do so fails the test.
inline lease take(client_thread& by, const lock_options& options = long_leases(),
                  const std::string& name = stock)
{
    taken got = by.lock(name, options);
    BOOST_TEST_REQUIRE(!got.code, got.code.message());
    return std::move(got.held);
}

/// Returns when the client waits for the lock.
[[nodiscard]] inline std::future<taken> start_waiting(client_thread& by,
                                                      const lock_options& options = long_leases())
{
    auto waiting = by.start_lock(stock, options);
    by.seen().wait_for(kind::waiting);
    return waiting;
}

/// The holder releases, and the waiter gets the lock, with a larger fence.
inline lease hand_off(client_thread& from, lease held, std::future<taken>& waiting,
                      std::chrono::milliseconds limit = 30s)
{
    const std::uint64_t fence = held.fence();
    const error_code left = from.release(std::move(held));
    BOOST_TEST(!left, left.message());
    taken next = get(waiting, limit);
    BOOST_TEST_REQUIRE(!next.code, next.code.message());
    BOOST_TEST(next.held.fence() > fence);
    return std::move(next.held);
}

/// Another client acquires the lock with a larger fence, and releases it. Returns the fence.
inline std::uint64_t acquire_and_release(client_thread& other, std::uint64_t after,
                                         const lock_options& options = long_leases())
{
    lease next = take(other, options);
    const std::uint64_t fence = next.fence();
    BOOST_TEST(fence > after);
    const error_code left = other.release(std::move(next));
    BOOST_TEST(!left, left.message());
    return fence;
}

} // namespace leasehold::test

#endif
