// `leasehold doctor` with ZooKeeper, on the test's own servers.
#include "doctor/zookeeper_judge.hpp"
#include "support/client_thread.hpp"
#include "support/port.hpp"
#include "support/zookeeper_server.hpp"
#include "tool/tool_runs.hpp"
#include "zookeeper/operator_session.hpp"

#include <leasehold/zookeeper.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace leasehold::test {
namespace {

using namespace std::chrono_literals;
using namespace leasehold::tool::doctor;
using words = std::vector<std::string>;

struct doctor_fixture : tool_runs
{
    static zookeeper_server& server()
    {
        static zookeeper_server one;
        return one;
    }

    static std::string url_of(const std::string& hosts, const std::string& more = "tick=200")
    {
        return "zookeeper://" + hosts + "/app/locks?session=4000&timeout=5000&" + more;
    }

    ran examine(const std::string& url, words arguments = {})
    {
        arguments.insert(arguments.begin(), "doctor");
        return run(arguments, url);
    }
};

boost::test_tools::assertion_result with_zookeeper(boost::unit_test::test_unit_id)
{
    const std::string missing = zookeeper_server::missing();
    boost::test_tools::assertion_result result(missing.empty());
    result.message() << missing;
    return result;
}

findings judged(const std::vector<zookeeper_facts>& all, const std::string& url)
{
    findings found;
    judge_zookeeper(all, zookeeper_config(url), 50ms, found);
    return found;
}

zookeeper_facts facts_of(const std::string& name)
{
    zookeeper_facts made;
    made.name = name;
    made.version = "3.9.2";
    made.role = "follower";
    made.granted = 10s;
    made.tick = 2s;
    made.voters = std::vector<std::string>{"zk1", "zk2", "zk3"};
    return made;
}

} // namespace

BOOST_AUTO_TEST_SUITE(doctor_without_a_server)

BOOST_AUTO_TEST_CASE(voters_are_read_from_the_configuration_of_an_ensemble)
{
    const words expected{"zk1", "10.0.0.2"};
    BOOST_TEST(voters_of("server.1=zk1:2888:3888:participant;0.0.0.0:2181\n"
                         "server.2=10.0.0.2:2888:3888\n"
                         "server.3=zk3:2888:3888:observer;2181\nversion=100000000") == expected,
               boost::test_tools::per_element());
    BOOST_TEST(voters_of("").empty());
}

BOOST_AUTO_TEST_CASE(quotas_are_read_with_their_use)
{
    const auto soft = quotas_of("/app", "count=10,bytes=-1", "count=4,bytes=30");
    BOOST_TEST_REQUIRE(soft.size() == 1u);
    BOOST_TEST(soft.front().unit == "nodes");
    BOOST_TEST(soft.front().most == 10);
    BOOST_TEST(soft.front().used == 4);
    const auto hard = quotas_of("/app", "count=-1,bytes=-1=;byteHardLimit=500;countHardLimit=-1",
                                "count=4,bytes=30");
    BOOST_TEST_REQUIRE(hard.size() == 1u);
    BOOST_TEST(hard.front().unit == "bytes");
    BOOST_TEST(hard.front().most == 500);
    BOOST_TEST(quotas_of("/app", "", "").empty());
}

BOOST_AUTO_TEST_CASE(complete_ensemble_has_no_finding)
{
    BOOST_TEST(judged({facts_of("zk1"), facts_of("zk2")}, "zookeeper://zk1,zk2,zk3").empty());
}

BOOST_AUTO_TEST_CASE(url_that_names_some_of_the_servers_is_reported)
{
    const findings found = judged({facts_of("zk1")}, "zookeeper://zk1");
    BOOST_TEST_REQUIRE(found.size() == 1u);
    BOOST_TEST(found.front().check == "url");
    BOOST_TEST(found.front().what == "the URL names 1 of 3 servers; all are: zk1, zk2, zk3");
}

BOOST_AUTO_TEST_CASE(ensemble_of_two_servers_is_reported)
{
    zookeeper_facts one = facts_of("zk1");
    one.voters = words{"zk1", "zk2"};
    const findings found = judged({one}, "zookeeper://zk1,zk2");
    BOOST_TEST_REQUIRE(found.size() == 1u);
    BOOST_TEST(found.front().check == "servers");
    BOOST_TEST(found.front().what == "two servers vote");
}

BOOST_AUTO_TEST_CASE(session_that_is_too_short_for_a_lease_is_a_problem)
{
    zookeeper_facts one = facts_of("zk1");
    one.granted = 6s;
    const findings found = judged({one}, "zookeeper://zk1,zk2,zk3");
    BOOST_TEST_REQUIRE(found.size() == 1u);
    BOOST_TEST(found.front().check == "session");
    BOOST_TEST((found.front().how_bad == level::problem));
}

BOOST_AUTO_TEST_CASE(server_whose_version_is_unknown_is_noted)
{
    zookeeper_facts one = facts_of("zk1");
    one.version = one.role = {};
    const findings found = judged({one}, "zookeeper://zk1,zk2,zk3");
    BOOST_TEST_REQUIRE(found.size() == 1u);
    BOOST_TEST(found.front().check == "details");
    BOOST_TEST((found.front().how_bad == level::note));
}

BOOST_AUTO_TEST_CASE(slow_round_trips_are_reported)
{
    zookeeper_facts one = facts_of("zk1");
    one.pings.assign(20, 80ms);
    const findings found = judged({one}, "zookeeper://zk1,zk2,zk3");
    BOOST_TEST_REQUIRE(found.size() == 1u);
    BOOST_TEST(found.front().what == "the median of 20 round trips is 80 ms");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(with_zookeeper))
BOOST_FIXTURE_TEST_SUITE(doctor_with_zookeeper, doctor_fixture)

BOOST_AUTO_TEST_CASE(server_is_shown_and_its_weakness_reported)
{
    const ran seen = examine(url_of(server().address()));
    BOOST_TEST(seen.code == 1, seen.said);
    BOOST_TEST(seen.has(server().address() + ": ZooKeeper 3."), seen.text());
    BOOST_TEST(seen.has(", standalone, session of 4000 ms, ping "), seen.text());
    BOOST_TEST(seen.has("warning: servers"), seen.text());
    BOOST_TEST(seen.has("0 problems, 1 warning, 0 notes"), seen.text());
    BOOST_TEST(examine(url_of(server().address()), {"--json"}).has("\"product\":\"zookeeper\""));
}

BOOST_AUTO_TEST_CASE(tick_that_is_too_short_is_a_problem)
{
    const ran seen = examine(url_of(server().address(), "tick=100"));
    BOOST_TEST(seen.code == 3, seen.said);
    BOOST_TEST(seen.has("problem: tick of "), seen.text());
    BOOST_TEST(seen.has("Use tick=200 in the URL."), seen.text());
}

BOOST_AUTO_TEST_CASE(session_timeout_beyond_the_limit_of_the_server_is_reported)
{
    const ran seen = examine("zookeeper://" + server().address() + "?session=90000&tick=200");
    BOOST_TEST(seen.has("warning: session of "), seen.text());
    BOOST_TEST(seen.has("Use session=60000 in the URL"), seen.text());
}

BOOST_AUTO_TEST_CASE(tick_is_derived_from_the_shortest_session_without_the_command_conf)
{
    zookeeper_server silent({"4lw.commands.whitelist=ruok"});
    const ran seen = examine(url_of(silent.address(), "tick=100"));
    BOOST_TEST(seen.has("warning: tick of "), seen.text());
    BOOST_TEST(seen.has("Use tick=200 in the URL, unless"), seen.text());
    BOOST_TEST(examine(url_of(silent.address())).has("0 problems, 1 warning, 0 notes"));
}

BOOST_AUTO_TEST_CASE(quota_of_the_root_is_reported)
{
    using zookeeper_store::node_kind;
    operator_session as_operator("zookeeper://" + server().address() + "?session=60000&tick=200");
    for (const char* const each : {"/quoted", "/zookeeper/quota/quoted"})
        as_operator.create(each, node_kind::persistent);
    as_operator.ask(zookeeper_store::create_node(node_kind::persistent,
                                                 "/zookeeper/quota/quoted/zookeeper_limits",
                                                 "count=5,bytes=-1", false));
    as_operator.ask(zookeeper_store::create_node(node_kind::persistent,
                                                 "/zookeeper/quota/quoted/zookeeper_stats",
                                                 "count=1,bytes=0", false));
    const ran seen = examine("zookeeper://" + server().address() + "/quoted?tick=200&session=4000");
    BOOST_TEST(seen.has("note: quota"), seen.text());
    BOOST_TEST(seen.has("/quoted has a quota of 5 nodes, and "), seen.text());
}

BOOST_AUTO_TEST_CASE(user_without_rights_is_reported)
{
    client_thread owner(make_zookeeper_store(zookeeper_config(
        "zookeeper://orders:secret@" + server().address() + "/private?session=4000&tick=200")));
    BOOST_TEST(!owner.try_lock("lock", {}).code);
    const ran seen = examine("zookeeper://" + server().address() +
                             "/private?session=4000&tick=200");
    BOOST_TEST(seen.code == 3, seen.said);
    BOOST_TEST(seen.has("problem: trial"), seen.text());
    BOOST_TEST(seen.has("Grant the user all rights on the root node"), seen.text());
}

BOOST_AUTO_TEST_CASE(servers_that_are_no_ensemble_are_a_problem)
{
    zookeeper_server other;
    const ran seen = examine(url_of(server().address() + ',' + other.address()));
    BOOST_TEST(seen.code == 3, seen.said);
    BOOST_TEST(seen.has("problem: ensemble"), seen.text());
}

BOOST_AUTO_TEST_CASE(unreachable_servers_are_reported)
{
    const reserved_port nothing;
    const std::string missing = "127.0.0.1:" + std::to_string(nothing.number());
    const ran some = examine(url_of(server().address() + ',' + missing));
    BOOST_TEST(some.code == 1, some.said);
    BOOST_TEST(some.has("warning: reachable of " + missing), some.text());
    const ran none = examine(url_of(missing));
    BOOST_TEST(none.code == 77, none.said);
    BOOST_TEST(none.has("problem: reachable of " + missing), none.text());
}

BOOST_AUTO_TEST_CASE(held_lock_is_noted)
{
    client_thread holder(make_zookeeper_store(zookeeper_config(url_of(server().address()))));
    const taken held = holder.lock("stock", {});
    BOOST_TEST(!held.code);
    const ran tried = examine(url_of(server().address()), {"stock"});
    BOOST_TEST(tried.has("note: trial"), tried.text());
    BOOST_TEST(tried.has("'stock' is held by another owner"), tried.text());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace leasehold::test
