// The command with locks in ZooKeeper, as processes, on the test's own server.
#include "support/print.hpp"
#include "support/zookeeper_server.hpp"
#include "tool/session_store_runs.hpp"

#include <leasehold/zookeeper.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

namespace leasehold::test {
namespace {

/// One server for all cases; each has its own root.
struct fixture : session_store_runs
{
    fixture()
        : session_store_runs("zookeeper://" + server().address() + "/case" +
                             std::to_string(++cases) +
                             "?session=4000&tick=" + std::to_string(zookeeper_server::tick.count()))
    {}

    static zookeeper_server& server()
    {
        static zookeeper_server one;
        return one;
    }

    inline static int cases = 0;
};

boost::test_tools::assertion_result with_a_server(boost::unit_test::test_unit_id)
{
    const std::string missing = zookeeper_server::missing();
    boost::test_tools::assertion_result result(missing.empty());
    result.message() << missing;
    return result;
}

} // namespace

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(with_a_server))
BOOST_FIXTURE_TEST_SUITE(command_with_zookeeper, fixture)

BOOST_AUTO_TEST_CASE(command_runs_for_longer_than_its_session_would_live)
{
    check_run_for_longer_than_the_session();
}

BOOST_AUTO_TEST_CASE(held_locks_are_listed_with_their_holders)
{
    check_list("zookeeper");
}

BOOST_AUTO_TEST_CASE(broken_lock_is_granted_to_its_waiter)
{
    check_break();
}

BOOST_AUTO_TEST_CASE(unreachable_server_is_reported)
{
    check_unreachable_server("zookeeper");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace leasehold::test
