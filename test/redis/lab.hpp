#ifndef LEASEHOLD_TEST_REDIS_LAB_HPP
#define LEASEHOLD_TEST_REDIS_LAB_HPP

#include "support/client_thread.hpp"
#include "support/redis_server.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace leasehold::test {

using namespace std::chrono_literals;
using kind = recording_observer::kind;

inline const std::string stock = "stock";
inline const std::string stock_fence = "redisson_lock_token:{stock}";
inline const std::string stock_channel = "redisson_lock__channel:{stock}";

/// Renewed often, so that next to nothing of the lease time has gone when a fault comes. A wait
/// that never ends fails its test.
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

/// Another client gets in, with a larger fence, and leaves nothing behind.
inline std::uint64_t next_gets_in(client_thread& other, std::uint64_t after,
                                  const lock_options& options = long_leases())
{
    taken next = other.lock(stock, options);
    BOOST_TEST(!next.code, next.code.message());
    const std::uint64_t fence = next.held.fence();
    BOOST_TEST(fence > after);
    BOOST_TEST(!other.release(std::move(next.held)));
    return fence;
}

} // namespace leasehold::test

#endif
