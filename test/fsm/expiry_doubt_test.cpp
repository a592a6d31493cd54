#include <boost/test/unit_test.hpp>

#include "fsm/lease/expiry_doubt.hpp"

#include <chrono>

using leasehold::clock;
using leasehold::fsm::expiry_doubt;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(expiry_doubt_fsm)

namespace {

constexpr clock::time_point start{1h};
constexpr clock::duration lease = 10s;

} // namespace

BOOST_AUTO_TEST_CASE(ttl_that_does_not_decrease_is_doubtful)
{
    expiry_doubt doubt;
    BOOST_TEST(!doubt.of(5s, lease, start));
    BOOST_TEST(!doubt.of(4s, lease, start + 1s));
    BOOST_TEST(!doubt.of(4s, lease, start + 1s + 9ms)); // two polls at nearly the same time
    BOOST_TEST(doubt.of(4s, lease, start + 1s + 19ms));
    BOOST_TEST(!doubt.of(9s, lease, start + 2s)); // the lock was renewed
}

BOOST_AUTO_TEST_CASE(missing_or_overlong_ttl_is_doubtful)
{
    expiry_doubt doubt;
    BOOST_TEST(!doubt.of(100s, lease, start));
    BOOST_TEST(doubt.of(100s + 1ms, lease, start + 1ms));
    BOOST_TEST(!doubt.of(5s, lease, start + 1s));
    BOOST_TEST(doubt.of(-1ms, lease, start + 1s + 1ms));
    BOOST_TEST(doubt.of(-1ms, lease, start + 1s + 2ms));
}

BOOST_AUTO_TEST_SUITE_END()
