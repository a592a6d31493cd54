#include <boost/test/unit_test.hpp>

#include "fsm/contention/backoff.hpp"

#include <algorithm>
#include <set>

using namespace leasehold;
using namespace std::chrono_literals;
using fsm::backoff;

namespace {

// The range of the n-th pause (from 0), over many seeds.
struct range
{
    clock::duration least = clock::duration::max();
    clock::duration most{};
};

range nth(std::chrono::milliseconds floor, std::chrono::milliseconds ceiling, int n)
{
    range seen;
    for (unsigned seed = 0; seed < 2000; ++seed) {
        fsm::random_source random(seed);
        backoff policy(floor, ceiling);
        for (int i = 0; i < n; ++i)
            policy.next(random);
        const auto pause = policy.next(random);
        seen.least = std::min(seen.least, pause);
        seen.most = std::max(seen.most, pause);
    }
    return seen;
}

} // namespace

BOOST_AUTO_TEST_SUITE(backoff_fsm)

BOOST_AUTO_TEST_CASE(pause_bound_doubles_from_floor_to_ceiling)
{
    clock::duration bound = 20ms;
    for (int n = 0; n < 10; ++n) {
        const range seen = nth(20ms, 1000ms, n);
        BOOST_TEST((seen.most <= bound));
        // Full jitter: pauses cover the whole range, including its ends.
        BOOST_TEST((seen.most > bound * 9 / 10));
        BOOST_TEST((seen.least >= 10ms));
        BOOST_TEST((seen.least < 10ms + bound / 10));
        bound = std::min<clock::duration>(bound * 2, 1000ms);
    }
}

BOOST_AUTO_TEST_CASE(pause_is_at_least_half_the_floor)
{
    for (const auto floor : {1ms, 20ms, 60'000ms})
        for (const int n : {0, 1, 30})
            BOOST_TEST((nth(floor, 60'000ms, n).least >= floor / 2));
}

BOOST_AUTO_TEST_CASE(floor_and_ceiling_may_be_the_same)
{
    for (const int n : {0, 1, 5}) {
        const range seen = nth(7ms, 7ms, n);
        BOOST_TEST((seen.least >= 3500us));
        BOOST_TEST((seen.most <= 7ms));
    }
}

BOOST_AUTO_TEST_CASE(reset_starts_at_the_floor_again)
{
    fsm::random_source random(1);
    backoff policy(10ms, 10s);
    for (int i = 0; i < 8; ++i)
        policy.next(random);
    policy.reset();
    BOOST_TEST((policy.next(random) <= 10ms));
    BOOST_TEST((policy.next(random) <= 20ms));
    BOOST_TEST((policy.floor() == 10ms));
    BOOST_TEST((policy.ceiling() == 10s));
}

BOOST_AUTO_TEST_CASE(clients_that_collided_pause_differently)
{
    fsm::random_source one(1), other(2);
    backoff a(20ms, 1s), b(20ms, 1s);
    std::set<clock::duration> apart;
    for (int i = 0; i < 10; ++i)
        apart.insert(a.next(one) - b.next(other));
    BOOST_TEST(apart.size() == 10u);
}

BOOST_AUTO_TEST_CASE(pick_includes_both_ends_and_accepts_an_empty_range)
{
    fsm::random_source random(3);
    std::set<clock::rep> seen;
    for (int i = 0; i < 200; ++i)
        seen.insert(fsm::pick(random, 3ns, 5ns).count());
    BOOST_TEST((seen == std::set<clock::rep>{3, 4, 5}));
    BOOST_TEST((fsm::pick(random, 5ns, 3ns) == 5ns));
}

BOOST_AUTO_TEST_SUITE_END()
