// The command with locks in etcd, as processes, on the test's own server.
#include "support/etcd_server.hpp"
#include "support/print.hpp"
#include "support/process.hpp"
#include "tool/session_store_runs.hpp"

#include <leasehold/etcd.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>

namespace leasehold::test {
namespace {

/// One server for all cases; each has its own root.
struct fixture : session_store_runs
{
    fixture()
        : session_store_runs("etcd://" + server().address() + "/case" + std::to_string(++cases) +
                             "?session=4000")
    {}

    static etcd_server& server()
    {
        static etcd_server one;
        return one;
    }

    inline static int cases = 0;
};

boost::test_tools::assertion_result with_a_server(boost::unit_test::test_unit_id)
{
    const std::string missing = etcd_server::missing();
    boost::test_tools::assertion_result result(missing.empty());
    result.message() << missing;
    return result;
}

} // namespace

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(with_a_server))
BOOST_FIXTURE_TEST_SUITE(command_with_etcd, fixture)

BOOST_AUTO_TEST_CASE(command_runs_for_longer_than_its_session_would_live)
{
    check_run_for_longer_than_the_session();
}

BOOST_AUTO_TEST_CASE(held_locks_are_listed_with_their_holders)
{
    check_list("etcd");
}

BOOST_AUTO_TEST_CASE(broken_lock_is_granted_to_its_waiter)
{
    check_break();
}

BOOST_AUTO_TEST_CASE(unreachable_server_is_reported)
{
    check_unreachable_server("etcd");
}

// Of etcdctl, and of concurrency.Mutex.
BOOST_AUTO_TEST_CASE(lock_of_another_library_is_listed_and_broken)
{
    process etcdctl({"etcdctl", "--endpoints", server().address(), "lock",
                     "case" + std::to_string(cases) + "/stock"},
                    {{"ETCDCTL_API", "3"}});
    const std::string key = etcdctl.read_line().value();
    const ran json = run({"ls", "--json"});
    BOOST_TEST(json.has("[{\"name\":\"stock\",\"layout\":\"external\""), json.text());
    const std::string owner = key.substr(key.rfind('/') + 1);
    const ran broken = run({"break", "stock", "--owner", owner});
    BOOST_TEST(broken.code == 0, broken.said);
    BOOST_TEST(run({"ls"}).says("no lock is held"));
}

// The keys of other programs are no locks.
BOOST_AUTO_TEST_CASE(all_locks_of_a_server_are_listed)
{
    const auto one = client();
    const lease stock = take(*one, "stock");
    url = "etcd://" + server().address();
    const ran listed = run({"ls"});
    BOOST_TEST(listed.code == 0);
    BOOST_TEST(!listed.has("stock"), listed.text());
    const std::unique_ptr<client_thread> top = client();
    const lease other = take(*top, "top");
    BOOST_TEST(run({"ls"}).has("top "));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace leasehold::test
