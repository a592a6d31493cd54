// Another library that locks at a majority of several servers, and a quorum of the same servers.
#include <boost/test/unit_test.hpp>

#include "interop/peer.hpp"
#include "redis/lab.hpp"
#include "support/quorum_deployment.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;

constexpr std::size_t members = 3;

std::vector<std::string> places(quorum_deployment& servers)
{
    std::vector<std::string> result;
    for (std::size_t i = 0; i < members; ++i)
        result.push_back(servers[i].socket());
    result.push_back(std::to_string(servers[0].port()));
    return result;
}

} // namespace

BOOST_AUTO_TEST_SUITE(quorum_only)

BOOST_AUTO_TEST_CASE(each_library_excludes_the_other_at_a_majority)
{
    quorum_deployment servers(members);
    client_thread ours(servers.settings());
    acquire_and_release(ours, 0);
    for (std::size_t i = 0; i < members; ++i)
        wait_until([&] { return servers.is_member(i); });
    peer theirs(peer::other_library(places(servers)));
    lock_options once = long_leases();
    once.wait_limit = 0ms;
    for (int i = 0; i < 10; ++i) {
        BOOST_TEST_REQUIRE(theirs.lock(stock, 60s, 20s));
        BOOST_TEST((ours.lock(stock, once).code == errc::held));
        BOOST_TEST(theirs.unlock(stock));
        lease held = take(ours);
        BOOST_TEST(!theirs.lock(stock, 60s));
        BOOST_TEST(held.valid());
        BOOST_TEST(!ours.release(std::move(held)));
    }
    // With the smallest majority on both sides.
    servers[1].kill();
    BOOST_TEST_REQUIRE(theirs.lock(stock, 60s, 20s));
    BOOST_TEST((ours.lock(stock, once).code == errc::held));
    BOOST_TEST(theirs.unlock(stock));
    lease held = take(ours);
    BOOST_TEST(!theirs.lock(stock, 60s));
}

BOOST_AUTO_TEST_SUITE_END()
