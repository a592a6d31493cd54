// `leasehold doctor` with etcd, on the test's own servers.
#include "doctor/etcd_judge.hpp"
#include "support/client_thread.hpp"
#include "support/etcd_server.hpp"
#include "support/port.hpp"
#include "tool/tool_runs.hpp"

#include <leasehold/etcd.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace leasehold::test {
namespace {

using namespace std::chrono_literals;
using namespace leasehold::tool::doctor;

struct doctor_fixture : tool_runs
{
    static etcd_server& server()
    {
        static etcd_server one;
        return one;
    }

    static std::string url_of(const std::string& hosts)
    {
        return "etcd://" + hosts + "/app/locks?timeout=5000";
    }

    ran examine(const std::string& url, std::vector<std::string> arguments = {})
    {
        arguments.insert(arguments.begin(), "doctor");
        return run(arguments, url);
    }
};

boost::test_tools::assertion_result with_etcd(boost::unit_test::test_unit_id)
{
    const std::string missing = etcd_server::missing();
    boost::test_tools::assertion_result result(missing.empty());
    result.message() << missing;
    return result;
}

findings judged(const std::vector<etcd_facts>& all, const std::string& url)
{
    findings found;
    judge_etcd(all, etcd_config(url), 50ms, found);
    return found;
}

etcd_facts facts_of(const std::string& name)
{
    etcd_facts made;
    made.name = name;
    made.version = "3.5.21";
    made.cluster = "1";
    made.granted = 10s;
    made.members = {"http://etcd1:2379", "http://etcd2:2379", "http://etcd3:2379"};
    made.alarms.emplace();
    return made;
}

} // namespace

BOOST_AUTO_TEST_SUITE(doctor_without_a_server)

BOOST_AUTO_TEST_CASE(complete_cluster_has_no_finding)
{
    BOOST_TEST(judged({facts_of("etcd1"), facts_of("etcd2")}, "etcd://etcd1,etcd2,etcd3").empty());
}

BOOST_AUTO_TEST_CASE(servers_of_different_clusters_are_a_problem)
{
    etcd_facts other = facts_of("etcd2");
    other.cluster = "2";
    const findings found = judged({facts_of("etcd1"), other}, "etcd://etcd1,etcd2");
    BOOST_TEST_REQUIRE(found.size() == 1u);
    BOOST_TEST(found.front().check == "cluster");
    BOOST_TEST((found.front().how_bad == level::problem));
}

BOOST_AUTO_TEST_CASE(url_that_names_some_of_the_members_is_reported)
{
    const findings found = judged({facts_of("etcd1")}, "etcd://etcd1");
    BOOST_TEST_REQUIRE(found.size() == 1u);
    BOOST_TEST(found.front().what ==
               "the URL names 1 of 3 members; all are: http://etcd1:2379, http://etcd2:2379, "
               "http://etcd3:2379");
}

BOOST_AUTO_TEST_CASE(versions_that_revoke_leases_late_are_reported)
{
    for (const char* version : {"3.4.23", "3.5.0", "3.5.12", "3.4.30"}) {
        etcd_facts one = facts_of("etcd1");
        one.version = version;
        const findings found = judged({one}, "etcd://etcd1,etcd2,etcd3");
        BOOST_TEST_REQUIRE(found.size() == 1u, version);
        BOOST_TEST(found.front().check == "version");
    }
    for (const char* version : {"3.4.31", "3.5.13", "3.6.0", "3.10.1"}) {
        etcd_facts one = facts_of("etcd1");
        one.version = version;
        BOOST_TEST(judged({one}, "etcd://etcd1,etcd2,etcd3").empty(), version);
    }
}

BOOST_AUTO_TEST_CASE(alarm_of_the_cluster_is_a_problem)
{
    etcd_facts one = facts_of("etcd1");
    one.alarms->push_back("NOSPACE");
    const findings found = judged({one}, "etcd://etcd1,etcd2,etcd3");
    BOOST_TEST_REQUIRE(found.size() == 1u);
    BOOST_TEST(found.front().what == "the cluster has the alarm NOSPACE");
    BOOST_TEST((found.front().how_bad == level::problem));
}

BOOST_AUTO_TEST_CASE(longer_ttl_and_slow_round_trips_are_reported)
{
    etcd_facts one = facts_of("etcd1");
    one.granted = 15s;
    one.pings.assign(20, 80ms);
    const findings found = judged({one}, "etcd://etcd1,etcd2,etcd3");
    BOOST_TEST_REQUIRE(found.size() == 2u);
    BOOST_TEST(found.front().check == "session");
    BOOST_TEST(found.back().what == "the median of 20 round trips is 80 ms");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(with_etcd))
BOOST_FIXTURE_TEST_SUITE(doctor_with_etcd, doctor_fixture)

BOOST_AUTO_TEST_CASE(server_is_shown_and_its_weakness_reported)
{
    const ran seen = examine(url_of(server().address()));
    BOOST_TEST(seen.code == 1, seen.said);
    BOOST_TEST(seen.has(server().address() + ": etcd 3."), seen.text());
    BOOST_TEST(seen.has(", leader, database of "), seen.text());
    BOOST_TEST(seen.has("warning: servers"), seen.text());
    BOOST_TEST(seen.has("0 problems, "), seen.text());
    BOOST_TEST(examine(url_of(server().address()), {"--json"}).has("\"product\":\"etcd\""));
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
    client_thread holder(make_etcd_store(etcd_config(url_of(server().address()))));
    const taken held = holder.lock("stock", {});
    BOOST_TEST(!held.code);
    const ran tried = examine(url_of(server().address()), {"stock"});
    BOOST_TEST(tried.has("note: trial"), tried.text());
    BOOST_TEST(tried.has("'stock' is held by another owner"), tried.text());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace leasehold::test
