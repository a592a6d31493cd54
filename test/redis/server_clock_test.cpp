// The estimate of the server's clock: limits based on it reject too early rather than too late.
#include <boost/test/unit_test.hpp>

#include "base/server_clock.hpp"

#include <cstdint>

namespace {

using namespace leasehold;
using namespace leasehold::detail;
using namespace std::chrono_literals;

constexpr std::int64_t second = 1'000'000;
constexpr std::int64_t server = 1'700'000'000 * second; ///< The clock of the server at `start`.
constexpr clock::time_point start{1000s};

} // namespace

BOOST_AUTO_TEST_CASE(unknown_server_clock_has_no_limit)
{
    const server_clock c;
    BOOST_TEST(c.limit(start, 1s) == 0);
}

// The two clocks drift apart by less than one in a thousand.
BOOST_AUTO_TEST_CASE(lower_bound_assumes_a_slow_server_clock)
{
    server_clock c;
    BOOST_TEST(c.at_least(start) == 0);
    c.learn(server, start);
    BOOST_TEST(c.at_least(start) == server);
    BOOST_TEST(c.at_least(start + 1s) == server + 999'000);
    BOOST_TEST(c.at_least(start + 1h) == server + 3'600 * 999'000ll);
    // A new reply replaces the bound.
    c.learn(server + 3'600 * second, start + 1h);
    BOOST_TEST(c.at_least(start + 1h) == server + 3'600 * second);
}

BOOST_AUTO_TEST_CASE(limit_is_the_estimated_time_plus_the_budget)
{
    server_clock c;
    c.learn(server, start);
    BOOST_TEST(c.limit(start, 0ms) == server);
    BOOST_TEST(c.limit(start + 3s, 500ms) == server + 3 * second + second / 2);
    BOOST_TEST(c.limit(start, -1s) == server - second);
    // Any budget gives a limit, because 0 would mean none.
    BOOST_TEST(c.limit(start, -std::chrono::milliseconds::max()) == 1);
    BOOST_TEST(c.limit(start, std::chrono::milliseconds::max()) > server);
}

// A slow reply makes the server's clock appear slow.
BOOST_AUTO_TEST_CASE(fastest_reply_determines_the_estimate)
{
    server_clock c;
    c.learn(server, start + 300ms);
    BOOST_TEST(c.limit(start, 0ms) == server - 300'000);
    c.learn(server + second, start + 1s + 2ms);
    BOOST_TEST(c.limit(start, 0ms) == server - 2'000);
    c.learn(server + 2 * second, start + 2s + 900ms);
    BOOST_TEST(c.limit(start, 0ms) == server - 2'000);
}

// Otherwise the limits of a slower server clock would become later and later.
BOOST_AUTO_TEST_CASE(newer_reply_replaces_the_fastest_after_five_seconds)
{
    server_clock c;
    c.learn(server, start);
    c.learn(server + 5 * second, start + 5s + 40ms);
    // More than 5 s later, the newer reply counts.
    BOOST_TEST(c.limit(start, 0ms) == server - 40'000);
    c.learn(server + 6 * second, start + 6s + 60ms);
    BOOST_TEST(c.limit(start, 0ms) == server - 40'000); // the fastest reply of this period
    c.learn(server + 12 * second, start + 12s + 60ms);
    BOOST_TEST(c.limit(start, 0ms) == server - 60'000);
}

// An estimate that is ahead would let requests execute whose waiters have timed out.
BOOST_AUTO_TEST_CASE(large_step_back_is_adopted_at_once)
{
    server_clock c;
    c.learn(server, start);
    c.learn(server - 3600 * second + second / 10, start + 100ms);
    BOOST_TEST(c.limit(start, 0ms) == server - 3600 * second);
    // The clock steps forward again.
    c.learn(server + second / 5, start + 200ms);
    BOOST_TEST(c.limit(start, 0ms) == server);
}

BOOST_AUTO_TEST_CASE(small_step_back_is_adopted_after_a_while)
{
    server_clock c;
    c.learn(server, start);
    c.learn(server - second / 2 + second, start + 1s);
    BOOST_TEST(c.limit(start, 0ms) == server);
    c.learn(server - second / 2 + 6 * second, start + 6s);
    BOOST_TEST(c.limit(start, 0ms) == server - second / 2);
}

BOOST_AUTO_TEST_CASE(invalid_server_time_is_detected)
{
    BOOST_TEST(!is_server_time(0));
    BOOST_TEST(!is_server_time(-1));
    BOOST_TEST(is_server_time(1));
    BOOST_TEST(is_server_time((std::int64_t(1) << 53) - 1));
    BOOST_TEST(!is_server_time(std::int64_t(1) << 53));
}
