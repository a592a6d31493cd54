// `leasehold ls`, `inspect`, `break` and `watch`, as processes, on the test's own servers.
#include "tool/terminal_session.hpp"
#include "tool/tool_runs.hpp"

#include "redis/lock_breaker.hpp"
#include "watch/lock_changes.hpp"

#include "support/client_thread.hpp"
#include "support/cluster_deployment.hpp"
#include "support/holder.hpp"
#include "support/print.hpp"
#include "support/process.hpp"
#include "support/quorum_deployment.hpp"
#include "support/redis_server.hpp"
#include "support/sentinel_deployment.hpp"
#include "support/tested_layout.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace leasehold::test {
namespace {

using namespace std::chrono_literals;
using words = std::vector<std::string>;

/// The line that shows the lock; empty: no line does.
std::string line_of(const ran& listed, const std::string& name)
{
    for (const std::string& each : listed.lines) {
        if (each.starts_with(name + " "))
            return each;
    }
    return {};
}

struct fixture : tool_runs
{
    redis_server server;

    ran run(const words& arguments) { return tool_runs::run(arguments, server.unix_url()); }
    std::unique_ptr<process> start(const words& arguments)
    {
        return tool_runs::start(arguments, server.unix_url());
    }

    [[nodiscard]] resp_client raw() const { return server.connect(); }

    /// The settings of clients that write their record.
    [[nodiscard]] redis_config with_client_info() const
    {
        redis_config settings = at(server);
        settings.client_info = true;
        return settings;
    }
};

/// The layout with heartbeats. A quorum has its own keys, so one layout is enough.
boost::test_tools::assertion_result in_the_layout_native(boost::unit_test::test_unit_id)
{
    return tested_layout() == redis_config::key_layout::native;
}

/// Writes the key of a lock whose holder does not exist.
void abandon(resp_client& server, const std::string& name, int number)
{
    // As clients of this library write it and other libraries do not.
    const std::string mark = tested_layout() == redis_config::key_layout::native ? "lh:" : "";
    const std::string owner = "5e0f8c21-3a1c-4a50-9cd4-0b8a5d4e7f10:" + std::to_string(number);
    take_for(server, name, mark + owner, 60s);
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(tool_locks, fixture)

BOOST_AUTO_TEST_CASE(held_locks_are_listed_with_their_holders)
{
    client_thread one(with_client_info());
    const lease stock = take(one, "stock");
    const lease other = take(one, "other {name}\n");
    auto store = raw();
    wait_until(
        [&] { return store.integer({"EXISTS", "leasehold:client:" + one.locks().id()}) == 1; });
    const ran listed = run({"ls"});
    BOOST_TEST(listed.code == 0);
    BOOST_TEST(listed.said == "");
    BOOST_TEST_REQUIRE(listed.lines.size() == 3u);
    BOOST_TEST(listed.lines[0].starts_with("NAME "));
    const std::string line = line_of(listed, "stock");
    for (const std::string& part :
         {one.locks().id(), std::string(" tool_locks_test "), std::to_string(::getpid())})
        BOOST_TEST((line.find(part) != std::string::npos), line << " has no " << part);
    BOOST_TEST(listed.has("other {name}\\x0a "));
    BOOST_TEST(!listed.has("\x1b"));

    BOOST_TEST(run({"ls", "sto*"}).lines.size() == 2u);
    const ran none = run({"ls", "nothing*"});
    BOOST_TEST(none.code == 0);
    BOOST_TEST(none.lines.empty());
    BOOST_TEST(none.says("no lock is held that matches 'nothing*'"));
    BOOST_TEST(run({"ls", "--json", "nothing*"}).text() == "[]\n");
    const ran json = run({"ls", "--json", "stock"});
    BOOST_TEST(json.has("[{\"name\":\"stock\",\"layout\":\""));
    BOOST_TEST(json.has("\"owner\":\"" + stock.share_owner().id() + "\""));
    BOOST_TEST(json.has("\"pid\":" + std::to_string(::getpid())));
    BOOST_TEST(json.has("\"waiters\":0}]"));
    BOOST_TEST(stock.fence() > 0u);
}

BOOST_AUTO_TEST_CASE(key_that_is_no_lock_is_not_listed)
{
    auto store = raw();
    store.command({"SET", "text", "lh"});
    store.command({"SET", "large", std::string(100'000, 'x')});
    store.command({"HSET", "hash", "field", "1"});
    store.command({"HSET", "5e0f8c21", "5e0f8c21-3a1c-4a50-9cd4-0b8a5d4e7f10:1", "text"});
    store.command({"RPUSH", "list", "lh:5e0f8c21-3a1c-4a50-9cd4-0b8a5d4e7f10:1"});
    BOOST_TEST(run({"ls"}).lines.empty());
    for (const std::string key : {"hash", "list"}) {
        const ran looked = run({"inspect", key});
        BOOST_TEST(looked.code == 2);
        BOOST_TEST(looked.says("it must be a lock"));
        BOOST_TEST(run({"break", key, "--owner", "a"}).code == 2);
    }
    BOOST_TEST(run({"inspect", "text"}).has("of another library"));
    BOOST_TEST(run({"break", "text", "--owner", "lh"}).code == 2);
    BOOST_TEST(store.integer({"EXISTS", "text"}) == 1);
    BOOST_TEST(run({"inspect", "leasehold:fence"}).code == 2);
}

BOOST_AUTO_TEST_CASE(ten_thousand_locks_are_listed_once_each)
{
    auto store = raw();
    for (int i = 0; i < 10'000; ++i)
        abandon(store, "name" + std::to_string(i), i);
    const ran listed = run({"ls", "name*"});
    BOOST_TEST(listed.code == 0);
    BOOST_TEST(listed.lines.size() == 10'001u);
    BOOST_TEST(line_of(listed, "name9999") != "");
    BOOST_TEST(run({"ls", "name123?"}).lines.size() == 11u);
}

BOOST_AUTO_TEST_CASE(inspect_shows_a_lock_with_its_queue)
{
    client_thread one(with_client_info());
    client_thread two(with_client_info());
    const ran none = run({"inspect", "stock"});
    BOOST_TEST(none.code == 1);
    BOOST_TEST(none.says("no owner holds 'stock'"));
    BOOST_TEST(run({"inspect", "--json", "stock"}).text() == "null\n");

    lease held = take(one, "stock");
    auto waiting = two.start_lock("stock", long_lease());
    auto store = raw();
    wait_until([&] { return waiters_of(store, "stock") == 1; });
    const ran shown = run({"inspect", "stock"});
    BOOST_TEST(shown.code == 0);
    BOOST_TEST(shown.has(held.share_owner().id()));
    BOOST_TEST(shown.has("waiters     1\n"));
    BOOST_TEST(shown.has("  1         "));
    BOOST_TEST(run({"inspect", "--json", "stock"}).has("\"present\":true"));
    BOOST_TEST(!one.release(std::move(held)));
    BOOST_TEST(!get(waiting).code);
}

BOOST_AUTO_TEST_CASE(broken_lock_is_acquired_by_its_waiter)
{
    client_thread one(with_client_info());
    client_thread two(with_client_info());
    lease held = take(one, "stock");
    const std::string owner = held.share_owner().id();
    auto waiting = two.start_lock("stock", long_lease());
    auto store = raw();
    wait_until([&] { return waiters_of(store, "stock") == 1; });
    auto lost = client_thread::start_wait_lost(held);

    const ran other = run({"break", "stock", "--owner", owner + "0"});
    BOOST_TEST(other.code == 75);
    BOOST_TEST(other.says("another owner holds 'stock'"));
    BOOST_TEST(other.says("nothing was changed"));
    BOOST_TEST(run({"break", "stock"}).code == 2);
    BOOST_TEST(holder_of(store, "stock") == owner);

    const ran done = run({"break", "stock", "--owner", owner});
    BOOST_TEST(done.code == 0);
    BOOST_TEST(done.has("removed 'stock' of client " + one.locks().id()));
    taken next = get(waiting);
    BOOST_TEST(!next.code);
    BOOST_TEST(get(lost) == errc::lost);
    // A second break fails: this owner holds nothing, and the next owner keeps the lock.
    BOOST_TEST(run({"break", "stock", "--owner", owner}).code == 75);
    BOOST_TEST(next.held.valid());
    BOOST_TEST(!two.release(std::move(next.held)));
    const ran gone = run({"break", "stock", "--owner", owner});
    BOOST_TEST(gone.code == 1);
    BOOST_TEST(gone.says("no owner holds 'stock'"));
}

// A waiter delays no other waiter, and keeps its position.
BOOST_AUTO_TEST_CASE(break_of_a_waiting_owner_changes_nothing)
{
    client_thread one(with_client_info());
    client_thread two(with_client_info());
    lease held = take(one, "stock");
    auto waiting = two.start_lock("stock", long_lease());
    auto store = raw();
    wait_until([&] { return waiters_of(store, "stock") == 1; });
    const std::string waiter =
        store.strings({"LRANGE", "leasehold:line:{stock}", "0", "-1"}).at(0).substr(3);
    BOOST_TEST(run({"break", "stock", "--owner", waiter}).code == 75);
    BOOST_TEST(waiters_of(store, "stock") == 1);
    BOOST_TEST(!one.release(std::move(held)));
    BOOST_TEST(!get(waiting).code);
}

BOOST_AUTO_TEST_CASE(break_removes_all_reentrant_acquisitions)
{
    client_thread one(with_client_info());
    const lease held = take(one, "stock");
    std::vector<lease> entries;
    for (int i = 0; i < 3; ++i) {
        taken reentered = get(one.start_reenter("stock", long_lease(), held.share_owner()));
        BOOST_TEST_REQUIRE(!reentered.code, reentered.code.message());
        entries.push_back(std::move(reentered.held));
    }
    BOOST_TEST(run({"inspect", "stock"}).has("held        4 times by its owner"));
    const ran done = run({"break", "--json", "stock", "--owner", held.share_owner().id()});
    BOOST_TEST(done.code == 0);
    BOOST_TEST(done.has("\"result\":\"freed\""));
    auto store = raw();
    BOOST_TEST(holder_of(store, "stock") == "");
}

BOOST_AUTO_TEST_CASE(ended_holder_with_heartbeats_is_shown_as_silent,
                     *boost::unit_test::precondition(in_the_layout_native))
{
    client_thread one(with_client_info());
    lock_options promised = long_lease();
    promised.dead_holder_grace = 30s; // so that the machine may pause for a while
    const taken stock = one.lock("stock", promised);
    BOOST_TEST_REQUIRE(!stock.code, stock.code.message());
    const lease other = take(one, "other");
    const ran alive = run({"inspect", "stock"});
    BOOST_TEST(alive.code == 0);
    BOOST_TEST(alive.has("\nsilent for  "));
    BOOST_TEST(alive.has("s; after 30.0s others may acquire the lock\n"));
    BOOST_TEST(run({"inspect", "--json", "stock"}).has(",\"dead_holder_grace_ms\":30000,"));
    // There is no data about a holder without heartbeats.
    BOOST_TEST(!run({"inspect", "other"}).has("silent"));
    BOOST_TEST(run({"inspect", "--json", "other"})
                   .has(",\"silent_ms\":null,\"dead_holder_grace_ms\":null,"));
    BOOST_TEST(!run({"ls"}).has("silent"));

    holder dying(server);
    dying.lock("job", 10min, 2s);
    dying.kill();
    wait_until(
        [&] { return line_of(run({"ls"}), "job").find(" (silent for ") != std::string::npos; });
    BOOST_TEST(run({"inspect", "job"}).has("s; after 2.0s others may acquire the lock\n"));
    BOOST_TEST(!line_of(run({"ls"}), "stock").empty());
    BOOST_TEST(line_of(run({"ls"}), "stock").find("silent") == std::string::npos);
}

// A heartbeat is a record that expires two minutes later.
BOOST_AUTO_TEST_CASE(silence_is_as_long_as_the_age_of_the_heartbeat,
                     *boost::unit_test::precondition(in_the_layout_native))
{
    auto store = raw();
    const std::string client = "5e0f8c21-3a1c-4a50-9cd4-0b8a5d4e7f10";
    const std::string record = "leasehold:alive:" + client;
    take_for(store, "stock", "lh:" + client + ":1|wg60000", 600s);
    const auto heartbeat_before = [&](std::chrono::seconds age) {
        store.done({"SET", record, "run", "PX", std::to_string((120s - age) / 1ms)});
    };
    const auto silent_ms = [&] {
        const std::string text = run({"inspect", "--json", "stock"}).text();
        const std::size_t at = text.find("\"silent_ms\":");
        BOOST_TEST_REQUIRE(at != text.npos, text);
        return std::stoll(text.substr(at + 12));
    };
    heartbeat_before(20s);
    BOOST_TEST(silent_ms() >= 20'000);
    const auto watching = start({"watch", "--every", "20ms"});
    const auto expect_line = [&](const std::string& part) {
        const auto line = watching->read_line(30s);
        BOOST_TEST_REQUIRE(line.has_value());
        BOOST_TEST((line->find(part) != std::string::npos), *line << " is not " << part);
    };
    expect_line(" held stock by 5e0f8c21");
    heartbeat_before(90s);
    expect_line(" silent stock by 5e0f8c21, silent for 1m");
    BOOST_TEST(silent_ms() >= 90'000);
    heartbeat_before(0s);
    expect_line(" heard stock by 5e0f8c21");
    store.done({"DEL", record});
    expect_line(" silent stock by 5e0f8c21, silent for 2m00s or longer");
    BOOST_TEST(silent_ms() == 120'000);
    BOOST_TEST(run({"inspect", "stock"}).has("silent for  2m00s or longer; after 1m00s others"));
    watching->signal(SIGINT);
    BOOST_TEST(finish(*watching).code == 0);
}

BOOST_AUTO_TEST_CASE(unreachable_server_is_reported)
{
    const std::string url = server.unix_url() + "?timeout=300";
    server.pause();
    for (const words& arguments :
         {words{"ls"}, words{"inspect", "a"}, words{"break", "a", "--owner", "b"}}) {
        const ran done = tool_runs::run(arguments, url);
        BOOST_TEST(done.code == 77);
        BOOST_TEST(done.says("does not answer within 300 ms"));
    }
    server.resume();
    // The server is killed while a request waits for its reply.
    server.pause();
    const auto listing = start({"ls"});
    server.kill();
    const ran cut = finish(*listing);
    BOOST_TEST(cut.code == 77);
    BOOST_TEST(cut.says(server.socket()));
    BOOST_TEST(run({"watch"}).code == 77);
}

BOOST_AUTO_TEST_CASE(invalid_arguments_are_refused)
{
    for (const words& wrong :
         {words{"ls", "a", "b"}, words{"ls", "--url", "memory:"}, words{"inspect"},
          words{"inspect", ""}, words{"inspect", "a", "b"}, words{"watch", "--every", "1ms"},
          words{"watch", "--url", "memory:a"}, words{"ls", "--url", "http://a"},
          words{"break", "--owner", "a"}, words{"break", "a", "--owner", ""}, words{"ls", "--x"}}) {
        const ran done = run(wrong);
        BOOST_TEST(done.code == 2, wrong.front() << ": " << done.said);
        BOOST_TEST(done.lines.empty());
        BOOST_TEST(done.said != "");
    }
    BOOST_TEST(run({"ls", "--url", "memory:"}).says("no other process sees them"));
    for (const std::string name : {"ls", "inspect", "break", "watch"}) {
        const ran help = run({name, "--help"});
        BOOST_TEST(help.code == 0);
        BOOST_TEST(help.has("usage: leasehold " + name));
        BOOST_TEST(help.has("--url URL"));
    }
}

BOOST_AUTO_TEST_CASE(watch_prints_a_line_for_each_change)
{
    client_thread one(with_client_info());
    client_thread two(with_client_info());
    lease first = take(one, "first");
    const auto watching = start({"watch", "--every", "20ms"});
    const auto expect_line = [&](const std::string& part) {
        const auto line = watching->read_line(30s);
        BOOST_TEST_REQUIRE(line.has_value());
        BOOST_TEST((line->find(part) != std::string::npos), *line << " is not " << part);
    };
    expect_line(" held first by " + one.locks().id());
    lease second = take(two, "second");
    expect_line(" taken second by " + two.locks().id());
    BOOST_TEST(!one.release(std::move(first)));
    expect_line(" freed first by " + one.locks().id());
    const std::string owner = second.share_owner().id();
    auto next = one.start_lock("second", long_lease());
    auto store = raw();
    wait_until([&] { return waiters_of(store, "second") == 1; });
    BOOST_TEST(!two.release(std::move(second)));
    expect_line(" passed second by " + one.locks().id());
    BOOST_TEST(!get(next).code);
    expect_line(" freed second");
    watching->signal(SIGINT);
    const ran done = finish(*watching);
    BOOST_TEST(done.code == 0);
    BOOST_TEST(done.lines.empty());
    BOOST_TEST(done.said == "");
}

BOOST_AUTO_TEST_CASE(watch_continues_after_a_restart_of_the_server)
{
    auto before = raw();
    abandon(before, "stock", 1);
    const auto watching = start({"watch", "--json", "--every", "20ms"});
    const auto line = watching->read_line(30s);
    BOOST_TEST_REQUIRE(line.has_value());
    BOOST_TEST(line->find("\"event\":\"held\",\"lock\":{\"name\":\"stock\"") != std::string::npos);
    server.kill();
    wait_until([&] { return said().find(server.socket()) != std::string::npos; });
    server.start();
    wait_until(
        [&] { return said().find("all servers can be reached again") != std::string::npos; });
    const auto freed = watching->read_line(30s);
    BOOST_TEST_REQUIRE(freed.has_value());
    BOOST_TEST(freed->find("\"event\":\"freed\"") != std::string::npos);
    watching->signal(SIGTERM);
    BOOST_TEST(finish(*watching).code == 0);
}

BOOST_AUTO_TEST_CASE(watch_restores_the_screen_of_the_terminal)
{
    auto store = raw();
    abandon(store, "stock", 1);
    terminal_session session({tool, "watch", "--every", "20ms"},
                             {{"LEASEHOLD_URL", server.unix_url()}, {"TERM", "xterm"}});
    session.read_until("\x1b[?1049h");
    session.read_until("1 lock, ");
    session.read_until("stock");
    // As ^C does.
    session.type("\x03");
    session.read_until("\x1b[?25h\x1b[?1049l");
    BOOST_TEST(session.wait() == 0);
}

BOOST_AUTO_TEST_CASE(break_refuses_acquisitions_that_are_not_of_the_owner)
{
    const std::string owner = "5e0f8c21-3a1c-4a50-9cd4-0b8a5d4e7f10:1";
    resp_client there = raw();
    if (tested_layout() == redis_config::key_layout::native) {
        there.done({"SET", "stock", "lh:" + owner + "|e", "PX", "60000"});
    }
    else {
        // Only fields with a mark are left, and this owner has none.
        there.done({"HSET", "stock", owner, "1", "other/e", "1"});
    }
    const ran done = run({"break", "stock", "--owner", owner});
    BOOST_TEST(done.code == 77, done.text());
    BOOST_TEST(done.says("the reentrant acquisitions of 'stock' are not those of its owner"),
               done.text());
    BOOST_TEST(there.calls("hkeys") < 10u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(tool_locks_of_deployments, tool_runs)

BOOST_AUTO_TEST_CASE(locks_of_a_cluster_are_listed_and_broken)
{
    cluster_deployment cluster(
        {.replicas = false, .options = {"--cluster-require-full-coverage", "no"}});
    {
        redis_config settings(cluster.url());
        settings.layout = tested_layout();
        client_thread one(settings);
        client_thread two(settings);
        const lease held = take(one, "stock");
        auto waiting = two.start_lock("stock", long_lease());
        two.seen().wait_for(recording_observer::kind::waiting);
        const ran done = run({"break", "stock", "--owner", held.share_owner().id()}, cluster.url());
        BOOST_TEST(done.code == 0);
        BOOST_TEST(done.said == "");
        taken next = get(waiting);
        BOOST_TEST(!next.code);
        BOOST_TEST(!two.release(std::move(next.held)));
    }
    for (int i = 0; i < 20; ++i) {
        const std::string name = "name" + std::to_string(i);
        resp_client node = cluster.connect_to(name);
        abandon(node, name, i);
    }
    const ran listed = run({"ls", "name*"}, cluster.url());
    BOOST_TEST(listed.code == 0);
    BOOST_TEST(listed.said == "");
    BOOST_TEST(listed.lines.size() == 21u);

    const std::size_t gone = cluster.master_of("name0");
    cluster.node(gone).kill();
    const ran rest = run({"ls", "name*"}, cluster.url() + "?timeout=10000");
    BOOST_TEST(rest.code == 77);
    BOOST_TEST(rest.says(std::to_string(cluster.node(gone).port())));
    BOOST_TEST(rest.lines.size() > 1u);
    BOOST_TEST(rest.lines.size() < 21u);
}

BOOST_AUTO_TEST_CASE(locks_behind_sentinels_are_listed_and_broken)
{
    sentinel_deployment sentinel;
    {
        redis_config settings(sentinel.url());
        settings.layout = tested_layout();
        client_thread one(settings);
        const lease held = take(one, "stock");
        BOOST_TEST(line_of(run({"ls"}, sentinel.url()), "stock") != "");
        const ran done = run({"break", "stock", "--owner", held.share_owner().id()},
                             sentinel.url());
        BOOST_TEST(done.code == 0);
    }
    const ran unreachable = run({"ls"}, "redis+sentinel://127.0.0.1:1/nobody");
    BOOST_TEST(unreachable.code == 77);
    const std::string other = sentinel.url().substr(0, sentinel.url().rfind('/')) + "/nobody";
    BOOST_TEST(run({"ls"}, other).code == 77);
}

BOOST_AUTO_TEST_CASE(locks_of_a_quorum_are_listed_and_broken,
                     *boost::unit_test::precondition(in_the_layout_native))
{
    quorum_deployment members;
    client_thread one(members.settings());
    client_thread two(members.settings());
    const std::string note = "leasehold:client:" + one.locks().id();
    std::vector<lease> others; // until all members can be reached
    wait_until([&] {
        others.push_back(take(one, "other" + std::to_string(others.size())));
        return members.count(note) == members.size();
    });
    lease held = take(one, "stock");
    members[0].connect().done({"DEL", note}); // the record at the other members is enough
    const ran listed = run({"ls"}, members.url());
    BOOST_TEST(listed.code == 0);
    const std::string line = line_of(listed, "stock");
    for (const std::string& part :
         {one.locks().id() + " (", std::string(" tool_locks_test "), std::to_string(::getpid())})
        BOOST_TEST((line.find(part) != std::string::npos), line << " has no " << part);
    BOOST_TEST(run({"inspect", "--json", "stock"}, members.url())
                   .has("\"pid\":" + std::to_string(::getpid())));
    auto waiting = two.start_lock("stock", long_lease());
    two.seen().wait_for(recording_observer::kind::waiting);
    const std::string owner = held.share_owner().id();
    BOOST_TEST(run({"inspect", "stock"}, members.url()).has(owner));
    BOOST_TEST(run({"break", "stock", "--owner", owner + "1"}, members.url()).code == 75);
    members[0].kill();
    const ran done = run({"break", "stock", "--owner", owner}, members.url());
    BOOST_TEST(done.code == 0);
    BOOST_TEST(done.has("removed 'stock' of client " + one.locks().id()));
    taken next = get(waiting);
    BOOST_TEST(!next.code);
    // A majority is enough, and the missing members are named.
    const ran rest = run({"ls"}, members.url());
    BOOST_TEST(rest.code == 0);
    BOOST_TEST(line_of(rest, "stock") != "");
    BOOST_TEST(rest.says(std::to_string(members[0].port())));
    members[1].kill();
    BOOST_TEST(run({"ls"}, members.url()).code == 77);
}

// The reentrant acquisitions of an earlier owner are still stored.
BOOST_AUTO_TEST_CASE(quorum_lock_is_broken_despite_data_of_an_earlier_owner,
                     *boost::unit_test::precondition(in_the_layout_native))
{
    quorum_deployment members;
    const std::string client = "5e0f8c21-3a1c-4a50-9cd4-0b8a5d4e7f10";
    members.command({"SET", "stock", "lhq:" + client + ":2", "PX", "60000"});
    members.command({"HSET", "leasehold:quorum:entries:stock", "owner", "lhq:" + client + ":1",
                     "e:", "1", "e:7", "1"});
    const ran done = run({"break", "--json", "stock", "--owner", client + ":2"}, members.url());
    BOOST_TEST(done.code == 0);
    BOOST_TEST(done.has("\"members\":3"), done.text());
    BOOST_TEST(members.count("stock") == 0u);
    auto first = members[0].connect();
    BOOST_TEST(first.calls("hkeys") == 0u); // no repeated attempts
}

BOOST_AUTO_TEST_CASE(quorum_member_counts_if_its_lock_is_released_meanwhile,
                     *boost::unit_test::precondition(in_the_layout_native))
{
    using leasehold::tool::resp_value;
    const std::string value = "lhq:5e0f8c21-3a1c-4a50-9cd4-0b8a5d4e7f10:1";
    const auto text = [](std::string said) {
        return resp_value{.type = resp_value::kind::text, .text = std::move(said)};
    };
    const resp_value others_left{.type = resp_value::kind::list,
                                 .items = {{.type = resp_value::kind::number, .number = 2}}};
    int reads = 0;
    leasehold::tool::break_result result;
    const bool was_held = leasehold::tool::break_member(
        [&](const leasehold::tool::command_words& asked) {
            if (asked[0] == "GET")
                return reads++ == 0 ? text(value) : resp_value();
            return asked[0] == "EVAL" ? others_left : resp_value();
        },
        {}, "stock", value.substr(4), result);
    BOOST_TEST(was_held);
    BOOST_TEST(reads == 2);
    BOOST_TEST(!leasehold::tool::break_member(
        [](const leasehold::tool::command_words&) { return resp_value(); }, {}, "stock",
        value.substr(4), result));
}

BOOST_AUTO_TEST_CASE(time_left_of_a_quorum_lock_is_that_of_its_majority,
                     *boost::unit_test::precondition(in_the_layout_native))
{
    quorum_deployment members;
    const std::string value = "lhq:5e0f8c21-3a1c-4a50-9cd4-0b8a5d4e7f10:1";
    for (std::size_t i = 0; i < members.size(); ++i) {
        const std::string left = std::to_string((i + 1) * 1'000'000);
        members[i].connect().done({"SET", "stock", value, "PX", left});
        members[i].connect().done(
            {"HSET", "leasehold:quorum:entries:stock", "owner", value, "e:", "1", "e:7", "1"});
    }
    const std::string text = run({"ls", "--json"}, members.url()).text();
    const std::size_t at = text.find("\"left_ms\":");
    BOOST_TEST_REQUIRE(at != text.npos, text);
    const long long left = std::stoll(text.substr(at + 10));
    BOOST_TEST(left > 1'000'000);
    BOOST_TEST(left <= 2'000'000);
    // The field that names the owner does not count as an acquisition.
    BOOST_TEST(text.find("\"holds\":2,") != text.npos, text);
}

BOOST_AUTO_TEST_CASE(lock_found_after_an_incomplete_listing_is_held_not_taken)
{
    using leasehold::tool::lock_change;
    leasehold::tool::lock_changes changes;
    leasehold::tool::lock_state lock;
    lock.name = "stock";
    lock.owner = "owner";
    BOOST_TEST(changes.update({}, false).empty());
    const auto first = changes.update({&lock, 1}, true);
    BOOST_TEST_REQUIRE(first.size() == 1u);
    BOOST_TEST((first.front().what == lock_change::kind::held));
    BOOST_TEST(changes.update({}, false).empty()); // the lock may still exist
    BOOST_TEST((changes.update({}, true).at(0).what == lock_change::kind::freed));
    BOOST_TEST((changes.update({&lock, 1}, true).at(0).what == lock_change::kind::taken));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace leasehold::test
