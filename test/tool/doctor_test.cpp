// `leasehold doctor`, at servers that are badly configured on purpose.
#include "doctor/examine.hpp"
#include "doctor/judge.hpp"
#include "doctor/rights.hpp"
#include "doctor/server_facts.hpp"
#include "server/server_connection.hpp"

#include "support/cluster_deployment.hpp"
#include "support/documented_rights.hpp"
#include "support/process.hpp"
#include "support/redis_server.hpp"
#include "support/sentinel_deployment.hpp"
#include "support/shifted_clock.hpp"
#include "support/tls_server.hpp"
#include "tool/words.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::tool::doctor {

namespace {

using namespace std::chrono_literals;
using test::redis_server;
using test::operator+;
using words = std::vector<std::string>;

constexpr int healthy = 0;
constexpr int has_warnings = 1;
constexpr int has_problems = 3;
constexpr int unavailable = 77;

/// The options of a server for which there is no finding.
const words safe_options{"--appendonly", "yes", "--appendfsync", "always"};

struct diagnosis
{
    int code = -1;
    std::string text;

    /// Whether there is a finding with this level and check whose text begins with these words.
    bool has(std::string_view level, std::string_view check, std::string_view what = {}) const
    {
        const std::string begin = std::string("{\"level\":\"")
                                      .append(level)
                                      .append("\",\"check\":\"")
                                      .append(check)
                                      .append("\",");
        for (std::size_t at = text.find(begin); at != text.npos; at = text.find(begin, at + 1)) {
            const std::size_t said = text.find("\"what\":\"", at);
            if (text.find(what, said) < text.find("\"why\":", said))
                return true;
        }
        return false;
    }
    bool has_nothing() const { return text.find("\"findings\":[]") != text.npos; }
};

std::ostream& operator<<(std::ostream& to, const diagnosis& of)
{
    return to << "code " << of.code << ": " << of.text;
}

/// The report on a URL, in one line.
diagnosis diagnose(const std::string& url, const words& more = {})
{
    // No request counts as slow, so a busy machine causes no finding.
    test::process running(words{LEASEHOLD_TEST_TOOL, "doctor", "--json", "--apart", "1ms", "--slow",
                                "1h", "--url", url} +
                          more);
    diagnosis found;
    found.text = running.read_line(60s).value_or("");
    found.code = running.wait(60s).code;
    BOOST_TEST_MESSAGE(found);
    return found;
}

/// Repeats the diagnosis: servers need time to notice the failure of others.
diagnosis diagnose_until(const std::string& url, const std::function<bool(const diagnosis&)>& met)
{
    const auto end = std::chrono::steady_clock::now() + 2min;
    for (;;) {
        diagnosis found = diagnose(url);
        if (met(found) || std::chrono::steady_clock::now() > end)
            return found;
    }
}

bool is_healthy(const diagnosis& found)
{
    return found.code == healthy;
}

} // namespace

BOOST_AUTO_TEST_SUITE(tool_doctor)

BOOST_AUTO_TEST_CASE(well_configured_server_is_healthy_and_keeps_no_lock)
{
    redis_server server(safe_options);
    const diagnosis found = diagnose(server.unix_url());
    BOOST_TEST(found.has_nothing(), found);
    BOOST_TEST(found.code == healthy);
    // The counter of fences exists as soon as any lock was acquired.
    auto client = server.connect();
    const auto keys = client.command({"KEYS", "*"});
    BOOST_TEST_REQUIRE(keys.items.size() == 1u);
    BOOST_TEST(keys.items[0].text == "leasehold:fence");
}

BOOST_AUTO_TEST_CASE(eviction_is_a_problem_if_memory_is_limited)
{
    const redis_server limited(safe_options +
                               words{"--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"});
    const diagnosis found = diagnose(limited.unix_url());
    BOOST_TEST(found.has("problem", "eviction", "allkeys-lru"), found);
    BOOST_TEST(found.code == has_problems);

    const redis_server unlimited(safe_options + words{"--maxmemory-policy", "volatile-ttl"});
    const diagnosis less = diagnose(unlimited.unix_url());
    BOOST_TEST(less.has("warning", "eviction", "volatile-ttl"), less);
    BOOST_TEST(less.code == has_warnings);
}

BOOST_AUTO_TEST_CASE(persistence_that_may_lose_locks_is_reported)
{
    const redis_server nothing;
    BOOST_TEST(diagnose(nothing.unix_url()).has("warning", "persistence", "nothing on disk"));
    const redis_server snapshots({"--save", "60 1000"});
    BOOST_TEST(diagnose(snapshots.unix_url()).has("warning", "persistence", "snapshots only"));
    const redis_server seconds({"--appendonly", "yes", "--appendfsync", "everysec"});
    const diagnosis found = diagnose(seconds.unix_url());
    BOOST_TEST(found.has("note", "persistence", "everysec"), found);
    BOOST_TEST(found.code == healthy);
}

BOOST_AUTO_TEST_CASE(replica_or_cluster_node_in_a_server_url_is_a_problem)
{
    const redis_server master(safe_options, {.tcp = true});
    const redis_server replica(safe_options +
                               words{"--replicaof", "127.0.0.1 " + std::to_string(master.port())});
    const diagnosis found = diagnose(replica.unix_url());
    BOOST_TEST(found.has("problem", "role", "a replica of"), found);
    BOOST_TEST(found.has("problem", "trial"), found);

    const redis_server node(safe_options + words{"--cluster-enabled", "yes"});
    BOOST_TEST(diagnose(node.unix_url()).has("problem", "version", "part of a cluster"));
}

BOOST_AUTO_TEST_CASE(missing_replicas_that_are_required_are_a_problem)
{
    const redis_server server(safe_options + words{"--min-replicas-to-write", "1"});
    const diagnosis found = diagnose(server.unix_url());
    BOOST_TEST(found.has("problem", "replication", "min-replicas-to-write is 1"), found);
    BOOST_TEST(found.has("problem", "trial"), found);
    BOOST_TEST(found.code == has_problems);
}

BOOST_AUTO_TEST_CASE(clock_that_steps_between_two_readings_is_a_problem)
{
    if (!test::shifted_clock::available())
        return;
    for (const auto step : {2'000ms, 0ms, -2'000ms}) {
        test::shifted_clock clock;
        const redis_server server(safe_options, {.environment = clock.environment()});
        boost::asio::io_context context;
        server_connection connection(context, {}, {}, server.socket());
        const redis_config where(server.unix_url());
        server_facts facts = examine(connection, where, {}, "orders:1");
        clock.advance(step);
        facts.clock.push_back(read_clock(connection));
        findings found;
        judge_server(facts, where, 1h, found);
        BOOST_TEST_REQUIRE(found.size() == (step == 0ms ? 0u : 1u));
        if (step == 0ms)
            continue;
        BOOST_TEST(found.front().check == "clock");
        BOOST_TEST((found.front().how_bad == level::problem));
        const std::string direction = step > 0ms ? "stepped ahead by " : "stepped back by ";
        BOOST_TEST(found.front().what.find(direction) != std::string::npos, found.front().what);
    }
}

BOOST_AUTO_TEST_CASE(clocks_are_compared_within_their_uncertainty)
{
    const auto server = [](std::string name, microseconds before, microseconds after,
                           microseconds there) {
        server_facts facts;
        facts.name = std::move(name);
        facts.clock.push_back({.before = before, .after = after, .there = there});
        return facts;
    };
    findings found;
    // The times of the replies leave it possible that the clocks agree.
    judge_clocks({server("a", 0s, 3s, 0s), server("b", 0s, 3s, 3s), server_facts()}, found);
    BOOST_TEST(found.size() == 0u);
    judge_clocks({server("a", 0s, 1s, 1s), server("b", 10s, 11s, 14s)}, found);
    BOOST_TEST_REQUIRE(found.size() == 1u);
    BOOST_TEST(found.front().what == "the clock of b is 2000.0 ms ahead of that of a");
}

namespace {

/// The facts of a server for which there is no finding.
server_facts good_facts()
{
    server_facts facts;
    facts.name = "server";
    facts.info = {{"redis_version", "7.0.15"},
                  {"redis_mode", "standalone"},
                  {"role", "master"},
                  {"maxmemory", "0"},
                  {"maxmemory_policy", "noeviction"},
                  {"used_memory", "1000"},
                  {"loading", "0"},
                  {"maxclients", "1000"},
                  {"connected_clients", "10"},
                  {"rdb_last_bgsave_status", "ok"},
                  {"aof_enabled", "1"},
                  {"aof_last_write_status", "ok"},
                  {"connected_slaves", "1"},
                  {"master_repl_offset", "5000000"},
                  {"slave0", "ip=10.0.0.2,port=6379,state=online,offset=5000000,lag=0"}};
    facts.settings = {{"appendfsync", "always"},
                      {"save", "60 1000"},
                      {"min-replicas-to-write", "0"},
                      {"stop-writes-on-bgsave-error", "yes"}};
    facts.pings.assign(50, 1ms);
    facts.scripts.assign(50, 1ms);
    return facts;
}

using values = std::map<std::string, std::string, std::less<>>;

/// The facts of one server that differ, and the finding that they cause; empty: none.
struct judged_facts
{
    const char* what;
    level how_bad;
    const char* check;
    values info;
    values settings{};
    std::vector<microseconds> pings{}; ///< Empty: as in `good_facts`.
    std::vector<microseconds> scripts{};
    const char* url = "redis://127.0.0.1";
};

std::vector<microseconds> times(microseconds most_often, microseconds once)
{
    std::vector<microseconds> all(49, most_often);
    all.insert(all.begin() + 7, once);
    return all;
}

constexpr const char* nothing = "";
constexpr level no_level = level::note;

/// Each limit from both of its sides.
std::vector<judged_facts> judged()
{
    const auto slave = [](const std::string& rest) {
        return values{{"slave0", "ip=10.0.0.2,port=6379," + rest + ",lag=0"}};
    };
    const char* const cluster = "redis+cluster://127.0.0.1";
    return {
        {nothing, no_level, "", {}},

        {"the server uses 90 % of its maxmemory",
         level::warning,
         "memory",
         {{"maxmemory", "10000"}, {"used_memory", "9000"}}},
        {nothing, no_level, "", {{"maxmemory", "10000"}, {"used_memory", "8999"}}},
        {"the server is loading its data", level::problem, "memory", {{"loading", "1"}}},

        {"900 of 1000 connections are in use",
         level::warning,
         "connections",
         {{"connected_clients", "900"}}},
        {nothing, no_level, "", {{"connected_clients", "899"}}},

        {"timeout is 4: the server closes connections that are idle for this number of seconds",
         level::warning,
         "connections",
         {},
         {{"timeout", "4"}}},
        {nothing, no_level, "", {}, {{"timeout", "5"}}},
        {nothing, no_level, "", {}, {{"timeout", "0"}}},
        {nothing,
         no_level,
         "",
         {},
         {{"timeout", "4"}},
         {},
         {},
         "redis://127.0.0.1?health_check=1900"},

        {"the last snapshot failed",
         level::problem,
         "persistence",
         {{"rdb_last_bgsave_status", "err"}}},
        {"the last snapshot failed",
         level::warning,
         "persistence",
         {{"rdb_last_bgsave_status", "err"}},
         {{"stop-writes-on-bgsave-error", "no"}}},
        {nothing, no_level, "", {{"rdb_last_bgsave_status", "err"}}, {{"save", ""}}},
        {"the append-only file could not be written",
         level::problem,
         "persistence",
         {{"aof_last_write_status", "err"}}},

        {"replica 10.0.0.2:6379 does not follow", level::warning, "replication",
         slave("state=wait_bgsave,offset=0")},
        {"replica 10.0.0.2:6379 is 1000001 bytes behind", level::warning, "replication",
         slave("state=online,offset=3999999")},
        {nothing, no_level, "", slave("state=online,offset=4000000")},

        {"the server is Redis 6.0.20", level::problem, "version", {{"redis_version", "6.0.20"}}},
        {nothing, no_level, "", {{"redis_version", "6.2.0"}}},
        {nothing, no_level, "", {{"redis_version", "10.0.0"}}},
        {nothing, no_level, "", {{"redis_version", "4.0.0"}, {"valkey_version", "8.0.1"}}},
        {"the server is Redis 6.2.14",
         level::warning,
         "version",
         {{"redis_version", "6.2.14"}, {"redis_mode", "cluster"}},
         {},
         {},
         {},
         cluster},
        {nothing,
         no_level,
         "",
         {{"redis_mode", "cluster"}, {"redis_version", "7.0.0"}},
         {},
         {},
         {},
         cluster},
        {"the server is part of a cluster", level::problem, "version", {{"redis_mode", "cluster"}}},
        {"the server is a Sentinel", level::problem, "version", {{"redis_mode", "sentinel"}}},

        // For a server that counts as slow from 50 ms on.
        {"a round trip takes 50.1 ms",
         level::warning,
         "latency",
         {},
         {},
         times(50'100us, 50'100us),
         times(50'100us, 50'100us)},
        {nothing, no_level, "", {}, {}, times(50ms, 50ms), times(50ms, 50ms)},
        {"a script that does nothing takes 6.1 ms, a PING 1.0 ms",
         level::warning,
         "latency",
         {},
         {},
         {},
         times(6'100us, 6'100us)},
        {nothing, no_level, "", {}, {}, {}, times(6ms, 6ms)},
        {"one of 100 requests took 500.1 ms",
         level::warning,
         "latency",
         {},
         {},
         times(1ms, 500'100us)},
        {"one of 100 requests took 500.1 ms",
         level::warning,
         "latency",
         {},
         {},
         {},
         times(1ms, 500'100us)},
        {nothing, no_level, "", {}, {}, times(1ms, 500ms), times(1ms, 500ms)},
    };
}

} // namespace

BOOST_AUTO_TEST_CASE(each_fact_of_a_server_causes_its_finding)
{
    for (const judged_facts& each : judged()) {
        server_facts facts = good_facts();
        for (const auto& [key, value] : each.info)
            facts.info.insert_or_assign(key, value);
        for (const auto& [key, value] : each.settings)
            facts.settings.insert_or_assign(key, value);
        if (!each.pings.empty())
            facts.pings = each.pings;
        if (!each.scripts.empty())
            facts.scripts = each.scripts;
        findings found;
        judge_server(facts, redis_config(each.url), 50ms, found);
        // Every cluster gets the note that replicas follow asynchronously.
        std::erase_if(found, [](const finding& of) { return of.how_bad == level::note; });
        std::string text;
        for (const finding& of : found)
            text.append(of.check).append(": ").append(of.what).append("\n");
        BOOST_TEST_CONTEXT("expected '" << each.what << "', found " << text)
        {
            const bool is_one = each.what != std::string_view(nothing);
            BOOST_TEST(found.size() == (is_one ? 1u : 0u));
            if (!is_one || found.empty())
                continue;
            BOOST_TEST((found.front().how_bad == each.how_bad));
            BOOST_TEST(found.front().check == each.check);
            BOOST_TEST(found.front().server == "server");
            BOOST_TEST(found.front().what == each.what);
            BOOST_TEST(!found.front().why.empty());
            BOOST_TEST(!found.front().remedy.empty());
        }
    }
}

BOOST_AUTO_TEST_CASE(sentinel_in_a_server_url_is_a_problem)
{
    const test::sentinel_deployment deployment(safe_options);
    const diagnosis found = diagnose("redis://127.0.0.1:" +
                                     std::to_string(deployment.sentinel_port(0)));
    BOOST_TEST(found.has("problem", "version", "the server is a Sentinel"), found);
    BOOST_TEST(found.has("problem", "trial"), found);
    // A Sentinel stores nothing on disk, and needs no user with more rights.
    BOOST_TEST(!found.has("warning", "persistence"), found);
    BOOST_TEST(!found.has("note", "unanswered"), found);
    BOOST_TEST(found.code == has_problems);
}

BOOST_AUTO_TEST_CASE(right_that_a_user_lacks_is_named)
{
    redis_server server(safe_options);
    auto client = server.connect();
    client.command({"ACL", "SETUSER", "locks", "on", ">secret", "allkeys", "allchannels", "+@all",
                    "-incrby", "-publish", "-@admin", "-@dangerous"});
    const std::string url = "unix://locks:secret@" + server.socket();
    const diagnosis found = diagnose(url, {"--admin", server.unix_url()});
    BOOST_TEST(found.has("problem", "rights", "the user 'locks' lacks +incrby\""), found);
    BOOST_TEST(found.has("warning", "rights", "the user 'locks' lacks +publish"), found);
    BOOST_TEST(found.has("problem", "trial", "INCRBY"), found);
    BOOST_TEST(found.code == has_problems);
    // This user has no right to ask, and the omitted checks are reported.
    const diagnosis less = diagnose(url);
    BOOST_TEST(less.has("note", "unanswered", "ACL DRYRUN"), less);
    BOOST_TEST(less.has("warning", "unanswered", "INFO"), less);
    BOOST_TEST(less.has("problem", "trial", "INCRBY"), less);
}

BOOST_AUTO_TEST_CASE(lock_of_another_owner_is_left_unchanged)
{
    redis_server server(safe_options);
    auto client = server.connect();
    client.command({"SET", "job", "another", "PX", "60000"});
    const diagnosis found = diagnose(server.unix_url(), {"job"});
    BOOST_TEST(found.has("note", "trial", "'job' is held"), found);
    BOOST_TEST(found.code == healthy);
    BOOST_TEST(client.command({"GET", "job"}).text == "another");
}

BOOST_AUTO_TEST_CASE(unreachable_or_refusing_server_has_its_exit_code)
{
    redis_server server(safe_options + words{"--requirepass", "secret"});
    const diagnosis refused = diagnose(server.unix_url());
    BOOST_TEST(refused.code == unavailable);
    BOOST_TEST(refused.has("problem", "reachable", "NOAUTH"), refused);
    server.kill();
    const diagnosis gone = diagnose(server.unix_url());
    BOOST_TEST(gone.code == unavailable);
    BOOST_TEST(gone.has("problem", "reachable", "cannot be reached"), gone);
    BOOST_TEST(diagnose(server.unix_url(), {"a", "b"}).code == 2);
    BOOST_TEST(diagnose("memory:").code == 2);
    BOOST_TEST(diagnose(server.unix_url(), {"--admin", "redlock://a,b,c"}).code == 2);
}

BOOST_AUTO_TEST_CASE(advice_fits_the_reason_of_a_failed_connection)
{
    struct row
    {
        std::string url;
        std::string_view advice;
    };
    redis_server server(safe_options + words{"--requirepass", "secret"}, {.tcp = true});
    const test::tls_server secure("DNS:elsewhere.example");
    const row rows[] = {
        {"redis://:wrong@127.0.0.1:" + std::to_string(server.port()), "Correct the user and the"},
        {"redis://no-such-host.invalid", "Correct the host in the URL"},
        {"unix:///no/such/socket", "Check if the server runs and listens"},
        {secure.url("localhost", "ca=" + secure.own.text), "Use a host in the URL that the"},
        {secure.url("localhost", ""), "Pass the file of the authority"},
    };
    for (const row& each : rows) {
        const diagnosis found = diagnose(each.url);
        BOOST_TEST(found.text.find(each.advice) != std::string::npos, found);
    }
}

BOOST_AUTO_TEST_CASE(sentinels_and_replicas_that_are_down_are_reported)
{
    test::sentinel_deployment deployment(safe_options);
    const diagnosis whole = diagnose_until(deployment.url(), is_healthy);
    BOOST_TEST(whole.has("note", "replication", "2 replica(s) follow"), whole);
    BOOST_TEST(whole.code == healthy);

    deployment.server((deployment.master_index() + 1) % 3).kill();
    const diagnosis less = diagnose_until(deployment.url(), [](const diagnosis& found) {
        return found.has("warning", "sentinel", "replica ") && found.code == has_warnings;
    });
    BOOST_TEST(less.code == has_warnings, less);

    deployment.kill_sentinel(1);
    deployment.kill_sentinel(2);
    const diagnosis few = diagnose_until(deployment.url(), [](const diagnosis& found) {
        return found.has("problem", "sentinel", "there is no quorum now");
    });
    BOOST_TEST(few.has("warning", "sentinel", "127.0.0.1:"), few);
    BOOST_TEST(few.code == has_problems, few);
}

BOOST_AUTO_TEST_CASE(cluster_node_that_is_down_is_named)
{
    test::cluster_deployment cluster({.options = safe_options, .node_timeout = 1s});
    const diagnosis whole = diagnose_until(cluster.url(), is_healthy);
    BOOST_TEST(whole.code == healthy, whole);
    cluster.node(cluster.other_of(0)).kill();
    const diagnosis less = diagnose_until(cluster.url(), [](const diagnosis& found) {
        return found.has("warning", "cluster", "the node is down") && found.code == has_warnings;
    });
    BOOST_TEST(less.has("warning", "cluster", "the master has no replica"), less);
    BOOST_TEST(less.code == has_warnings);
    cluster.node(0).kill();
    const diagnosis down = diagnose_until(cluster.url(), [](const diagnosis& found) {
        return found.has("problem", "cluster", "the node is down");
    });
    BOOST_TEST(down.code == has_problems, down);
}

BOOST_AUTO_TEST_CASE(missing_or_repeated_quorum_member_is_reported)
{
    redis_server one(safe_options, {.tcp = true});
    redis_server two(safe_options, {.tcp = true});
    redis_server three(safe_options, {.tcp = true});
    const auto member = [](const redis_server& of) {
        return "127.0.0.1:" + std::to_string(of.port());
    };
    const std::string url = "redlock://" + member(one) + ',' + member(two) + ',' + member(three);
    const diagnosis whole = diagnose(url);
    BOOST_TEST(whole.has_nothing(), whole);
    BOOST_TEST(whole.code == healthy);

    const std::string same = "localhost:" + std::to_string(one.port());
    BOOST_TEST(diagnose("redlock://" + member(one) + ',' + member(two) + ',' + same)
                   .has("problem", "quorum", "are the same server"));

    three.kill();
    const diagnosis less = diagnose(url);
    BOOST_TEST(less.has("warning", "reachable"), less);
    BOOST_TEST(less.has("warning", "quorum", "only as many members as needed"), less);
    BOOST_TEST(less.code == has_warnings);
    two.kill();
    const diagnosis few = diagnose(url);
    BOOST_TEST(few.has("problem", "quorum", "1 of 3"), few);
    BOOST_TEST(few.code == has_problems);
}

BOOST_AUTO_TEST_CASE(missing_right_that_locks_do_not_need_is_a_warning)
{
    redis_server server(safe_options);
    server.connect().done(
        {"ACL", "SETUSER", "locks", "on", ">secret", "~*", "&*", "+@all", "-client|info"});
    const words admin{"--admin", server.unix_url()};
    const diagnosis found = diagnose(test::url_for("locks", server.unix_url()), admin);
    BOOST_TEST(found.has("warning", "rights", "the user 'locks' lacks +client|info"), found);
    BOOST_TEST(!found.has("problem", "rights"), found);
    // Locks do not work without EVALSHA.
    server.connect().done({"ACL", "SETUSER", "locks", "-evalsha", "-eval", "-set"});
    const diagnosis bad = diagnose(test::url_for("locks", server.unix_url()), admin);
    BOOST_TEST(bad.has("problem", "rights"), bad);
    BOOST_TEST(bad.code == has_problems);
}

BOOST_AUTO_TEST_CASE(replicas_that_do_not_follow_cannot_take_over)
{
    server_facts facts = good_facts();
    facts.info["slave0"] = "ip=10.0.0.2,port=6379,state=wait_bgsave,offset=0,lag=0";
    findings found;
    judge_server(facts, redis_config("redis+sentinel://127.0.0.1/main"), 50ms, found);
    BOOST_TEST(std::any_of(found.begin(), found.end(), [](const finding& each) {
        return each.how_bad == level::warning && each.why == "If it fails, no server takes over.";
    }));
}

namespace {

/// The rights that the documentation lists after this text, for the users of one kind of URL.
words rights_of_documentation(const std::string& before)
{
    words found = test::documented_rights(before);
    std::erase_if(found, [](const std::string& word) {
        return std::string_view("+~&").find(word[0]) == std::string_view::npos;
    });
    return found;
}

words missing(test::resp_client& client, server_connection& server, const std::string& url,
              const words& rights)
{
    client.command({"ACL", "DELUSER", "locks"});
    client.command(words{"ACL", "SETUSER", "locks", "resetkeys", "resetchannels", "-@all"} +
                   rights);
    server_facts facts;
    facts.user = "locks";
    ask_rights(server, redis_config(url), "orders:1", facts);
    BOOST_TEST_REQUIRE(facts.rights.has_value());
    words found;
    for (const right& each : *facts.rights) {
        // Only some servers have these commands. The text names the servers.
        const bool is_extra = each.command == "delifeq" || each.command == "delex";
        if (!each.refusal.empty() && !is_extra)
            found.push_back('+' + each.command);
    }
    return found;
}

struct deployment_kind
{
    const char* url;
    words rights;
};

} // namespace

namespace {

/// Creates the documented user of the tool with these rights, and returns the URL that names it.
std::string make_admin(test::resp_client client, const std::string& url, const words& rights)
{
    client.command({"ACL", "DELUSER", "asks"});
    client.command(words{"ACL", "SETUSER", "asks", "on", ">secret", "-@all"} + rights);
    return test::url_for("asks", url);
}

/// Whether no check was omitted.
bool asks_everything(const diagnosis& found)
{
    return found.code != unavailable && !found.has("note", "unanswered") &&
           !found.has("warning", "unanswered") && !found.has("problem", "reachable");
}

} // namespace

BOOST_AUTO_TEST_CASE(documented_rights_of_doctor_are_enough_and_needed)
{
    const words all = rights_of_documentation("\nACL SETUSER leasehold_doctor");
    const auto is_of_cluster = [](const std::string& right) {
        return right.starts_with("+cluster|");
    };
    words rights = all;
    std::erase_if(rights, is_of_cluster);
    redis_server server(safe_options, {.tcp = true});
    const auto ask_with = [&](const words& some) {
        const std::string admin = make_admin(server.connect(), server.tcp_url(), some);
        return diagnose(server.unix_url(), {"--admin", admin});
    };
    const diagnosis whole = ask_with(rights);
    BOOST_TEST(whole.has_nothing(), whole);
    for (const std::string& right : rights) {
        words rest = rights;
        std::erase(rest, right);
        const diagnosis less = ask_with(rest);
        BOOST_TEST(!asks_everything(less), right << ": " << less);
    }
    BOOST_TEST(all.size() == rights.size() + 3);
}

BOOST_AUTO_TEST_CASE(documented_rights_of_doctor_suffice_in_a_cluster)
{
    const words rights = rights_of_documentation("\nACL SETUSER leasehold_doctor");
    test::cluster_deployment cluster({.replicas = false, .options = safe_options});
    const auto ask_with = [&](const words& some) {
        std::string admin;
        for (std::size_t i = 0; i < cluster.size(); ++i)
            admin = make_admin(cluster.connect(i), cluster.url(), some);
        return diagnose(cluster.url(), {"--admin", admin});
    };
    const diagnosis whole = ask_with(rights);
    BOOST_TEST(asks_everything(whole), whole);
    for (const std::string& right : rights) {
        words rest = rights;
        std::erase(rest, right);
        const diagnosis less = ask_with(rest);
        BOOST_TEST(!asks_everything(less), right << ": " << less);
    }
}

BOOST_AUTO_TEST_CASE(doctor_asks_for_exactly_the_documented_rights)
{
    redis_server server;
    auto client = server.connect();
    boost::asio::io_context context;
    server_connection connection(context, {}, {}, server.socket());
    const words native = rights_of_documentation("## Rights");
    const words redisson = rights_of_documentation("With `layout=redisson`:");
    const words cluster = rights_of_documentation("In a cluster, on each node");
    const deployment_kind kinds[] = {
        {"redis://h", native},
        {"redis://h?layout=redisson", redisson},
        {"redis+cluster://h", native + cluster},
        {"redis+cluster://h?layout=redisson", redisson + cluster},
        {"redlock://a,b,c", rights_of_documentation("At each member of a `redlock://`")},
    };
    for (const deployment_kind& each : kinds) {
        BOOST_TEST_CONTEXT(each.url)
        {
            BOOST_TEST(missing(client, connection, each.url, each.rights) == words{},
                       boost::test_tools::per_element());
            for (const std::string& right : each.rights) {
                if (right == "~leasehold:client:*") // for users; locks do not need it
                    continue;
                words rest = each.rights;
                std::erase(rest, right);
                const words found = missing(client, connection, each.url, rest);
                if (right[0] == '+')
                    BOOST_TEST(found == words{right}, boost::test_tools::per_element());
                else
                    BOOST_TEST(!found.empty(), right);
            }
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace leasehold::tool::doctor
