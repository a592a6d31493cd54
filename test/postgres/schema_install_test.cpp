#include <boost/test/unit_test.hpp>

#include "postgres/locks.hpp"

#include <string>
#include <vector>

namespace leasehold::test {
namespace {

/// An application without rights on the tables.
struct application_fixture : lock_fixture
{
    application_fixture()
    {
        admin.run_script("create role app login; grant usage on schema leasehold to app");
    }
    ~application_fixture() { admin.run_script("drop owned by app; drop role app"); }

    /// The SQLSTATE of the error of the statement; empty: it succeeded.
    static std::string error_of(postgresql_connection& on, const std::string& statement)
    {
        try {
            on.run(statement);
            return {};
        }
        catch (const postgresql_error& error) {
            return error.state;
        }
    }

    std::string as_app = lock_server().connection_text("app");
};

const std::string permission_denied = "42501";

BOOST_FIXTURE_TEST_SUITE(schema_installation, lock_fixture,
                         *boost::unit_test::precondition(lock_server_can_be_started))

/// Whether the tables survive a crash of the server.
std::string persistence(postgresql_connection& on)
{
    return on
        .run("select string_agg(distinct relpersistence, '') as kinds from pg_class "
             "where relnamespace = 'leasehold'::regnamespace and relkind = 'r'")
        .get("kinds")
        .value();
}

BOOST_AUTO_TEST_CASE(second_installation_keeps_the_locks)
{
    const acquired got = a.acquire({.owner = "a:1"});
    b.acquire(waiting("b:1"));
    admin.run_script(lock_schema());
    BOOST_TEST(admin.run("select leasehold.version()").number("version") == 1);
    BOOST_TEST((a.renew({{"a:1"}}) == std::vector<bool>{true}));
    BOOST_TEST(a.release("a:1").result == granted_next);
    BOOST_TEST(b.acquire(waiting("b:1")).fence > got.fence);
    BOOST_TEST(persistence(admin) == "p");
}

BOOST_AUTO_TEST_CASE(installation_replaces_functions_of_another_version)
{
    a.acquire({.owner = "a:1"});
    admin.run_script(R"(
        drop function leasehold.renew(bytea[], bytea[], bytea[], bigint[]);
        create function leasehold.renew(bytea[], bytea[], bytea[], bigint[]) returns integer
            language sql as 'select 1';
        create function leasehold.forgotten() returns integer language sql as 'select 1';
        create or replace function leasehold.version() returns integer
            language sql immutable as 'select 0';)");
    admin.run_script(lock_schema());
    BOOST_TEST(admin.run("select leasehold.version()").number("version") == 1);
    BOOST_TEST(!admin.run("select to_regprocedure('leasehold.forgotten()')::text as name")
                    .get("name")
                    .has_value());
    BOOST_TEST((a.renew({{"a:1"}}) == std::vector<bool>{true}));
}

BOOST_AUTO_TEST_CASE(tables_are_unlogged_on_request)
{
    admin.run_script("set leasehold.tables = 'unlogged'");
    a.acquire({.owner = "a:1"});
    admin.run_script(lock_schema());
    BOOST_TEST(persistence(admin) == "u");
    BOOST_TEST((a.renew({{"a:1"}}) == std::vector<bool>{true}));
    admin.run_script("set leasehold.tables = 'logged'");
    admin.run_script(lock_schema());
    BOOST_TEST(persistence(admin) == "p");
    admin.run_script("set leasehold.tables = 'sometimes'");
    BOOST_CHECK_THROW(admin.run_script(lock_schema()), postgresql_error);
}

BOOST_AUTO_TEST_CASE(another_schema_has_its_own_locks)
{
    std::string text = lock_schema();
    const std::string name = "\"leasehold\"";
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at))
        text.replace(at, name.size(), "\"Other \"\"one\"");
    admin.run_script(text);
    a.acquire({.owner = "a:1"});
    const postgresql_rows got = admin.run("select * from \"Other \"\"one\".acquire('lock', 'b:1', "
                                          "'', 60000, 1, 0, 0, 0, 0, 0, false)");
    BOOST_TEST(got.number("result") == granted);
    admin.run_script("drop schema \"Other \"\"one\" cascade");
    BOOST_TEST(b.acquire({.owner = "b:1"}).result == held);
}

BOOST_AUTO_TEST_CASE(sweep_deletes_unused_rows_after_the_retention)
{
    for (const char* name : {"free", "held", "old", "old and above the clock", "old with a waiter",
                             "old with an absent waiter"})
        a.acquire({.owner = "a:1", .name = name});
    a.release("a:1", "free");
    b.acquire(waiting("b:1", "old with a waiter"));
    b.acquire(waiting("b:1", "old with an absent waiter"));
    admin.run_script(R"(
        update leasehold.lock set expires = leasehold.clock() - 2000000 where key like 'old%';
        update leasehold.lock set fence = 4000000000000000000 where key like '%above%';
        update leasehold.waiter set until = leasehold.clock() - 2000000
        where key like '%absent%';)");
    std::string after;
    int calls = 0;
    do {
        after = admin.run("select leasehold.sweep($1, 1000, 2) as after", {as_bytes(after)})
                    .bytes("after");
        ++calls;
    } while (!after.empty());
    BOOST_TEST(calls == 4);
    const postgresql_rows left = admin.run(
        "select encode(key, 'escape') as key from leasehold.lock order by key");
    std::vector<std::string> names;
    for (std::size_t i = 0; i < left.size(); ++i)
        names.push_back(left.get("key", i).value());
    BOOST_TEST((names == std::vector<std::string>{"free", "held", "old and above the clock",
                                                  "old with a waiter"}));
    BOOST_TEST(admin.run("select from leasehold.waiter").size() == 1u);
    BOOST_CHECK_THROW(admin.run("select leasehold.sweep('', 0, 2)"), postgresql_error);
}

BOOST_AUTO_TEST_CASE(client_is_described_by_the_beginning_of_its_id)
{
    const auto describe = [&](const std::string& prefix) {
        return a.run("select leasehold.describe($1) as info", {as_bytes(prefix)}).get("info");
    };
    const auto introduce = [&](const char* info) {
        a.run("select leasehold.introduce('0123-45', $1)", {info});
    };
    BOOST_TEST(!describe("0123").has_value());
    introduce("first");
    introduce("second");
    BOOST_TEST(describe("0123").value() == "second");
    BOOST_TEST(!describe("0122").has_value());
    BOOST_TEST(!describe("0124").has_value());
    admin.run("update leasehold.client set seen = leasehold.clock() - 2000000");
    admin.run("select leasehold.sweep('', 1000, 1)");
    BOOST_TEST(!describe("0123").has_value());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(schema_rights, application_fixture,
                         *boost::unit_test::precondition(lock_server_can_be_started))

BOOST_AUTO_TEST_CASE(application_needs_the_right_to_use_the_schema_only)
{
    locks app(as_app);
    listening heard(as_app, "app");
    lock_request next = waiting("app:2");
    next.listener = heard.listener();
    BOOST_TEST(app.acquire({.owner = "app:1"}).result == granted);
    BOOST_TEST((app.renew({{"app:1"}}) == std::vector<bool>{true}));
    BOOST_TEST(app.acquire(next).place == 0);
    BOOST_TEST(app.release("app:1").result == granted_next);
    BOOST_TEST((heard.grants() == std::vector<listening::grant>{{"app:2", "lock"}}));
    BOOST_TEST(app.acquire(next).result == granted);
    for (const char* call :
         {"version()", "clock()", "introduce('app', '')", "describe('app')", "sweep('', 1000, 1)"})
        BOOST_TEST(error_of(app, std::string("select leasehold.") + call) == "");
}

BOOST_AUTO_TEST_CASE(application_cannot_access_the_tables)
{
    locks app(as_app);
    for (const char* statement :
         {"select from leasehold.lock", "delete from leasehold.waiter",
          "select from leasehold.client", "update leasehold.lock set owner = null",
          "create table leasehold.mine ()", "select leasehold.grant_next('lock', null, 0)"})
        BOOST_TEST(error_of(app, statement) == permission_denied, statement);
}

BOOST_AUTO_TEST_CASE(application_without_the_right_is_rejected)
{
    admin.run("revoke usage on schema leasehold from app");
    postgresql_connection app(as_app);
    BOOST_TEST(error_of(app, "select leasehold.version()") == permission_denied);
}

// The functions run with the rights of their owner. So they must not call what an application has
// put before the functions, operators and types of the system.
BOOST_AUTO_TEST_CASE(functions_call_nothing_in_the_search_path_of_the_application)
{
    admin.run("grant create on schema public to app");
    locks app(as_app);
    app.run_script(R"(
        create table public.called (by text);
        create function public.trap(bytea, bytea) returns boolean language plpgsql as
            $$ begin insert into public.called values (current_user); return true; end $$;
        create operator public.= (function = public.trap, leftarg = bytea, rightarg = bytea);
        create operator public.<> (function = public.trap, leftarg = bytea, rightarg = bytea);
        create function public.octet_length(bytea) returns integer language plpgsql as
            $$ begin insert into public.called values (current_user); return 1; end $$;
        create function public.clock_timestamp() returns timestamptz language plpgsql as
            $$ begin insert into public.called values (current_user);
               return pg_catalog.now(); end $$;
        create domain pg_temp.bytea as pg_catalog.bytea
            check (public.octet_length(value::pg_catalog.bytea) = 1);
        create temporary table lock (key integer);
        set search_path = pg_temp, public, pg_catalog;)");
    const auto acquire = [&](const char* owner) {
        return app
            .run(std::string("select * from leasehold.acquire('lock', '") + owner +
                 "', '', 60000, 1, 0, 0, 60000, 60000, 0, true)")
            .number("result");
    };
    const auto release = [&](const char* owner) {
        return app
            .run(std::string("select * from leasehold.release('lock', '") + owner +
                 "', '', null, 0, 0, 0, 0, 0, 0, 0)")
            .number("result");
    };
    BOOST_TEST(acquire("a:1") == granted);
    BOOST_TEST(acquire("b:1") == held);
    BOOST_TEST(app.run("select * from leasehold.renew('{lock}', '{a:1}', '{\"\"}', '{60000}')")
                   .get("renewed")
                   .value() == "t");
    BOOST_TEST(release("a:1") == granted_next);
    BOOST_TEST(acquire("b:1") == granted);
    BOOST_TEST(release("b:1") == freed);
    app.run("select leasehold.describe('app'), leasehold.sweep('', 1000, 10)");
    BOOST_TEST(admin.run("select from public.called where by <> 'app'").size() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace leasehold::test
