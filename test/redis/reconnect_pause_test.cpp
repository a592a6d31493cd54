#include "redis/connection/reconnect_pause.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace redis_store = leasehold::redis_store;
using leasehold::clock;
using namespace std::chrono_literals;

namespace {

std::vector<clock::duration> pauses(std::chrono::milliseconds configured, std::uint64_t seed,
                                    std::size_t count)
{
    leasehold::fsm::random_source random(seed);
    std::vector<clock::duration> all(count);
    std::generate(all.begin(), all.end(),
                  [&] { return redis_store::reconnect_pause(configured, random); });
    return all;
}

} // namespace

BOOST_AUTO_TEST_SUITE(reconnect_pause)

BOOST_AUTO_TEST_CASE(reconnect_pause_is_half_to_one_and_a_half_of_the_setting)
{
    for (const auto configured : {1ms, 3ms, 250ms, 600'000ms}) {
        const clock::duration usual = configured;
        for (const clock::duration each : pauses(configured, 1, 2'000)) {
            BOOST_TEST((each >= usual / 2));
            BOOST_TEST((each <= usual + usual / 2));
        }
    }
}

BOOST_AUTO_TEST_CASE(reconnect_pauses_are_spread_evenly)
{
    std::vector<clock::duration> all = pauses(250ms, 2, 10'000);
    std::sort(all.begin(), all.end());
    for (std::size_t tenth = 0; tenth <= 10; ++tenth) {
        const clock::duration even = 125ms + tenth * 25ms;
        const clock::duration found = all[std::min(tenth * 1'000, all.size() - 1)];
        BOOST_TEST((found > even - 10ms && found < even + 10ms), "tenth " << tenth);
    }
}

BOOST_AUTO_TEST_CASE(clients_that_lose_a_server_reconnect_at_different_times)
{
    std::vector<clock::duration> first;
    for (std::uint64_t client = 1; client <= 100; ++client)
        first.push_back(pauses(250ms, client, 1).front());
    std::sort(first.begin(), first.end());
    // Of a hundred within a quarter of a second, 25 would be the most crowded 10 ms by far.
    for (std::size_t i = 25; i < first.size(); ++i)
        BOOST_TEST((first[i] - first[i - 25] > 10ms));
    BOOST_TEST((first.back() - first.front() > 200ms));
}

BOOST_AUTO_TEST_SUITE_END()
