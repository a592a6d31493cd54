// The store in PostgreSQL when servers, connections and rights fail. Each test talks to a server
// that this program has started.
#include <boost/test/unit_test.hpp>

#include "postgres/database.hpp"
#include "support/database_checks.hpp"
#include "support/fault_proxy.hpp"
#include "support/store_contract.hpp"
#include "support/store_lifetime.hpp"
#include "support/store_scene.hpp"
#include "support/tls_server.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using contract::look;
using contract::take;
using granted_t = acquire_reply::outcome;

/// One server for all tests that do not harm it.
database& shared_database()
{
    static database only;
    return only;
}

/// A client of a database without locks.
struct scene : store_scene
{
    explicit scene(const std::string& url = shared_database().url())
        : store_scene(make_postgres_store(postgres_config(url)))
    {}
};

struct clean_database
{
    clean_database() { as_operator.run("truncate leasehold.lock, leasehold.waiter"); }
    postgresql_connection as_operator = shared_database().connect();
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(on_one_server, clean_database)

BOOST_AUTO_TEST_CASE(wrong_database_is_reported_with_server_and_cause)
{
    scene at("postgres://app@127.0.0.1:" + std::to_string(shared_database().port()) + "/nothing");
    const auto got = at.refused();
    BOOST_TEST((got.code == errc::invalid_option));
    BOOST_TEST(contains(text_of(got), "server 127.0.0.1:"), text_of(got));
    BOOST_TEST(contains(text_of(got), R"(database "nothing" does not exist (3D000))"));
}

BOOST_AUTO_TEST_CASE(missing_schema_is_reported_with_the_command_that_installs_it)
{
    scene at("postgres://app@127.0.0.1:" + std::to_string(shared_database().port()) + "/template1");
    const auto got = at.refused();
    BOOST_TEST((got.code == errc::not_supported));
    BOOST_TEST(contains(text_of(got), "leasehold schema | psql 'template1'"), text_of(got));
}

BOOST_AUTO_TEST_CASE(missing_right_is_reported)
{
    as_operator.run_script("drop role if exists unauthorized; create role unauthorized login");
    scene at("postgres://unauthorized@127.0.0.1:" + std::to_string(shared_database().port()) +
             "/postgres");
    const auto got = at.refused();
    BOOST_TEST((got.code == errc::permission_denied));
    BOOST_TEST(contains(text_of(got), "permission denied for schema leasehold"), text_of(got));
}

BOOST_AUTO_TEST_CASE(right_that_is_revoked_later_rejects_the_request)
{
    scene at;
    at.connected();
    as_operator.run("revoke usage on schema leasehold from app");
    // Prepared statements are planned with the rights of their time, so a new session is used.
    as_operator.run("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'app'");
    const auto got = at.refused();
    as_operator.run("grant usage on schema leasehold to app");
    BOOST_TEST((got.code == errc::permission_denied || got.code == errc::store_unavailable ||
                got.code == errc::store_refused));
    at.session.until([&] { return at.session.connected >= 2; });
    BOOST_TEST((at.session.acquire(take("lock", "a:1")).reply.result == granted_t::granted));
}

BOOST_AUTO_TEST_CASE(too_many_connections_refuse_until_there_is_room)
{
    as_operator.run("alter role app connection limit 0");
    scene at(shared_database().url() + "?reconnect=10");
    const auto got = at.refused();
    as_operator.run("alter role app connection limit -1");
    BOOST_TEST((got.code == errc::store_refused));
    BOOST_TEST(contains(text_of(got), "(53300)"), text_of(got));
    at.connected();
    BOOST_TEST((at.session.acquire(take("lock", "a:1")).reply.result == granted_t::granted));
}

BOOST_AUTO_TEST_CASE(unreachable_server_is_reported)
{
    const reserved_port unused;
    scene at("postgres://127.0.0.1:" + std::to_string(unused.number()) + "/db");
    const auto got = at.refused();
    BOOST_TEST((got.code == errc::store_unavailable));
    BOOST_TEST(contains(text_of(got), "onnection refused"), text_of(got));
}

BOOST_AUTO_TEST_CASE(unknown_host_is_reported)
{
    scene at("postgres://host.invalid/db");
    const auto got = at.refused();
    BOOST_TEST((got.code == errc::store_unavailable));
    BOOST_TEST(contains(text_of(got), "host not found"), text_of(got));
}

BOOST_AUTO_TEST_CASE(host_name_and_local_socket_lead_to_the_server)
{
    const std::string port = std::to_string(shared_database().port());
    std::string folder;
    for (const char c : shared_database().server().socket_folder())
        folder += c == '/' ? std::string("%2F") : std::string(1, c);
    for (const std::string& host : {std::string("localhost"), folder}) {
        scene at("postgres://app@" + host + ":" + port + "/postgres");
        at.connected();
        BOOST_TEST((at.session.acquire(take(host, "a:1")).reply.result == granted_t::granted));
    }
}

BOOST_AUTO_TEST_CASE(wrong_password_is_reported_without_it)
{
    const std::string rules = shared_database().server().socket_folder() + "/data/pg_hba.conf";
    const std::string before = text_of(std::filesystem::path(rules));
    std::ofstream(rules) << "local all all trust\n"
                            "host all app 127.0.0.1/32 scram-sha-256\n";
    as_operator.run("select pg_reload_conf()");
    const std::string at_host = "@127.0.0.1:" + std::to_string(shared_database().port()) +
                                "/postgres?reconnect=10";
    {
        scene wrong("postgres://app:hidden" + at_host);
        const auto got = wrong.refused();
        BOOST_TEST((got.code == errc::permission_denied));
        BOOST_TEST(contains(text_of(got), "password authentication failed for user \"app\""),
                   text_of(got));
        BOOST_TEST(!contains(text_of(got), "hidden"));
    }
    {
        scene right("postgres://app:secret" + at_host);
        right.connected();
    }
    // A later password in the file may be the right one.
    const temporary_directory directory;
    const std::string file = directory.file("password");
    std::ofstream(file) << "old\n";
    scene changing("postgres://app" + at_host + "&password_file=" + file);
    BOOST_TEST((changing.refused().code == errc::store_refused));
    std::ofstream(file) << "secret\n";
    changing.connected();
    std::ofstream(rules) << before;
    as_operator.run("select pg_reload_conf()");
}

BOOST_AUTO_TEST_CASE(certificate_of_the_server_is_verified)
{
    namespace fs = std::filesystem;
    const temporary_directory files;
    const certificate own(files, "server", "DNS:localhost");
    const certificate other(files, "other", "DNS:localhost");
    const fs::path data = shared_database().server().socket_folder() + "/data";
    struct stat owner{};
    BOOST_REQUIRE(::stat(data.c_str(), &owner) == 0);
    for (const auto& [from, to] :
         {std::pair(own.text, "server.crt"), std::pair(own.key, "server.key")}) {
        fs::copy_file(from, data / to, fs::copy_options::overwrite_existing);
        fs::permissions(data / to, fs::perms::owner_read | fs::perms::owner_write);
        BOOST_REQUIRE(::chown((data / to).c_str(), owner.st_uid, owner.st_gid) == 0);
    }
    as_operator.run("alter system set ssl = on");
    as_operator.run("select pg_reload_conf()");
    const std::string port = std::to_string(shared_database().port());
    const auto url = [&](const std::string& host, const certificate& trusted) {
        return "postgres://app@" + host + ":" + port +
               "/postgres?reconnect=10&sslmode=verify-full&sslrootcert=" + trusted.text;
    };
    {
        scene right(url("localhost", own));
        right.connected();
        BOOST_TEST(as_operator
                       .run("select bool_and(ssl) from pg_stat_ssl join pg_stat_activity "
                            "using (pid) where usename = 'app'")
                       .get("bool_and")
                       .value() == "t");
        BOOST_TEST((right.session.acquire(take("tls", "a:1")).reply.result == granted_t::granted));
    }
    for (const std::string& wrong : {url("localhost", other), url("127.0.0.1", own)}) {
        scene at(wrong);
        const auto got = at.refused();
        BOOST_TEST((got.code == errc::store_unavailable));
        BOOST_TEST(contains(text_of(got), "certificate"), text_of(got));
    }
    as_operator.run("alter system reset ssl");
    as_operator.run("select pg_reload_conf()");
}

BOOST_AUTO_TEST_CASE(requests_of_a_turn_are_one_transaction)
{
    scene at;
    at.connected();
    BOOST_TEST(at.acquire_all(lock_names(20)) == 20);
    BOOST_TEST(as_operator.run("select count(*) from leasehold.lock").number("count") == 20);
    BOOST_TEST(
        as_operator.run("select count(distinct xmin::text) from leasehold.lock").number("count") ==
        1);
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
    const auto got = at.session.renew(all);
    BOOST_TEST(!got.code);
    BOOST_TEST((got.reply.results == std::vector(1000, renewal_result::renewed)));
    BOOST_TEST(
        as_operator.run("select count(distinct xmin::text) from leasehold.lock").number("count") ==
        1);
}

BOOST_AUTO_TEST_CASE(request_that_fails_does_not_fail_the_others_of_its_turn)
{
    scene at;
    at.connected();
    check_request_that_fails_alone(
        at,
        [this] {
            as_operator.run_script(
                "begin; select 1 from leasehold.lock where key = leasehold.key('b') for update");
        },
        [this] { as_operator.run("rollback"); });
}

BOOST_AUTO_TEST_CASE(conflicting_transactions_are_repeated)
{
    as_operator.run_script(R"(
        drop schema if exists conflicts cascade;
        create schema conflicts;
        create sequence conflicts.calls;
        create function conflicts.fail() returns trigger language plpgsql security definer as $$
        begin
            if nextval('conflicts.calls') <= 3 then
                raise exception using errcode = '40001', message = 'a conflict of the test';
            end if;
            return new;
        end $$;
        create trigger conflict before insert on leasehold.lock
            for each row execute function conflicts.fail())");
    scene at;
    at.connected();
    BOOST_TEST(at.acquire_all({"c", "b", "a"}) == 3);
    // The first transaction, and two repetitions.
    BOOST_TEST(as_operator.run("select last_value from conflicts.calls").number("last_value") == 6);
    as_operator.run("drop schema conflicts cascade");
}

BOOST_AUTO_TEST_CASE(terminated_session_is_made_again)
{
    scene at;
    at.connected();
    at.session.acquire(take("lock", "a:1"));
    as_operator.run("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'app'");
    at.session.until([&] { return at.session.connected == 2; });
    BOOST_TEST(at.session.disconnected == 1);
    BOOST_TEST((at.session.why == errc::store_refused)); // 57P01: the server said so
    BOOST_TEST((at.session.acquire(look("lock", "a:1")).reply.result == granted_t::granted));
}

BOOST_AUTO_TEST_CASE(waiter_is_notified_again_after_its_session_was_terminated)
{
    scene holds, waits;
    check_waiter_is_notified_again(holds, waits, [this] {
        as_operator.run("select pg_terminate_backend(pid) from pg_stat_activity "
                        "where query like '%attend%' and usename = 'app'");
    });
}

BOOST_AUTO_TEST_CASE(lost_reply_is_unknown_and_found_by_its_owner)
{
    fault_proxy proxy(loopback_endpoint(shared_database().port()));
    scene at("postgres://app@127.0.0.1:" + std::to_string(proxy.port()) +
             "/postgres?timeout=300&reconnect=10");
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
    BOOST_TEST(as_operator.run("select count(*) from leasehold.waiter").number("count") == 0);
}

BOOST_AUTO_TEST_CASE(context_destroyed_before_the_store_keeps_no_handler)
{
    check_end_of_context(
        [] { return make_postgres_store(postgres_config(shared_database().url())); });
}

BOOST_AUTO_TEST_CASE(store_can_be_destroyed_with_outstanding_replies)
{
    check_destruction_with_outstanding_replies(
        [] { return make_postgres_store(postgres_config(shared_database().url())); });
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(killed_server_is_found_again_with_its_locks)
{
    database own({"fsync=on"});
    scene at(own.url() + "?reconnect=20");
    check_killed_server(at, own.server());
}

BOOST_AUTO_TEST_CASE(stopped_server_ends_requests_and_the_wait_for_grants)
{
    database own;
    scene holds(own.url() + "?timeout=300&reconnect=20&health_check=100");
    BOOST_TEST((check_paused_server(holds, own.server()) == errc::outcome_unknown));
}

BOOST_AUTO_TEST_CASE(read_only_server_is_skipped)
{
    database reads({"default_transaction_read_only=off"});
    reads.connect().run("alter database postgres set default_transaction_read_only = on");
    {
        scene alone(reads.url());
        const auto got = alone.refused();
        BOOST_TEST((got.code == errc::store_refused));
        BOOST_TEST(contains(text_of(got), "the server is read-only"), text_of(got));
    }
    const std::string second = std::to_string(shared_database().port());
    scene at("postgres://app@127.0.0.1:" + std::to_string(reads.port()) + ",127.0.0.1:" + second +
             "/postgres");
    at.connected();
    BOOST_TEST(at.session.disconnected == 0);
    BOOST_TEST(at.session.get().server_of(0) == "127.0.0.1:" + second);
    BOOST_TEST((at.session.acquire(take("skipped", "a:1")).reply.result == granted_t::granted));
}
