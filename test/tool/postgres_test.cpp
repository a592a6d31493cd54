// The command with locks in PostgreSQL, as processes, on the test's own server.
#include "postgres/connection.hpp"
#include "support/client_thread.hpp"
#include "support/postgresql_server.hpp"
#include "support/print.hpp"
#include "tool/tool_runs.hpp"

#include <leasehold/postgres.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <unistd.h>
#include <utility>

namespace leasehold::test {
namespace {

using namespace std::chrono_literals;
using words = std::vector<std::string>;

std::string encoded(const std::string& path)
{
    std::string text;
    for (const char c : path)
        text += c == '/' ? std::string("%2F") : std::string(1, c);
    return text;
}

/// One server for all cases; each has its own database.
struct fixture : tool_runs
{
    fixture() : operators(server().connection_text())
    {
        const std::string name = "case" + std::to_string(++cases);
        operators.run("create database " + name);
        url = "postgres://test@" + encoded(server().socket_folder()) + "/" + name;
        database = "host=" + server().socket_folder() + " user=test dbname=" + name;
    }

    static postgresql_server& server()
    {
        static postgresql_server one;
        return one;
    }

    ran run(const words& arguments) { return tool_runs::run(arguments, url); }
    void install() const { postgresql_connection(database).run_script(postgres_schema()); }
    [[nodiscard]] std::unique_ptr<client_thread> client() const
    {
        postgres_config settings(url);
        settings.reconnect = 5ms;
        return std::make_unique<client_thread>(make_postgres_store(settings));
    }
    void await_waiters(int count) const
    {
        postgresql_connection look(database);
        wait_until([&] {
            return look.run("select count(*) as n from leasehold.waiter").number("n") == count;
        });
    }

    inline static int cases = 0;
    postgresql_connection operators;
    std::string url;
    std::string database;
};

boost::test_tools::assertion_result with_a_server(boost::unit_test::test_unit_id)
{
    const std::string missing = postgresql_server::missing();
    boost::test_tools::assertion_result result(missing.empty());
    result.message() << missing;
    return result;
}

} // namespace

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(with_a_server))
BOOST_FIXTURE_TEST_SUITE(tool_postgres, fixture)

BOOST_AUTO_TEST_CASE(printed_schema_can_be_installed_and_checked)
{
    const ran missing = run({"schema", "--check"});
    BOOST_TEST(missing.code == 77);
    BOOST_TEST(missing.says("leasehold schema | psql"), missing.said);
    const ran ls = run({"ls"});
    BOOST_TEST(ls.code == 77);
    BOOST_TEST(ls.says("leasehold schema | psql"), ls.said);

    const ran printed = run({"schema"});
    BOOST_TEST(printed.code == 0);
    BOOST_TEST(printed.text() == postgres_schema());
    postgresql_connection(database).run_script(printed.text());
    const ran checked = run({"schema", "--check"});
    BOOST_TEST(checked.code == 0);
    BOOST_TEST(checked.says("has the version of this program"), checked.said);
}

BOOST_AUTO_TEST_CASE(schema_has_the_name_of_the_url_and_may_be_unlogged)
{
    postgresql_connection in(database);
    in.run_script(run({"schema", "--schema", "app", "--unlogged"}).text());
    BOOST_TEST(in.run("select relpersistence as p from pg_class where oid = 'app.lock'::regclass")
                   .get("p")
                   .value_or("") == "u");
    url += "?schema=app";
    BOOST_TEST(run({"schema", "--check"}).code == 0);
    BOOST_TEST(run({"schema"}).text() == postgres_schema("app"));
    BOOST_TEST(run({"ls"}).says("no lock is held"));
}

BOOST_AUTO_TEST_CASE(schema_command_rejects_wrong_arguments)
{
    BOOST_TEST(run({"schema", "here"}).says("only options"));
    const ran redis = tool_runs::run({"schema", "--check"}, "redis://127.0.0.1:1");
    BOOST_TEST(redis.code == 2);
    BOOST_TEST(redis.says("postgres://"), redis.said);
}

BOOST_AUTO_TEST_CASE(held_locks_are_listed_with_their_holders)
{
    install();
    const auto one = client();
    const lease stock = take(*one, "stock");
    const lease other = take(*one, "other [name]\n");
    const ran listed = run({"ls"});
    BOOST_TEST(listed.code == 0);
    BOOST_TEST_REQUIRE(listed.lines.size() == 3u);
    BOOST_TEST(listed.has("other [name]\\x0a "));
    BOOST_TEST(listed.has(one->locks().id()));

    BOOST_TEST(run({"ls", "s?o*"}).lines.size() == 2u);
    BOOST_TEST(run({"ls", "nothing*"}).says("no lock is held that matches 'nothing*'"));
    const ran json = run({"ls", "--json", "stock"});
    BOOST_TEST(json.has("[{\"name\":\"stock\",\"layout\":\"postgres\""), json.text());
    BOOST_TEST(json.has("\"owner\":\"" + stock.share_owner().id() + "\""));
    BOOST_TEST(json.has("\"fence_at_most\":" + std::to_string(stock.fence())), json.text());
    BOOST_TEST(json.has("\"pid\":" + std::to_string(::getpid())), json.text());
}

BOOST_AUTO_TEST_CASE(inspect_shows_a_lock_with_its_queue)
{
    install();
    const auto one = client();
    const auto two = client();
    BOOST_TEST(run({"inspect", "stock"}).code == 1);
    const std::string name(300, 'n'); // stored in part
    lease held = take(*one, name);
    auto waiting = two->start_lock(name, long_lease());
    await_waiters(1);
    const ran shown = run({"inspect", name});
    BOOST_TEST(shown.code == 0);
    BOOST_TEST(shown.has(name));
    BOOST_TEST(shown.has(held.share_owner().id()));
    BOOST_TEST(shown.has("waiters     1\n"));
    BOOST_TEST(run({"inspect", "--json", name}).has("\"present\":true"));
    BOOST_TEST(!one->release(std::move(held)));
    BOOST_TEST(!get(waiting).code);
}

BOOST_AUTO_TEST_CASE(broken_lock_is_granted_to_its_waiter)
{
    install();
    const auto one = client();
    const auto two = client();
    lease held = take(*one, "stock");
    const std::string owner = held.share_owner().id();
    auto waiting = two->start_lock("stock", long_lease());
    await_waiters(1);
    auto lost = client_thread::start_wait_lost(held);

    const ran other = run({"break", "stock", "--owner", owner + "0"});
    BOOST_TEST(other.code == 75);
    BOOST_TEST(other.says("another owner holds 'stock'"));
    const ran broken = run({"break", "stock", "--owner", owner});
    BOOST_TEST(broken.code == 0);
    BOOST_TEST(broken.has("the next waiter holds it"), broken.text());
    const taken next = get(waiting);
    BOOST_TEST(!next.code);
    BOOST_TEST(broken.has(next.held.share_owner().id()));
    BOOST_TEST(get(lost) == errc::lost);
}

BOOST_AUTO_TEST_CASE(reentrant_lock_is_broken_in_one_step)
{
    install();
    const auto one = client();
    lease held = take(*one, "stock");
    const owner holder = held.share_owner();
    taken again = get(one->start_reenter("stock", long_lease(), holder));
    BOOST_TEST_REQUIRE(!again.code);
    BOOST_TEST(run({"inspect", "stock"}).has("held        2 times"));
    const ran broken = run({"break", "stock", "--owner", holder.id()});
    BOOST_TEST(broken.has("it is free"), broken.text());
    BOOST_TEST(run({"inspect", "stock"}).code == 1);
    BOOST_TEST(run({"break", "stock", "--owner", holder.id()}).code == 1);
}

BOOST_AUTO_TEST_CASE(watch_reports_changes_and_an_unreachable_server)
{
    install();
    const auto one = client();
    const auto watching = start({"watch", "--every", "20ms"}, url);
    lease held = take(*one, "stock");
    const auto held_queue = watching->read_line(20s);
    BOOST_TEST_REQUIRE(held_queue.has_value());
    BOOST_TEST((held_queue->find("stock by " + one->locks().id()) != std::string::npos));
    BOOST_TEST(!one->release(std::move(held)));
    const auto freed = watching->read_line(20s);
    BOOST_TEST_REQUIRE(freed.has_value());
    BOOST_TEST((freed->find("freed stock") != std::string::npos), *freed);
    const std::string name = "case" + std::to_string(cases);
    operators.run("alter database " + name + " allow_connections false");
    operators.run("select pg_terminate_backend(pid) from pg_stat_activity where datname = '" +
                  name + "'");
    wait_until([&] { return said().find("not currently accepting") != std::string::npos; });
    operators.run("alter database " + name + " allow_connections true");
    wait_until([&] { return said().find("can be reached again") != std::string::npos; });
    watching->signal(SIGINT);
    BOOST_TEST(watching->wait(20s).code == 0);
}

BOOST_AUTO_TEST_CASE(trace_follows_a_lock_from_one_holder_to_the_next)
{
    install();
    const auto one = client();
    const auto two = client();
    lease held = take(*one, "stock");
    const auto tracing = start({"trace", "--every", "10ms", "--until-free", "stock"}, url);
    const auto expect = [&](const std::string& event) {
        const auto limit = std::chrono::steady_clock::now() + 30s;
        for (;;) {
            const auto line = tracing->read_line(30s);
            BOOST_TEST_REQUIRE(line.has_value(), "no " << event << ": " << said());
            if (line->find(event) != std::string::npos)
                return;
            BOOST_TEST_REQUIRE((line->find(" renewed ") != std::string::npos), *line);
            BOOST_TEST_REQUIRE((std::chrono::steady_clock::now() < limit), "no " << event);
        }
    };
    expect(" held stock by " + one->locks().id());
    auto waiting = two->start_lock("stock", long_lease());
    expect(" queued stock by " + two->locks().id() + " (");
    BOOST_TEST(!one->release(std::move(held)));
    expect(" passed stock from " + one->locks().id() + ", held for ");
    taken next = get(waiting);
    BOOST_TEST(!next.code);
    BOOST_TEST(!two->release(std::move(next.held)));
    expect(" freed stock by " + two->locks().id());
    BOOST_TEST(finish(*tracing).code == 0);
}

BOOST_AUTO_TEST_CASE(application_without_the_right_is_refused)
{
    install();
    postgresql_connection in(database);
    const std::string name = "app" + std::to_string(cases);
    in.run("create role " + name + " login");
    in.run("grant usage on schema leasehold to " + name);
    url.replace(url.find("test@"), 4, name);
    const auto one = client();
    const lease held = take(*one, "stock"); // its only right is enough for locks
    const ran listed = run({"ls"});
    BOOST_TEST(listed.code == 77);
    BOOST_TEST(listed.says("permission denied"), listed.said);
}

BOOST_AUTO_TEST_CASE(doctor_reports_what_may_lose_locks)
{
    const ran missing = run({"doctor"});
    BOOST_TEST(missing.code == 77);
    BOOST_TEST(missing.has("problem: reachable"), missing.text());
    BOOST_TEST(missing.has("Install the schema: leasehold schema | psql."), missing.text());

    install();
    const ran healthy = run({"doctor"});
    BOOST_TEST(healthy.has(": PostgreSQL "), healthy.text());
    // The test's own server does not wait for its disk.
    BOOST_TEST(healthy.has("warning: fsync of "), healthy.text());
    BOOST_TEST(healthy.has("0 problems, 1 warning, 0 notes"), healthy.text());
    BOOST_TEST(healthy.code == 1);

    postgresql_connection(database).run_script(run({"schema", "--unlogged"}).text());
    url += "?durability=relaxed";
    const ran risky = run({"doctor"});
    BOOST_TEST(risky.has("warning: unlogged of "), risky.text());
    BOOST_TEST(risky.has("warning: durability of "), risky.text());
    BOOST_TEST(run({"doctor", "--json"}).has("\"product\":\"postgresql\""));
}

BOOST_AUTO_TEST_CASE(doctor_tries_a_lock)
{
    install();
    const auto one = client();
    const lease held = take(*one, "stock");
    const ran tried = run({"doctor", "stock"});
    BOOST_TEST(tried.has("note: trial"), tried.text());
    BOOST_TEST(tried.has("'stock' is held by another owner"), tried.text());
}

BOOST_AUTO_TEST_CASE(doctor_notes_that_it_cannot_see_other_sessions)
{
    install();
    postgresql_connection in(database);
    const std::string name = "seer" + std::to_string(cases);
    in.run("create role " + name + " login");
    in.run("grant usage on schema leasehold to " + name);
    const std::string admin = url;
    url.replace(url.find("test@"), 4, name);
    BOOST_TEST(run({"doctor"}).has("note: snapshot"));
    BOOST_TEST(!run({"doctor", "--admin", admin}).has("note: snapshot"));
}

BOOST_AUTO_TEST_CASE(bench_measures_locks)
{
    install();
    const ran measured = run({"bench", "--time", "100ms", "--at-a-time", "5"});
    BOOST_TEST(measured.code == 0, measured.said);
    BOOST_TEST(measured.has("handoff"), measured.text());
}

BOOST_AUTO_TEST_CASE(run_holds_a_lock)
{
    install();
    const ran done = run({"run", "stock", "--", "sh", "-c", "echo $LEASEHOLD_FENCE"});
    BOOST_TEST(done.code == 0, done.said);
    BOOST_TEST_REQUIRE(done.lines.size() == 1u);
    BOOST_TEST(std::stoull(done.lines.front()) > 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace leasehold::test
