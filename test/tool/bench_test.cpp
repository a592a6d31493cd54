// `leasehold bench`: it measures, and removes its locks.
#include "bench/measurements.hpp"

#include "support/cluster_deployment.hpp"
#include "support/process.hpp"
#include "support/redis_server.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

namespace leasehold::tool::bench {
namespace {

using namespace std::chrono_literals;
using test::redis_server;
using words = std::vector<std::string>;

words bench(const std::string& url, const std::string& time)
{
    return {
        LEASEHOLD_TEST_TOOL, "bench", "--json", "--at-a-time", "5", "--url", url, "--time", time};
}

/// Whether the text has a number with this name that is not 0.
bool has_number(const std::string& json, const std::string& name)
{
    const std::string begin = '"' + name + "\":";
    const std::size_t at = json.find(begin);
    return at != std::string::npos && std::stod(json.substr(at + begin.size())) > 0;
}

void measures(const std::string& url)
{
    test::process running(bench(url, "50ms"));
    const std::string said = running.read_line(60s).value_or("");
    BOOST_TEST(running.wait(60s).code == 0);
    for (const char* const each :
         {"count", "p50_us", "max_us", "locks_per_second", "server_commands_per_lock"})
        BOOST_TEST(has_number(said, each), each << " in " << said);
    BOOST_TEST(said.find("\"server_cpu_us_per_lock\":null") == std::string::npos, said);
}

words keys(const redis_server& server)
{
    auto client = server.connect();
    words all;
    for (const auto& each : client.command({"KEYS", "*"}).items)
        all.push_back(each.text);
    return all;
}

} // namespace

BOOST_AUTO_TEST_SUITE(tool_bench)

BOOST_AUTO_TEST_CASE(percentile_is_one_of_the_measured_durations)
{
    durations some;
    BOOST_TEST((some.percentile(50) == 0ns));
    for (int i = 100; i > 0; --i)
        some.add(std::chrono::nanoseconds(i));
    BOOST_TEST((some.percentile(50) == 50ns));
    BOOST_TEST((some.percentile(99) == 99ns));
    BOOST_TEST((some.percentile(100) == 100ns));
    BOOST_TEST((some.percentile(0) == 1ns));
}

BOOST_AUTO_TEST_CASE(bench_leaves_no_locks_at_a_server)
{
    const redis_server server;
    measures(server.unix_url());
    BOOST_TEST(keys(server) == words{"leasehold:fence"}, boost::test_tools::per_element());
    const redis_server other;
    measures(other.unix_url() + "?layout=redisson");
    BOOST_TEST(keys(other) == words{}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(bench_leaves_only_the_member_key_at_quorum_members)
{
    const redis_server all[] = {redis_server({}, {.tcp = true}), redis_server({}, {.tcp = true}),
                                redis_server({}, {.tcp = true})};
    std::string url = "redlock://";
    for (const redis_server& each : all)
        url += (&each == all ? "" : ",") + ("127.0.0.1:" + std::to_string(each.port()));
    measures(url);
    for (const redis_server& each : all)
        BOOST_TEST(keys(each) == words{"leasehold:quorum"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(bench_leaves_no_locks_in_a_cluster)
{
    test::cluster_deployment cluster({.replicas = false});
    measures(cluster.url());
    for (std::size_t i = 0; i < cluster.size(); ++i) {
        for (const std::string& key : keys(cluster.node(i)))
            BOOST_TEST(key.starts_with("leasehold:fence"), key);
    }
}

BOOST_AUTO_TEST_CASE(bench_removes_its_locks_when_a_signal_ends_it)
{
    const redis_server server;
    auto client = server.connect();
    for (const int signal : {SIGINT, SIGTERM}) {
        client.command({"CONFIG", "RESETSTAT"});
        test::process running(bench(server.unix_url(), "10m"));
        while (client.command({"INFO", "commandstats"}).text.find("cmdstat_set:") ==
               std::string::npos)
            BOOST_TEST_REQUIRE(running.running());
        running.signal(signal);
        BOOST_TEST(running.wait(60s).signal == signal);
        BOOST_TEST(keys(server) == words{"leasehold:fence"}, boost::test_tools::per_element());
    }
}

BOOST_AUTO_TEST_CASE(bench_that_cannot_run_has_its_exit_code)
{
    redis_server server;
    const auto code_of = [](const words& command) { return test::process(command).wait(60s).code; };
    BOOST_TEST(code_of({LEASEHOLD_TEST_TOOL, "bench", "--time", "x"}) == 2);
    BOOST_TEST(code_of({LEASEHOLD_TEST_TOOL, "bench", "key"}) == 2);
    BOOST_TEST(code_of({LEASEHOLD_TEST_TOOL, "bench", "--at-a-time", "0"}) == 2);
    BOOST_TEST(code_of({LEASEHOLD_TEST_TOOL, "bench", "--prefix", "leasehold:x", "--url",
                        server.unix_url()}) == 2);
    server.kill();
    BOOST_TEST(code_of(bench(server.unix_url(), "50ms")) == 77);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace leasehold::tool::bench
