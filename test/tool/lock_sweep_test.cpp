// The reads of `leasehold watch` on a server with many keys.
#include "tool/tool_runs.hpp"

#include "redis/lock_reader.hpp"
#include "redis/lock_sweep.hpp"

#include "support/cluster_deployment.hpp"
#include "support/print.hpp"
#include "support/quorum_deployment.hpp"
#include "support/redis_server.hpp"
#include "support/tested_layout.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <string>

namespace leasehold::test {
namespace {

using namespace std::chrono_literals;

/// The key of a lock whose holder does not exist.
void put_lock(resp_client& server, const std::string& name)
{
    const std::string mark = tested_layout() == redis_config::key_layout::native ? "lh:" : "";
    take_for(server, name, mark + "5e0f8c21-3a1c-4a50-9cd4-0b8a5d4e7f10:1", 600s);
}

bool is_listed(const tool::lock_list& all, const std::string& name)
{
    for (const tool::lock_state& each : all.locks) {
        if (each.name == name)
            return true;
    }
    return false;
}

boost::test_tools::assertion_result of_one_layout(boost::unit_test::test_unit_id)
{
    return tested_layout() == redis_config::key_layout::native;
}

} // namespace

BOOST_AUTO_TEST_SUITE(tool_lock_sweep)

BOOST_AUTO_TEST_CASE(known_locks_are_read_each_time_and_others_in_steps)
{
    redis_server server;
    auto store = server.connect();
    for (int i = 0; i < 20'000; ++i)
        store.done({"SET", "key" + std::to_string(i), "value"});
    put_lock(store, "known");
    boost::asio::io_context context{1};
    tool::servers where(context, redis_config(server.unix_url()));
    tool::lock_list first = tool::lock_reader(where).list("*");
    BOOST_TEST_REQUIRE(first.complete);
    BOOST_TEST_REQUIRE(is_listed(first, "known"));
    tool::lock_sweep sweep("*", first.locks);
    put_lock(store, "new");
    const std::uint64_t scans = store.calls("scan");
    std::uint64_t calls = 0;
    for (bool found = false; !found; found = is_listed(sweep.next(where, 0ns), "new")) {
        // A sweep has a page for each thousand keys, approximately, of each type.
        BOOST_TEST_REQUIRE(++calls <= 100u);
        BOOST_TEST_REQUIRE(store.calls("scan") - scans == calls - 1);
    }
    BOOST_TEST(calls > 0u);
    // Both are known now, whatever the sweep reads.
    store.done({"DEL", "known"});
    const tool::lock_list after = sweep.next(where, 0ns);
    BOOST_TEST(after.complete);
    BOOST_TEST(is_listed(after, "new"));
    BOOST_TEST(!is_listed(after, "known"));
    // With enough time, each call is a whole sweep and no more. The server may be moving its keys
    // to a larger table, which changes the number of pages a little.
    static_cast<void>(sweep.next(where, 1h));
    const std::uint64_t before = store.calls("scan");
    static_cast<void>(sweep.next(where, 1h));
    const std::uint64_t whole = store.calls("scan") - before;
    BOOST_TEST(whole >= 20u);
    put_lock(store, "another");
    BOOST_TEST(is_listed(sweep.next(where, 1h), "another"));
    const std::uint64_t both = store.calls("scan") - before;
    BOOST_TEST(both >= 2 * whole - whole / 10);
    BOOST_TEST(both <= 2 * whole + whole / 10);
}

BOOST_AUTO_TEST_CASE(locks_of_a_cluster_are_found_on_each_node)
{
    cluster_deployment cluster({.replicas = false});
    boost::asio::io_context context{1};
    tool::servers where(context, redis_config(cluster.url()));
    tool::lock_sweep sweep("name*", tool::lock_reader(where).list("name*").locks);
    for (int i = 0; i < 20; ++i) {
        resp_client node = cluster.connect_to("name" + std::to_string(i));
        put_lock(node, "name" + std::to_string(i));
    }
    BOOST_TEST(sweep.next(where, 1h).locks.size() == 20u);
    // One node is gone: the locks of the others are still read.
    cluster.node(cluster.master_of("name0")).kill();
    const tool::lock_list rest = sweep.next(where, 1h);
    BOOST_TEST(!rest.complete);
    BOOST_TEST(!rest.problems.empty());
    BOOST_TEST(rest.locks.size() > 0u);
    BOOST_TEST(rest.locks.size() < 20u);
}

BOOST_AUTO_TEST_CASE(locks_of_a_quorum_are_found_without_one_member,
                     *boost::unit_test::precondition(of_one_layout))
{
    quorum_deployment members;
    const auto put = [&](const std::string& name) {
        for (std::size_t i = 0; i < members.size(); ++i)
            members[i].connect().command(
                {"SET", name, "lhq:5e0f8c21-3a1c-4a50-9cd4-0b8a5d4e7f10:1", "PX", "600000"});
    };
    put("stock");
    boost::asio::io_context context{1};
    tool::servers where(context, redis_config(members.url()));
    tool::lock_sweep sweep("*", tool::lock_reader(where).list("*").locks);
    members[0].kill();
    resp_client second = members[1].connect(), third = members[2].connect();
    for (resp_client* each : {&second, &third})
        each->done({"SET", "other", "lhq:5e0f8c21-3a1c-4a50-9cd4-0b8a5d4e7f10:2", "PX", "600000"});
    const tool::lock_list seen = sweep.next(where, 1h);
    BOOST_TEST(seen.complete);
    BOOST_TEST(!seen.problems.empty());
    BOOST_TEST(is_listed(seen, "stock"));
    BOOST_TEST_REQUIRE(is_listed(seen, "other"));
    BOOST_TEST(seen.locks.front().members == 2u);
}

BOOST_AUTO_TEST_CASE(watch_reports_a_new_lock_among_many_keys)
{
    redis_server server;
    tool_runs runs;
    auto store = server.connect();
    for (int i = 0; i < 5'000; ++i)
        store.done({"SET", "key" + std::to_string(i), "value"});
    put_lock(store, "known");
    const auto watching = runs.start({"watch", "--every", "10ms"}, server.unix_url());
    const auto held = watching->read_line(30s);
    BOOST_TEST_REQUIRE(held.has_value());
    BOOST_TEST((held->find(" held known") != std::string::npos), *held);
    put_lock(store, "new");
    const auto taken = watching->read_line(30s);
    BOOST_TEST_REQUIRE(taken.has_value());
    BOOST_TEST((taken->find(" taken new") != std::string::npos), *taken);
    watching->signal(SIGINT);
    BOOST_TEST(runs.finish(*watching).code == 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace leasehold::test
