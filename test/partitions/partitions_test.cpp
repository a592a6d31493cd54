// Partitions of a real network: five servers and three clients, each process at its own node.
// Packets are dropped. All of them use one clock, that of the machine.
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

constexpr int skipped = 77; // the exit code for a skipped test, as in CMakeLists.txt

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
        await_grants({0, 1, 2});
    }

    /// The last client holds a lock, and is cut off from a majority.
    void minority(const std::string& what, const ways& these)
    {
        all_work();
        hold(2, "held");
        cut(what, these);
        wait_until("the loss is reported", [&] { return count(2, verb::lost, "held") == 1; });
        BOOST_TEST(count(2, verb::lost, "held", "expired") == 1u);
        refused(2, "held", chaos::outvoted);
        await_grants({0, 1});
        hold(1, "held"); // no message that arrived extends the lock
        await_grants({0, 1});
        finish();
    }
};

} // namespace

BOOST_FIXTURE_TEST_CASE(row_14_client_with_a_minority_loses_its_lock, quorum)
{
    minority("minority", both(2, majority));
}

BOOST_FIXTURE_TEST_CASE(row_13_client_without_replies_loses_its_lock, quorum)
{
    minority("replies vanish", replies(2, majority));
}

BOOST_FIXTURE_TEST_CASE(row_13_client_without_requests_loses_its_lock, quorum)
{
    minority("requests vanish", requests(2, majority));
}

BOOST_FIXTURE_TEST_CASE(row_15_clients_with_different_majorities_exclude_each_other, quorum)
{
    all_work();
    hold(2, "held");
    cut("three majorities", both(0, {3, 4}) + both(1, {0, 4}) + both(2, {0, 1}));
    await_grants({0, 1, 2}, 10);
    refused(0, "held", "held");
    finish();
}

BOOST_FIXTURE_TEST_CASE(F9_no_lock_is_granted_without_a_majority, quorum)
{
    all_work();
    hold(0, "held");
    cut("no majority", both(0, {0, 1, 2}) + both(1, {1, 2, 3}) + both(2, {2, 3, 4}));
    wait_until("the loss is reported", [&] { return count(0, verb::lost, "held") == 1; });
    for (std::size_t i = 0; i < site::clients; ++i)
        refused(i, "held", chaos::outvoted);
    const std::size_t before = grants(0) + grants(1) + grants(2);
    for (std::size_t i = 0; i < site::clients; ++i)
        refused(i, "held", chaos::outvoted);
    BOOST_TEST(grants(0) + grants(1) + grants(2) == before);
    finish();
}

BOOST_FIXTURE_TEST_CASE(row_15_clients_acquire_locks_despite_broken_links, quorum)
{
    all_work();
    for (std::size_t round = 0; round < 8; ++round) {
        const bool a_client = round % 2 == 0;
        const std::size_t node = a_client ? site::node_of_client(2) : round % site::servers;
        unplug(node);
        await_grants({0, 1});
        plug(node);
        if (a_client)
            await_grants({2}, 1);
    }
    finish();
}

// The same with one server, which has a queue of waiters.
BOOST_AUTO_TEST_CASE(row_11_client_that_cannot_reach_the_server_loses_its_lock)
{
    trial t(*the_site(), site::server_url());
    t.hold(2, "held");
    t.ask(0, "held");
    t.work(0, "shared");
    t.work(1, "shared");
    t.await_grants({0, 1});
    t.cut("one client", both(2, {0}));
    t.wait_until("another has it", [&] { return t.grants(0, "held") == 1; });
    t.wait_until("the loss is reported",
                 [&] { return t.count(2, verb::lost, "held", "expired") == 1; });
    t.refused(2, "held", "store_unavailable");
    t.await_grants({0, 1});
    t.finish();
}
