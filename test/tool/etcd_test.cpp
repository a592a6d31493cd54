// The command with locks in etcd, as processes, on the test's own server.
#include "support/client_thread.hpp"
#include "support/etcd_server.hpp"
#include "support/port.hpp"
#include "support/print.hpp"
#include "support/process.hpp"
#include "tool/tool_runs.hpp"

#include <leasehold/etcd.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace leasehold::test {
namespace {

using namespace std::chrono_literals;
using words = std::vector<std::string>;

/// One server for all cases; each has its own root.
struct fixture : tool_runs
{
    fixture()
        : url("etcd://" + server().address() + "/case" + std::to_string(++cases) + "?session=4000")
    {}

    static etcd_server& server()
    {
        static etcd_server one;
        return one;
    }

    ran run(const words& arguments) { return tool_runs::run(arguments, url); }
    [[nodiscard]] std::unique_ptr<client_thread> client() const
    {
        return std::make_unique<client_thread>(make_etcd_store(etcd_config(url)));
    }

    inline static int cases = 0;
    std::string url;
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

// The store gives a TTL of some seconds instead of the requested half minute.
BOOST_AUTO_TEST_CASE(command_runs_for_longer_than_its_session_would_live)
{
    const ran held = run({"run", "job", "--", "sh", "-c", "sleep 5; echo $LEASEHOLD_FENCE"});
    BOOST_TEST(held.code == 0);
    BOOST_TEST(held.lines.size() == 1u, held.text());
    BOOST_TEST(!held.says("not renewed"), held.said);
}

BOOST_AUTO_TEST_CASE(held_locks_are_listed_with_their_holders)
{
    const auto one = client();
    const lease stock = take(*one, "stock");
    const lease other = take(*one, "other/name");
    const ran listed = run({"ls"});
    BOOST_TEST(listed.code == 0);
    BOOST_TEST(listed.lines.size() == 3u, listed.text());
    BOOST_TEST(listed.has("other/name "));
    BOOST_TEST(listed.has(one->locks().id()));
    BOOST_TEST(run({"ls", "s*k"}).lines.size() == 2u);
    BOOST_TEST(run({"ls", "nothing*"}).says("no lock is held that matches 'nothing*'"));
    const ran json = run({"ls", "--json", "stock"});
    BOOST_TEST(json.has("[{\"name\":\"stock\",\"layout\":\"etcd\""), json.text());
    BOOST_TEST(json.has("\"owner\":\"" + stock.share_owner().id() + "\""));
}

BOOST_AUTO_TEST_CASE(broken_lock_is_granted_to_its_waiter)
{
    const auto one = client();
    const auto two = client();
    lease held = take(*one, "stock");
    const std::string owner = held.share_owner().id();
    auto waiting = two->start_lock("stock", long_lease());
    wait_until([&] { return run({"inspect", "stock"}).has("waiters     1\n"); });
    auto lost = client_thread::start_wait_lost(held);
    BOOST_TEST(run({"break", "stock", "--owner", owner + "0"}).code == 75);
    const ran broken = run({"break", "stock", "--owner", owner});
    BOOST_TEST(broken.code == 0, broken.said);
    BOOST_TEST(broken.has("the next waiter holds it"), broken.text());
    BOOST_TEST(!get(waiting).code);
    BOOST_TEST(get(lost) == errc::lost);
}

BOOST_AUTO_TEST_CASE(unreachable_server_is_reported)
{
    const reserved_port nobody;
    url = "etcd://127.0.0.1:" + std::to_string(nobody.number()) + "?timeout=200";
    const ran listed = run({"ls"});
    BOOST_TEST(listed.code != 0);
    BOOST_TEST(listed.says("127.0.0.1:" + std::to_string(nobody.number())), listed.said);
}

// Of etcdctl, and of concurrency.Mutex.
BOOST_AUTO_TEST_CASE(lock_of_another_library_is_listed_and_broken)
{
    process etcdctl({"etcdctl", "--endpoints", server().address(), "lock",
                     "case" + std::to_string(cases) + "/stock"},
                    {{"ETCDCTL_API", "3"}});
    const std::string key = etcdctl.read_line().value();
    const ran json = run({"ls", "--json"});
    BOOST_TEST(json.has("[{\"name\":\"stock\",\"layout\":\"foreign\""), json.text());
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
