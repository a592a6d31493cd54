// The procedures of the schema, without the store.
#include <boost/test/unit_test.hpp>

#include "mysql/locks.hpp"

#include <exception>
#include <string>
#include <thread>
#include <vector>

namespace leasehold::test {
namespace {

/// The row of "lock" is locked for a while.
struct schema_fixture : lock_fixture
{
    /// Acquires while another session keeps the row locked until the deadline has passed.
    acquired acquire_late(lock_request request)
    {
        admin.run("start transaction; select 1 from leasehold_lock for update");
        request.deadline =
            admin.run("select cast(unix_timestamp(sysdate(6)) * 1000000 as signed) as t")
                .number("t") +
            200'000;
        acquired got;
        std::exception_ptr failure;
        std::thread waits([&] {
            try {
                got = b.acquire(request);
            }
            catch (...) {
                failure = std::current_exception();
            }
        });
        mysql_connection observer(where);
        while (observer.run("show global status like 'Innodb_row_lock_current_waits'")
                   .number("Value") == 0)
            std::this_thread::yield();
        admin.run("select sleep(0.25); commit");
        waits.join();
        if (failure)
            std::rethrow_exception(failure);
        return got;
    }
};

BOOST_FIXTURE_TEST_SUITE(schema, schema_fixture,
                         *boost::unit_test::precondition(lock_server_can_be_started))

BOOST_AUTO_TEST_CASE(free_lock_is_acquired_with_a_block_of_fences)
{
    a.acquire({.owner = "a:0"});
    a.release("a:0");
    lock_request request{.owner = "a:1"};
    request.wanted = 5;
    const acquired first = a.acquire(request);
    BOOST_TEST(first.result == granted);
    BOOST_TEST(first.fences == 5);
    BOOST_TEST(a.release("a:1").result == freed);
    const acquired second = b.acquire({.owner = "b:1"});
    BOOST_TEST(second.fence > first.fence);
    lock_request above{.owner = "c:1", .name = "other"};
    above.fence_floor = 9'000'000'000'000'000;
    BOOST_TEST(a.acquire(above).fence == above.fence_floor + 1);
}

BOOST_AUTO_TEST_CASE(fences_rise_if_the_row_is_lost)
{
    lock_request request{.owner = "a:1"};
    request.wanted = 10'000;
    std::int64_t last = 0;
    for (int i = 0; i < 20; ++i) {
        const acquired got = a.acquire(request);
        BOOST_TEST(got.first_fence() > last);
        last = got.fence;
        admin.run("delete from leasehold_lock");
    }
}

BOOST_AUTO_TEST_CASE(held_lock_is_reported_with_its_holder)
{
    a.acquire({.owner = "a:1"});
    lock_request request{.owner = "b:1"};
    request.needs_holder = true;
    const acquired got = b.acquire(request);
    BOOST_TEST(got.result == held);
    BOOST_TEST(got.holder.value() == "a");
    BOOST_TEST((got.remaining > 50'000 && got.remaining <= 60'000));
    BOOST_TEST(got.place == -1);
}

BOOST_AUTO_TEST_CASE(request_that_is_late_changes_nothing)
{
    lock_request request{.owner = "a:1"};
    request.deadline = 1;
    BOOST_TEST(a.acquire(request).result == late);
    BOOST_TEST(admin.run("select 1 from leasehold_lock").size() == 0u);
}

BOOST_AUTO_TEST_CASE(request_that_is_late_after_the_wait_for_the_row_changes_nothing)
{
    a.acquire({.owner = "a:1"});
    a.release("a:1");
    BOOST_TEST(acquire_late({.owner = "b:1"}).result == late);
    BOOST_TEST(holder_of("lock").empty());
    a.acquire({.owner = "a:2"});
    BOOST_TEST(acquire_late(waiting("b:1")).result == late);
    BOOST_TEST(waiters_of("lock").empty());
}

BOOST_AUTO_TEST_CASE(reentrant_acquisitions_are_counted)
{
    lock_request again{.owner = "a:1", .entry = "x"};
    BOOST_TEST(a.acquire(again).result == gone);
    a.acquire({.owner = "a:1"});
    BOOST_TEST(a.acquire(again).result == granted);
    BOOST_TEST(a.acquire(again).result == granted);
    again.entry = std::string("\0,", 2);
    BOOST_TEST(a.acquire(again).result == granted);
    BOOST_TEST(admin.run("call leasehold_held(null)").number("holds") == 3);
    BOOST_TEST(
        (a.renew({{"a:1", "lock", "x"}, {"a:1", "lock", "y"}}) == std::vector<bool>{true, false}));
    BOOST_TEST(a.release("a:1").result == still_held);
    BOOST_TEST(a.release("a:1").result == not_owner);
    BOOST_TEST(a.release("a:1", "lock", again.entry).result == still_held);
    BOOST_TEST(a.release("a:1", "lock", "x").result == freed);
    BOOST_TEST(holder_of("lock").empty());
}

BOOST_AUTO_TEST_CASE(renewal_never_shortens_a_lease)
{
    a.acquire({.owner = "a:1"});
    BOOST_TEST((a.renew({{.owner = "b:1"}, {.owner = "a:1", .lease = 1}}) ==
                std::vector<bool>{false, true}));
    BOOST_TEST(b.acquire({.owner = "b:1"}).remaining > 50'000);
    BOOST_TEST((a.renew({{.owner = "a:1", .lease = 600'000}}) == std::vector<bool>{true}));
    BOOST_TEST(b.acquire({.owner = "b:1"}).remaining > 590'000);
    expire("lock");
    BOOST_TEST((a.renew({{.owner = "a:1"}}) == std::vector<bool>{false}));
}

BOOST_AUTO_TEST_CASE(waiter_whose_session_for_grants_has_ended_is_skipped)
{
    a.acquire({.owner = "a:1"});
    lock_request request = waiting("b:1");
    {
        const listening ended(where, "b");
        request.listener = ended.listener();
        b.acquire(request);
    }
    while (admin
               .run("select 1 where is_used_lock(" +
                    literal("leasehold:" + std::to_string(request.listener)) + ") is not null")
               .size() != 0)
        std::this_thread::yield();
    b.acquire(waiting("b:2"));
    BOOST_TEST(a.release("a:1").result == granted_next);
    BOOST_TEST(holder_of("lock") == "b:2");
    BOOST_TEST(waiters_of("lock").empty());
}

BOOST_AUTO_TEST_CASE(bell_is_not_rung_by_a_transaction_that_was_rolled_back)
{
    listening heard(where, "b");
    a.acquire({.owner = "a:1"});
    lock_request request = waiting("b:1");
    request.listener = heard.listener();
    b.acquire(request);
    a.run("start transaction; call leasehold_release('lock', 'a:1', '', '', 0,0,0,0,0,0,0);"
          "rollback");
    BOOST_TEST(heard.grants().empty());
    BOOST_TEST(holder_of("lock") == "a:1");
    BOOST_TEST(a.release("a:1").result == granted_next);
    BOOST_TEST((heard.next_grant().value() == announced_grant{"b:1", "lock"}));
}

BOOST_AUTO_TEST_CASE(grants_are_read_without_a_wait_for_their_rows)
{
    listening heard(where, "b");
    a.acquire({.owner = "a:1"});
    lock_request request = waiting("b:1");
    request.listener = heard.listener();
    b.acquire(request);
    BOOST_TEST(a.release("a:1").result == granted_next);
    admin.run("start transaction; select 1 from leasehold_lock where name = 'lock' for update");
    BOOST_TEST((heard.next_grant().value() == announced_grant{"b:1", "lock"}));
    BOOST_TEST(heard.grants().empty());
    admin.run("commit");
}

BOOST_AUTO_TEST_CASE(unused_names_are_swept)
{
    for (const char* name : {"a", "b", "c", "d"})
        a.acquire({.owner = "a:1", .name = name});
    b.acquire(waiting("b:1", "d"));
    for (const char* name : {"a", "b", "d"})
        admin.run("update leasehold_lock set expires = 1, fence = 1 where name = '" +
                  std::string(name) + "'");
    // A row that is locked by another session is in use.
    admin.run("start transaction; select 1 from leasehold_lock where name = 'b' for update");
    BOOST_TEST(a.call("call leasehold_sweep('', 1000, 3)").bytes("last") == "c");
    admin.run("commit");
    BOOST_TEST(a.call("call leasehold_sweep('c', 1000, 3)").bytes("last") == "d");
    BOOST_TEST(a.call("call leasehold_sweep('d', 1000, 3)").bytes("last").empty());
    const mysql_rows left = admin.run("select name from leasehold_lock order by name");
    BOOST_REQUIRE(left.size() == 3u);
    BOOST_TEST(left.bytes("name", 0) == "b");
    BOOST_TEST(left.bytes("name", 2) == "d");
}

BOOST_AUTO_TEST_CASE(lock_is_removed_by_hand_for_one_owner_only)
{
    a.acquire({.owner = "a:1"});
    a.acquire({.owner = "a:1", .entry = "x"});
    b.acquire(waiting("b:1"));
    BOOST_TEST(admin.run("call leasehold_remove('lock', 'b:1')").number("result") == 0);
    BOOST_TEST(admin.run("call leasehold_remove('lock', 'a:1')").number("result") == 4);
    BOOST_TEST(holder_of("lock") == "b:1");
}

BOOST_AUTO_TEST_CASE(schema_is_installed_again_over_its_locks)
{
    a.acquire({.owner = "a:1"});
    admin.run(schema_query());
    BOOST_TEST(b.acquire({.owner = "b:1"}).result == held);
    BOOST_TEST(admin.run("call leasehold_version()").number("version") == 1);
}

BOOST_AUTO_TEST_CASE(application_cannot_read_or_write_the_tables)
{
    for (const char* text : {"select * from leasehold_lock", "update leasehold_lock set fence = 0"})
        BOOST_CHECK_EXCEPTION(a.run(text), mysql_failure,
                              [](const mysql_failure& failed) { return failed.code == 1142; });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace leasehold::test
