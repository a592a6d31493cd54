// Partitions of a real network: five servers and three clients, each process at a node of its own,
// and what is cut is packets. One clock counts for all of them, that of the machine.
#include <boost/test/unit_test.hpp>

#include "partitions/trial.hpp"

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace leasehold::test;
using chaos::verb;
using ways = trial::ways;

constexpr int skipped = 77; // as configured in ctest

std::unique_ptr<site>& the_site()
{
    static std::unique_ptr<site> only;
    return only;
}

struct with_a_network
{
    with_a_network()
    {
        if (const std::string why = network::refusal(); !why.empty()) {
            std::cout << "SKIPPED: partitions need network namespaces and ip (iproute2), which "
                         "cannot be had here: "
                      << why << std::endl;
            std::exit(skipped);
        }
        the_site() = std::make_unique<site>();
    }
    ~with_a_network() { the_site().reset(); }
};

BOOST_TEST_GLOBAL_FIXTURE(with_a_network);

const std::vector<std::size_t> majority = {0, 1, 2};

ways requests(std::size_t client, const std::vector<std::size_t>& servers)
{
    ways all;
    for (const std::size_t each : servers)
        all.push_back({site::node_of_client(client), each});
    return all;
}

ways replies(std::size_t client, const std::vector<std::size_t>& servers)
{
    ways all;
    for (const std::size_t each : servers)
        all.push_back({each, site::node_of_client(client)});
    return all;
}

ways both(std::size_t client, const std::vector<std::size_t>& servers)
{
    ways all = requests(client, servers);
    for (const network::way& each : replies(client, servers))
        all.push_back(each);
    return all;
}

ways operator+(ways all, const ways& more)
{
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

/// A quorum of five.
struct quorum : trial
{
    quorum() : trial(*the_site(), site::redlock_url()) {}

    void all_work()
    {
        for (std::size_t i = 0; i < site::clients; ++i)
            work(i, "shared");
        go_on({0, 1, 2});
    }

    /// The last client holds a lock, and is cut off from a majority.
    void minority(const std::string& what, const ways& these)
    {
        all_work();
        hold(2, "held");
        cut(what, these);
        wait_until("the loss is told", [&] { return count(2, verb::lost, "held") == 1; });
        BOOST_TEST(count(2, verb::lost, "held", "expired") == 1u);
        refused(2, "held", chaos::outvoted);
        go_on({0, 1});
        hold(1, "held"); // no received message keeps it alive
        go_on({0, 1});
        finish();
    }
};

} // namespace

BOOST_FIXTURE_TEST_CASE(row_14_a_client_on_the_side_of_the_minority, quorum)
{
    minority("minority", both(2, majority));
}

BOOST_FIXTURE_TEST_CASE(row_13_requests_arrive_and_replies_do_not, quorum)
{
    minority("replies vanish", replies(2, majority));
}

BOOST_FIXTURE_TEST_CASE(row_13_replies_arrive_and_requests_do_not, quorum)
{
    minority("requests vanish", requests(2, majority));
}

BOOST_FIXTURE_TEST_CASE(row_15_each_client_reaches_another_majority, quorum)
{
    all_work();
    hold(2, "held");
    cut("three majorities", both(0, {3, 4}) + both(1, {0, 4}) + both(2, {0, 1}));
    go_on({0, 1, 2}, 10);
    refused(0, "held", "held");
    finish();
}

BOOST_FIXTURE_TEST_CASE(F9_nobody_reaches_a_majority, quorum)
{
    all_work();
    hold(0, "held");
    cut("no majority", both(0, {0, 1, 2}) + both(1, {1, 2, 3}) + both(2, {2, 3, 4}));
    wait_until("the loss is told", [&] { return count(0, verb::lost, "held") == 1; });
    for (std::size_t i = 0; i < site::clients; ++i)
        refused(i, "held", chaos::outvoted);
    const std::size_t before = grants(0) + grants(1) + grants(2);
    for (std::size_t i = 0; i < site::clients; ++i)
        refused(i, "held", chaos::outvoted);
    BOOST_TEST(grants(0) + grants(1) + grants(2) == before);
    finish();
}

BOOST_FIXTURE_TEST_CASE(row_15_links_that_come_and_go, quorum)
{
    all_work();
    for (std::size_t round = 0; round < 8; ++round) {
        const bool a_client = round % 2 == 0;
        const std::size_t node = a_client ? site::node_of_client(2) : round % site::servers;
        unplug(node);
        go_on({0, 1});
        plug(node);
        if (a_client)
            go_on({2}, 1);
    }
    finish();
}

// The same with one server, which keeps waiters in order.
BOOST_AUTO_TEST_CASE(row_11_the_only_server_is_out_of_reach)
{
    trial t(*the_site(), site::server_url());
    t.hold(2, "held");
    t.ask(0, "held");
    t.work(0, "shared");
    t.work(1, "shared");
    t.go_on({0, 1});
    t.cut("one client", both(2, {0}));
    t.wait_until("another has it", [&] { return t.grants(0, "held") == 1; });
    t.wait_until("the loss is told",
                 [&] { return t.count(2, verb::lost, "held", "expired") == 1; });
    t.refused(2, "held", "store_unavailable");
    t.go_on({0, 1});
    t.finish();
}
