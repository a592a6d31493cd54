// The command with locks in MySQL or MariaDB, as processes, on the test's own server.
#include "mysql/database.hpp"
#include "support/client_thread.hpp"
#include "support/print.hpp"
#include "tool/tool_runs.hpp"

#include <leasehold/mysql.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

namespace leasehold::test {
namespace {

using namespace std::chrono_literals;
using words = std::vector<std::string>;

/// One server for all cases.
struct fixture : tool_runs
{
    fixture()
    {
        root.run("truncate leasehold_lock; truncate leasehold_waiter; truncate leasehold_client");
    }

    static mysql_database& shared()
    {
        static mysql_database one;
        return one;
    }

    ran run(const words& arguments) { return tool_runs::run(arguments, url); }
    [[nodiscard]] std::unique_ptr<client_thread> client() const
    {
        mysql_config settings(shared().url());
        settings.reconnect = 5ms;
        return std::make_unique<client_thread>(make_mysql_store(settings));
    }
    void await_waiters(int count)
    {
        wait_until([&] {
            return root.run("select count(*) as n from leasehold_waiter").number("n") == count;
        });
    }

    mysql_connection root = shared().connect();
    std::string url = "mysql://root@" + shared().at() + "/locks";
};

boost::test_tools::assertion_result server_can_be_started(boost::unit_test::test_unit_id)
{
    boost::test_tools::assertion_result result(mysql_server::missing().empty());
    result.message() << mysql_server::missing();
    return result;
}

BOOST_FIXTURE_TEST_SUITE(tool_mysql, fixture,
                         *boost::unit_test::precondition(server_can_be_started))

BOOST_AUTO_TEST_CASE(schema_is_printed_and_checked)
{
    BOOST_TEST(run({"schema"}).text() == text_of(LEASEHOLD_TEST_MYSQL_SCHEMA));
    BOOST_TEST(tool_runs::run({"schema", "--mysql"}, "redis://h").text() ==
               text_of(LEASEHOLD_TEST_MYSQL_SCHEMA));
    BOOST_TEST(run({"schema", "--unlogged"}).code == 2);
    const ran checked = run({"schema", "--check"});
    BOOST_TEST(checked.code == 0);
    BOOST_TEST(checked.says("has the version of this program"), checked.said);
    root.run("create database if not exists bare");
    url.replace(url.rfind("locks"), 5, "bare");
    const ran missing = run({"schema", "--check"});
    BOOST_TEST(missing.code == 77);
    BOOST_TEST(missing.says("leasehold schema --mysql | mysql 'bare'"), missing.said);
    const ran doctor = run({"doctor"});
    BOOST_TEST(doctor.code == 77);
    BOOST_TEST(doctor.has("Install the schema: leasehold schema --mysql"), doctor.text());
}

BOOST_AUTO_TEST_CASE(held_locks_are_listed_with_their_holders)
{
    BOOST_TEST(run({"ls"}).says("no lock is held"));
    const auto one = client();
    const lease stock = take(*one, "stock");
    const lease other = take(*one, std::string(600, 'n'));
    const ran listed = run({"ls", "s?o*"});
    BOOST_TEST(listed.code == 0);
    BOOST_TEST(listed.has(one->locks().id()));
    const ran json = run({"ls", "--json", "stock"});
    BOOST_TEST(json.has("[{\"name\":\"stock\",\"layout\":\"mysql\""), json.text());
    BOOST_TEST(json.has("\"owner\":\"" + stock.share_owner().id() + "\""));
    BOOST_TEST(json.has("\"fence_at_most\":"), json.text());
    BOOST_TEST(json.has("\"pid\":" + std::to_string(::getpid())), json.text());
    BOOST_TEST(run({"ls", "--json"}).has(std::string(600, 'n')));
}

BOOST_AUTO_TEST_CASE(lock_is_inspected_and_broken)
{
    BOOST_TEST(run({"inspect", "stock"}).code == 1);
    const auto one = client();
    const auto two = client();
    lease held = take(*one, "stock");
    const std::string owner = held.share_owner().id();
    auto waiting = two->start_lock("stock", long_lease());
    await_waiters(1);
    auto lost = client_thread::start_wait_lost(held);
    const ran shown = run({"inspect", "stock"});
    BOOST_TEST(shown.has(owner));
    BOOST_TEST(shown.has("waiters     1\n"), shown.text());
    BOOST_TEST(run({"inspect", "--json", "stock"}).has("\"present\":true"));

    BOOST_TEST(run({"break", "stock", "--owner", owner + "0"}).code == 75);
    const ran broken = run({"break", "stock", "--owner", owner});
    BOOST_TEST(broken.code == 0);
    BOOST_TEST(broken.has("the next waiter holds it"), broken.text());
    const taken next = get(waiting);
    BOOST_TEST(!next.code);
    BOOST_TEST(broken.has(next.held.share_owner().id()));
    BOOST_TEST(get(lost) == errc::lost);
}

BOOST_AUTO_TEST_CASE(watch_reports_changes)
{
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
    watching->signal(SIGINT);
    BOOST_TEST(watching->wait(20s).code == 0);
}

BOOST_AUTO_TEST_CASE(doctor_reports_what_may_lose_locks)
{
    const ran healthy = run({"doctor"});
    BOOST_TEST(healthy.has(mysql_server::is_mysql() ? ": MySQL " : ": MariaDB "), healthy.text());
    // The test's own server does not wait for its disk.
    BOOST_TEST(healthy.has("warning: flush of "), healthy.text());
    BOOST_TEST(healthy.has("0 problems, 1 warning, 0 notes"), healthy.text());
    BOOST_TEST(healthy.code == 1);
    const auto one = client();
    const lease held = take(*one, "stock");
    BOOST_TEST(run({"doctor", "stock"}).has("'stock' is held by another owner"));
}

BOOST_AUTO_TEST_CASE(bench_measures_locks)
{
    const ran measured = run({"bench", "--time", "100ms", "--at-a-time", "5"});
    BOOST_TEST(measured.code == 0, measured.said);
    BOOST_TEST(measured.has("handoff"), measured.text());
}

BOOST_AUTO_TEST_CASE(run_holds_a_lock)
{
    url = shared().url("mariadb"); // the only right of an application is enough
    const ran done = run({"run", "stock", "--", "sh", "-c", "echo $LEASEHOLD_FENCE"});
    BOOST_TEST(done.code == 0, done.said);
    BOOST_TEST_REQUIRE(done.lines.size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace leasehold::test
