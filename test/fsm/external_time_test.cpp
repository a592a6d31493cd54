#include <boost/test/unit_test.hpp>

#include "fsm/lease/external_time.hpp"

#include <chrono>

using leasehold::clock;
using leasehold::fsm::external_time;
using leasehold::fsm::random_source;
using namespace std::chrono_literals;

namespace {

struct drawn
{
    external_time::milliseconds after(std::uint32_t percent, clock::duration held)
    {
        return external_time(percent).after(held, random);
    }

    random_source random{1};
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(external_time_fsm, drawn)

BOOST_AUTO_TEST_CASE(external_time_is_zero_by_default)
{
    for (const clock::duration held : {0ns, 1ns, std::chrono::nanoseconds(1h)})
        BOOST_TEST((after(0, held) == 0ms));
}

BOOST_AUTO_TEST_CASE(external_time_after_a_long_hold_is_its_share)
{
    BOOST_TEST((after(10, 50ms) == 5ms));
    BOOST_TEST((after(10, 1s) == 100ms));
    BOOST_TEST((after(100, 7ms) == 7ms));
    BOOST_TEST((after(1, 1s) == 10ms));
}

BOOST_AUTO_TEST_CASE(external_time_is_at_most_300_ms)
{
    BOOST_TEST((after(100, 300ms) == 300ms));
    BOOST_TEST((after(100, 301ms) == 300ms));
    BOOST_TEST((after(1, 24h * 365 * 100) == 300ms));
    BOOST_TEST((after(100, clock::duration::max()) == 300ms));
}

BOOST_AUTO_TEST_CASE(external_time_after_short_holds_is_random)
{
    constexpr int times = 20'000;
    for (const clock::duration held : {clock::duration(200us), clock::duration(4ms)}) {
        clock::duration left_free{};
        for (int i = 0; i < times; ++i) {
            const auto free_time = after(10, held);
            BOOST_TEST((free_time == 0ms || free_time == external_time::shortest));
            left_free += free_time;
        }
        const double share = static_cast<double>(left_free.count()) /
                             static_cast<double>((held * times).count());
        BOOST_TEST(share > 0.08);
        BOOST_TEST(share < 0.12);
    }
}

BOOST_AUTO_TEST_CASE(hold_without_a_duration_gets_no_external_time)
{
    for (int i = 0; i < 1'000; ++i) {
        BOOST_TEST((after(100, 0s) == 0ms));
        BOOST_TEST((after(100, -1s) == 0ms));
    }
}

BOOST_AUTO_TEST_SUITE_END()
