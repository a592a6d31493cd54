// The store in MySQL and MariaDB when servers, connections and rights fail. Each test talks to a
// server that this program has started.
#include <boost/test/unit_test.hpp>

#include "mysql/database.hpp"
#include "support/database_checks.hpp"
#include "support/fault_proxy.hpp"
#include "support/queued_request.hpp"
#include "support/store_contract.hpp"
#include "support/store_lifetime.hpp"
#include "support/store_scene.hpp"
#include "support/tls_server.hpp"

#include <leasehold/mysql.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using contract::look;
using contract::take;
using granted_t = acquire_reply::outcome;

/// One server for all tests that do not harm it.
mysql_database& shared_database()
{
    static mysql_database only;
    return only;
}

/// A client of a database without locks.
struct scene : store_scene
{
    explicit scene(const std::string& url = shared_database().url())
        : store_scene(make_mysql_store(mysql_config(url)))
    {}
};

struct clean_database
{
    clean_database() { root.run("truncate leasehold_lock; truncate leasehold_waiter"); }

    /// Ends sessions.
    void end_sessions(const std::string& which = "user = 'app'")
    {
        const mysql_rows found = root.run("select id from information_schema.processlist where " +
                                          which);
        for (std::size_t i = 0; i < found.size(); ++i)
            root.run("kill " + found.bytes("id", i));
    }

    /// The number of commits of the server.
    std::int64_t commits()
    {
        return root.run("show global status like 'Com_commit'").number("Value");
    }

    mysql_connection root = shared_database().connect();
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(on_one_server, clean_database)

BOOST_AUTO_TEST_CASE(wrong_database_is_reported_with_server_and_cause)
{
    scene at("mysql://app:secret@" + shared_database().at() + "/nothing");
    const auto got = at.refused();
    BOOST_TEST((got.code == errc::permission_denied));
    BOOST_TEST(contains(text_of(got), "server 127.0.0.1:"), text_of(got));
    BOOST_TEST(contains(text_of(got), "database 'nothing' (1044)"), text_of(got));
}

BOOST_AUTO_TEST_CASE(missing_schema_is_reported_with_the_command_that_installs_it)
{
    root.run("create database if not exists bare; grant execute on bare.* to app@'127.0.0.1'");
    scene at("mysql://app:secret@" + shared_database().at() + "/bare");
    const auto got = at.refused();
    BOOST_TEST((got.code == errc::not_supported || got.code == errc::permission_denied));
    scene also("mysql://root@" + shared_database().at() + "/bare");
    const auto second = also.refused();
    BOOST_TEST((second.code == errc::not_supported));
    BOOST_TEST(contains(text_of(second), "leasehold schema --mysql | mysql 'bare'"),
               text_of(second));
}

BOOST_AUTO_TEST_CASE(other_version_of_the_schema_is_reported)
{
    root.run("create database if not exists old; use old; drop procedure if exists "
             "leasehold_version; create procedure leasehold_version() select 7 as version;"
             "drop procedure if exists leasehold_ring; create procedure leasehold_ring() do 1");
    scene at("mysql://root@" + shared_database().at() + "/old");
    const auto got = at.refused();
    BOOST_TEST((got.code == errc::not_supported));
    BOOST_TEST(contains(text_of(got), "has version 7, must have version 1"), text_of(got));
}

BOOST_AUTO_TEST_CASE(missing_right_is_reported)
{
    root.run("drop user if exists nobody@'127.0.0.1'; create user nobody@'127.0.0.1';"
             "grant select on locks.leasehold_client to nobody@'127.0.0.1'");
    scene at("mysql://nobody@" + shared_database().at() + "/locks");
    const auto got = at.refused();
    BOOST_TEST((got.code == errc::permission_denied));
    BOOST_TEST(contains(text_of(got), "denied"), text_of(got));
}

BOOST_AUTO_TEST_CASE(too_many_connections_refuse_until_there_is_room)
{
    root.run("create user limited@'127.0.0.1' with max_user_connections 1;"
             "grant execute on locks.* to limited@'127.0.0.1'");
    const std::string url = "mysql://limited@" + shared_database().at() + "/locks?reconnect=10";
    auto first = std::make_unique<scene>(url);
    first->connected();
    scene at(url);
    const auto got = at.refused();
    BOOST_TEST((got.code == errc::store_refused));
    BOOST_TEST(contains(text_of(got), "(1226)"), text_of(got));
    first.reset();
    at.connected();
    BOOST_TEST((at.session.acquire(take("lock", "a:1")).reply.result == granted_t::granted));
}

BOOST_AUTO_TEST_CASE(unreachable_server_is_reported)
{
    const reserved_port unused;
    scene at("mysql://127.0.0.1:" + std::to_string(unused.number()) + "/db");
    const auto got = at.refused();
    BOOST_TEST((got.code == errc::store_unavailable));
    BOOST_TEST(contains(text_of(got), "onnection refused"), text_of(got));
}

BOOST_AUTO_TEST_CASE(unknown_host_is_reported)
{
    scene at("mysql://host.invalid/db");
    const auto got = at.refused();
    BOOST_TEST((got.code == errc::store_unavailable));
    BOOST_TEST(contains(text_of(got), "ost not found"), text_of(got));
}

BOOST_AUTO_TEST_CASE(unreadable_certificate_file_is_reported)
{
    scene at("mysql://127.0.0.1/db?sslmode=verify-ca&sslrootcert=/missing.pem");
    const auto got = at.refused();
    BOOST_TEST((got.code == errc::store_unavailable));
    BOOST_TEST(contains(text_of(got), "tls_ca_file is '/missing.pem', must be a readable file"),
               text_of(got));
}

BOOST_AUTO_TEST_CASE(local_socket_and_the_other_scheme_lead_to_the_server)
{
    std::string path;
    for (const char c : shared_database().server().socket())
        path += c == '/' ? std::string("%2F") : std::string(1, c);
    for (const std::string& url :
         {"mysql://app@" + path + "/locks", shared_database().url("mariadb")}) {
        scene at(url);
        at.connected();
        BOOST_TEST((at.session.acquire(take(url, "a:1")).reply.result == granted_t::granted));
    }
}

BOOST_AUTO_TEST_CASE(wrong_password_is_reported_without_it)
{
    const std::string at_host = "@" + shared_database().at() + "/locks?reconnect=10";
    scene wrong("mysql://app:hidden" + at_host);
    const auto got = wrong.refused();
    BOOST_TEST((got.code == errc::permission_denied));
    BOOST_TEST(contains(text_of(got), "Access denied for user 'app'"), text_of(got));
    BOOST_TEST(!contains(text_of(got), "hidden"));
    // A later password in the file may be the right one.
    const temporary_directory directory;
    const std::string file = directory.file("password");
    std::ofstream(file) << "old\n";
    scene changing("mysql://app" + at_host + "&password_file=" + file);
    BOOST_TEST((changing.refused().code == errc::store_refused));
    std::ofstream(file) << "secret\n";
    changing.connected();
}

BOOST_AUTO_TEST_CASE(durability_that_the_server_does_not_give_is_reported)
{
    scene at(shared_database().url() + "?durability=full");
    const auto got = at.refused();
    BOOST_TEST((got.code == errc::not_supported));
    BOOST_TEST(contains(text_of(got), "innodb_flush_log_at_trx_commit is 0, must be 1"),
               text_of(got));
}

BOOST_AUTO_TEST_CASE(requests_of_a_turn_are_one_transaction)
{
    scene at;
    at.connected();
    const std::int64_t before = commits();
    BOOST_TEST(at.acquire_all(lock_names(20)) == 20);
    BOOST_TEST(commits() - before == 1);
    BOOST_TEST(root.run("select count(*) as n from leasehold_lock").number("n") == 20);
}

BOOST_AUTO_TEST_CASE(thousand_locks_are_renewed_in_one_transaction)
{
    scene at;
    at.connected();
    const std::vector<std::string> names = lock_names(1000);
    BOOST_TEST(at.acquire_all(names) == 1000);
    std::vector<renewal> all;
    for (const std::string& name : names)
        all.push_back({name, "a:1", 60s});
    all[7].owner = "b:1";
    const auto got = at.session.renew(all);
    BOOST_TEST(!got.code);
    std::vector expected(1000, renewal_result::renewed);
    expected[7] = renewal_result::gone;
    BOOST_TEST((got.reply.results == expected));
}

BOOST_AUTO_TEST_CASE(request_that_fails_does_not_fail_the_others_of_its_turn)
{
    scene at;
    at.connected();
    check_request_that_fails_alone(
        at,
        [this] {
            root.run("start transaction; select 1 from leasehold_lock where name = 'b' for update");
        },
        [this] { root.run("rollback"); });
}

BOOST_AUTO_TEST_CASE(conflicting_transactions_are_repeated)
{
    root.run("create table calls (n int); insert into calls values (0);"
             "create trigger conflict before insert on leasehold_lock for each row begin "
             "  set @calls = coalesce(@calls, 0) + 1;"
             "  if @calls <= 3 then signal sqlstate '40001' set mysql_errno = 1213; end if; "
             "end");
    scene at;
    at.connected();
    BOOST_TEST(at.acquire_all({"c", "b", "a"}) == 3);
    root.run("drop trigger conflict; drop table calls");
}

BOOST_AUTO_TEST_CASE(killed_session_is_made_again)
{
    scene at(shared_database().url() + "?health_check=20");
    at.connected();
    at.session.acquire(take("lock", "a:1"));
    end_sessions();
    at.session.until([&] { return at.session.connected == 2; });
    BOOST_TEST(at.session.disconnected == 1);
    BOOST_TEST((at.session.acquire(look("lock", "a:1")).reply.result == granted_t::granted));
}

BOOST_AUTO_TEST_CASE(waiter_is_notified_again_after_its_session_was_killed)
{
    scene holds, waits;
    check_waiter_is_notified_again(
        holds, waits, [this] { end_sessions("is_used_lock(concat('leasehold:', id)) = id"); });
}

BOOST_AUTO_TEST_CASE(waiter_is_woken_long_before_the_next_check)
{
    scene holds, waits(shared_database().url() + "?health_check=60000");
    holds.connected();
    waits.connected();
    holds.session.acquire(take("lock", "a:0"));
    waits.session.acquire(queued_request("lock", "b:0"));
    waits.session.until([&] { return waits.session.listening == 1; });
    waits.session.release(leaving("lock", "b:0"));
    const std::string long_name(4096, 'n');
    for (const std::string& name : {std::string("other"), long_name}) {
        holds.session.acquire(take(name, "a:1"));
        BOOST_TEST(!waits.session.acquire(queued_request(name, "b:1")).reply.may_miss_grant);
        waits.session.wait(100ms); // the wait at the server has become longer
        holds.session.release(leaving(name, "a:1"));
        const auto begin = std::chrono::steady_clock::now();
        waits.session.until([&] { return !waits.session.grants.empty(); });
        BOOST_TEST((std::chrono::steady_clock::now() - begin < 5s));
        BOOST_TEST(waits.session.grants.front().name == name);
        waits.session.grants.clear();
        waits.session.acquire(queued_request(name, "b:1"));
    }
}

BOOST_AUTO_TEST_CASE(owner_is_told_of_each_of_its_grants)
{
    scene holds, waits(shared_database().url() + "?health_check=60000");
    holds.connected();
    waits.connected();
    holds.session.acquire(take("lock", "a:0"));
    waits.session.acquire(queued_request("lock", "b:0"));
    waits.session.until([&] { return waits.session.listening == 1; });
    waits.session.release(leaving("lock", "b:0"));
    for (int round = 0; round < 20; ++round) {
        const std::string name = "lock " + std::to_string(round);
        holds.session.acquire(take(name, "a:1"));
        waits.session.acquire(queued_request(name, "b:1"));
        holds.session.release(leaving(name, "a:1"));
        waits.session.until([&] { return !waits.session.grants.empty(); });
        BOOST_TEST(waits.session.grants.front().name == name);
        waits.session.grants.clear();
        waits.session.acquire(queued_request(name, "b:1"));
    }
}

// Neither the owner of the procedures nor another user may wake the sessions of the application.
BOOST_AUTO_TEST_CASE(waiter_polls_if_not_every_client_may_wake_it)
{
    root.run("create database if not exists owned; create user if not exists keeper@localhost;"
             "grant all on owned.* to keeper@localhost;"
             "grant execute on owned.* to app@'127.0.0.1'");
    mysql_connection keeper(shared_database().server().socket(), "keeper", "owned");
    keeper.run(schema_query());
    const std::string url = "mysql://app:secret@" + shared_database().at() + "/owned";
    scene holds(url), waits(url);
    holds.connected();
    waits.connected();
    holds.session.acquire(take("lock", "a:1"));
    waits.session.acquire(queued_request("lock", "b:1"));
    waits.session.until([&] { return waits.session.listening == 1; });
    BOOST_TEST(waits.session.acquire(queued_request("lock", "b:1")).reply.may_miss_grant);
    // A client of the same user can.
    holds.session.release(leaving("lock", "a:1"));
    waits.session.until([&] { return !waits.session.grants.empty(); });
    waits.session.acquire(queued_request("lock", "b:1"));
    keeper.run("call leasehold_remove('lock', 'b:1')");
    BOOST_TEST((holds.session.acquire(take("lock", "a:2")).reply.result == granted_t::granted));
    root.run("drop database owned");
}

BOOST_AUTO_TEST_CASE(lost_reply_is_unknown_and_found_by_its_owner)
{
    fault_proxy proxy(loopback_endpoint(shared_database().port()));
    scene at("mysql://app:secret@127.0.0.1:" + std::to_string(proxy.port()) +
             "/locks?timeout=300&reconnect=10&sslmode=disable");
    check_lost_reply(at, proxy);
}

BOOST_AUTO_TEST_CASE(holder_is_described)
{
    scene at;
    at.connected();
    check_description_of_holder(at.session);
}

BOOST_AUTO_TEST_CASE(cancelled_wait_leaves_the_queue)
{
    scene holds;
    check_wait_that_ends(holds, shared_database().url());
    BOOST_TEST(root.run("select count(*) as n from leasehold_waiter").number("n") == 0);
}

BOOST_AUTO_TEST_CASE(context_destroyed_before_the_store_keeps_no_handler)
{
    check_end_of_context([] { return make_mysql_store(mysql_config(shared_database().url())); });
}

BOOST_AUTO_TEST_CASE(store_can_be_destroyed_with_outstanding_replies)
{
    check_destruction_with_outstanding_replies(
        [] { return make_mysql_store(mysql_config(shared_database().url())); });
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(certificate_of_the_server_is_verified)
{
    namespace fs = std::filesystem;
    const temporary_directory files;
    fs::permissions(files.path(), fs::perms::others_exec | fs::perms::others_read,
                    fs::perm_options::add);
    const certificate own(files, "server", "DNS:localhost");
    const certificate other(files, "other", "DNS:localhost");
    fs::permissions(own.key, fs::perms::others_read, fs::perm_options::add);
    mysql_database with_tls({"ssl-cert=" + own.text, "ssl-key=" + own.key});
    const auto url = [&](const std::string& host, const certificate& trusted) {
        return "mysql://app:secret@" + host + ":" + std::to_string(with_tls.port()) +
               "/locks?reconnect=10&sslmode=verify-full&sslrootcert=" + trusted.text;
    };
    {
        scene right(url("localhost", own));
        right.connected();
        BOOST_TEST((right.session.acquire(take("tls", "a:1")).reply.result == granted_t::granted));
    }
    for (const std::string& wrong : {url("localhost", other), url("127.0.0.1", own)}) {
        scene at(wrong);
        const auto got = at.refused();
        BOOST_TEST((got.code == errc::store_unavailable));
        BOOST_TEST(contains(text_of(got), "certificate"), text_of(got));
    }
}

BOOST_AUTO_TEST_CASE(killed_server_is_found_again_with_its_locks)
{
    mysql_database own({"innodb-flush-log-at-trx-commit=1"});
    scene at(own.url() + "?reconnect=20&health_check=50&durability=full");
    check_killed_server(at, own.server());
}

BOOST_AUTO_TEST_CASE(stopped_server_ends_requests_and_the_wait_for_grants)
{
    mysql_database own;
    scene holds(own.url() + "?timeout=300&reconnect=20&health_check=100");
    const error_code lost = check_paused_server(holds, own.server());
    BOOST_TEST((lost == errc::outcome_unknown || lost == errc::store_unavailable));
}

BOOST_AUTO_TEST_CASE(read_only_server_is_skipped)
{
    mysql_database reads;
    reads.connect().run("set global read_only = on");
    {
        scene alone(reads.url());
        const auto got = alone.refused();
        BOOST_TEST((got.code == errc::store_refused));
        BOOST_TEST(contains(text_of(got), "the server is read-only"), text_of(got));
    }
    scene at("mysql://app:secret@" + reads.at() + "," + shared_database().at() + "/locks");
    at.connected();
    BOOST_TEST(at.session.disconnected == 0);
    BOOST_TEST(at.session.get().server_of(0) == shared_database().at());
    BOOST_TEST((at.session.acquire(take("skipped", "a:1")).reply.result == granted_t::granted));
    // A server that becomes read-only is left at the next request.
    shared_database().connect().run("set global read_only = on");
    const auto refused = at.session.acquire(take("late", "a:1"));
    shared_database().connect().run("set global read_only = off");
    BOOST_TEST((refused.code == errc::store_refused), refused.code);
    at.session.until([&] { return at.session.connected == 2; });
}
