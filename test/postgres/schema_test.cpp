#include <boost/test/unit_test.hpp>

#include "postgres/locks.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace leasehold::test {
namespace {

using namespace std::string_literals;

/// Returns when the server's clock is past `time`.
void await_clock(locks& on, std::int64_t time)
{
    while (on.clock() <= time) {
    }
}

BOOST_FIXTURE_TEST_SUITE(schema_locks, lock_fixture,
                         *boost::unit_test::precondition(lock_server_can_be_started))

BOOST_AUTO_TEST_CASE(free_lock_is_granted_with_a_fence_of_the_clock)
{
    const std::int64_t before = a.clock();
    const acquired got = a.acquire({.owner = "a:1"});
    const std::int64_t after = a.clock();
    BOOST_TEST(got.result == granted);
    BOOST_TEST(got.fences == 1);
    BOOST_TEST(got.fence >= 2 * before);
    BOOST_TEST(got.fence <= 2 * after);
    BOOST_TEST(got.clock >= before);
    BOOST_TEST(got.clock <= after);
    BOOST_TEST(a.release("a:1").result == freed);
    BOOST_TEST(a.release("a:1").result == not_owner);
    const acquired next = b.acquire({.owner = "b:1"});
    BOOST_TEST(next.result == granted);
    BOOST_TEST(next.fence > got.fence);
}

BOOST_AUTO_TEST_CASE(held_lock_is_reported_with_its_rest_and_holder)
{
    a.acquire({.owner = "a:1", .lease = 30'000});
    lock_request request{.owner = "b:1"};
    BOOST_TEST(!b.acquire(request).holder.has_value());
    request.needs_holder = true;
    const acquired got = b.acquire(request);
    BOOST_TEST(got.result == held);
    BOOST_TEST(got.remaining > 20'000);
    BOOST_TEST(got.remaining <= 30'000);
    BOOST_TEST(got.place == -1);
    BOOST_TEST(got.holder.value() == "a");
}

BOOST_AUTO_TEST_CASE(request_for_a_held_lock_writes_nothing)
{
    const std::string transaction = "select pg_current_xact_id_if_assigned()::text as id";
    a.acquire({.owner = "a:1"});
    b.run("begin");
    BOOST_TEST(b.acquire({.owner = "b:1"}).result == held);
    BOOST_TEST(!b.run(transaction).get("id").has_value());
    b.acquire(waiting("b:1"));
    BOOST_TEST(b.run(transaction).get("id").has_value());
    b.run("commit");
}

BOOST_AUTO_TEST_CASE(acquire_after_its_deadline_changes_nothing)
{
    lock_request request{.owner = "a:1"};
    request.deadline = a.clock() - 1;
    BOOST_TEST(a.acquire(request).result == late);
    BOOST_TEST(admin.run("select from leasehold.lock").size() == 0u);
    request.deadline = a.clock() + 60'000'000;
    BOOST_TEST(a.acquire(request).result == granted);
    request.deadline = a.clock() - 1;
    request.entry = "e";
    BOOST_TEST(a.acquire(request).result == late);
}

/// Lets an acquire wait for the row, which a transaction of the administrator has locked, until its
/// deadline has passed.
acquired acquire_late(lock_fixture& f, lock_request request, const std::string& last_statement = {})
{
    for (std::int64_t limit = 20'000;; limit *= 2) {
        request.deadline = f.a.clock() + limit;
        f.b.send_acquire(request);
        if (is_blocked(f.a, f.b))
            break;
        f.b.receive_acquire(); // it was late already
    }
    await_clock(f.a, request.deadline);
    if (!last_statement.empty())
        f.admin.run(last_statement);
    f.admin.run("commit");
    return f.b.receive_acquire();
}

BOOST_AUTO_TEST_CASE(acquire_that_waited_for_a_free_row_past_its_deadline_is_late)
{
    a.acquire({.owner = "a:1"});
    a.release("a:1");
    admin.run("begin");
    admin.run("select from leasehold.lock for update");
    const acquired got = acquire_late(*this, {.owner = "b:1"});
    BOOST_TEST(got.result == late);
    BOOST_TEST(got.fences == 0);
    BOOST_TEST(b.release("b:1").result == not_owner);
    BOOST_TEST(a.acquire({.owner = "a:2"}).result == granted);
}

BOOST_AUTO_TEST_CASE(acquire_that_waited_for_a_changed_row_past_its_deadline_is_late)
{
    a.acquire({.owner = "a:1"});
    a.release("a:1");
    admin.run("begin");
    admin.run("update leasehold.lock set owner = 'x', expires = leasehold.clock() + 60000000");
    BOOST_TEST(
        acquire_late(*this, {.owner = "b:1"}, "update leasehold.lock set owner = null").result ==
        late);
    BOOST_TEST(a.acquire({.owner = "a:2"}).result == granted);
}

BOOST_AUTO_TEST_CASE(waiter_that_waited_for_a_held_row_past_its_deadline_does_not_join)
{
    a.acquire({.owner = "a:1"});
    admin.run("begin");
    admin.run("select from leasehold.lock for update");
    BOOST_TEST(acquire_late(*this, waiting("b:1")).result == late);
    BOOST_TEST(admin.run("select from leasehold.waiter").size() == 0u);
    BOOST_TEST(a.release("a:1").result == freed);
}

BOOST_AUTO_TEST_CASE(acquire_that_waited_for_a_new_row_past_its_deadline_is_late)
{
    admin.run("begin");
    admin.run("insert into leasehold.lock (fence, expires, block, waited, assigned, key) "
              "values (1, 0, 1, false, false, 'lock')");
    BOOST_TEST(acquire_late(*this, {.owner = "b:1"}, "delete from leasehold.lock").result == late);
    BOOST_TEST(b.release("b:1").result == not_owner);
    BOOST_TEST(a.acquire({.owner = "a:2"}).result == granted);
}

BOOST_AUTO_TEST_CASE(repeated_acquire_finds_its_own_owner)
{
    lock_request request{.owner = "a:1"};
    a.acquire(request);
    a.release("a:1");
    request.owner = "a:2";
    request.wanted = 5;
    const acquired first = a.acquire(request);
    BOOST_TEST(first.fences == 5);
    request.lease = 90'000;
    const acquired repeated = a.acquire(request);
    BOOST_TEST(repeated.result == granted);
    BOOST_TEST(repeated.fence == first.fence);
    BOOST_TEST(repeated.fences == 1);
    BOOST_TEST(b.acquire({.owner = "b:1"}).remaining > 80'000);
    BOOST_TEST(a.release("a:2").result == freed);
    BOOST_TEST(b.acquire({.owner = "b:1"}).first_fence() > repeated.fence);
}

BOOST_AUTO_TEST_CASE(fences_rise_in_blocks_that_do_not_overlap)
{
    std::int64_t last = 0;
    for (const std::int64_t wanted : {1, 100, 1'000'000, 1, 1'000'000}) {
        lock_request request{.owner = "a:1"};
        request.wanted = wanted;
        const acquired got = a.acquire(request);
        BOOST_TEST(got.first_fence() > last);
        BOOST_TEST(got.fences >= 1);
        BOOST_TEST(got.fences <= std::min<std::int64_t>(wanted, 10'000));
        BOOST_TEST(got.fence <= 2 * got.clock);
        last = got.fence;
        a.release("a:1");
    }
    admin.run("delete from leasehold.lock");
    BOOST_TEST(a.acquire({.owner = "a:1"}).first_fence() > last);
}

BOOST_AUTO_TEST_CASE(fence_is_above_the_floor)
{
    constexpr std::int64_t floor = 4'000'000'000'000'000'000;
    a.acquire({.owner = "a:1"});
    a.release("a:1");
    for (const char* name : {"lock", "new name"}) {
        lock_request request{.owner = "a:2", .name = name};
        request.wanted = 100;
        request.fence_floor = floor;
        const acquired got = a.acquire(request);
        BOOST_TEST(got.fence == floor + 1);
        BOOST_TEST(got.fences == 1);
        request.fence_floor = floor + 1;
        BOOST_TEST(a.acquire(request).fence == floor + 2);
        a.release("a:2", name);
        BOOST_TEST(b.acquire({.owner = "b:1", .name = name}).fence == floor + 3);
    }
}

BOOST_AUTO_TEST_CASE(reentrant_acquisition_counts_once)
{
    BOOST_TEST(a.acquire({.owner = "a:1", .entry = "e1"}).result == gone);
    a.acquire({.owner = "a:1"});
    for (const char* entry : {"e1", "e2", "e1", "e2"}) {
        const acquired got = a.acquire({.owner = "a:1", .entry = entry});
        BOOST_TEST(got.result == granted);
        BOOST_TEST(got.fences == 0);
    }
    BOOST_TEST(b.acquire({.owner = "b:1", .entry = "e1"}).result == gone);
    BOOST_TEST(a.release("a:1", "lock", "e1").result == still_held);
    BOOST_TEST(a.release("a:1", "lock", "e1").result == not_owner);
    BOOST_TEST(a.release("a:1").result == still_held);
    BOOST_TEST(a.release("a:1").result == not_owner);
    BOOST_TEST(b.release("b:1", "lock", "e2").result == not_owner);
    BOOST_TEST((a.renew({{"a:1"}, {"a:1", "lock", "e1"}, {"a:1", "lock", "e2"}}) ==
                std::vector<bool>{false, false, true}));
    BOOST_TEST(b.acquire({.owner = "b:1"}).result == held);
    BOOST_TEST(a.release("a:1", "lock", "e2").result == freed);
    BOOST_TEST(b.acquire({.owner = "b:1"}).result == granted);
    BOOST_TEST(b.release("b:1", "lock", "e2").result == not_owner); // of the earlier holder
}

BOOST_AUTO_TEST_CASE(lease_ends_by_the_clock_of_the_server)
{
    const acquired got = a.acquire({.owner = "a:1", .lease = 50});
    BOOST_TEST(a.acquire({.owner = "a:1", .entry = "e", .lease = 50}).result == granted);
    const std::int64_t earliest = got.clock + 50'000;
    acquired other;
    do {
        other = b.acquire({.owner = "b:1"});
        BOOST_TEST((other.result == granted || other.remaining > 0));
    } while (other.result != granted);
    BOOST_TEST(other.clock >= earliest);
    BOOST_TEST(other.fence > got.fence);
    BOOST_TEST((a.renew({{"a:1"}}) == std::vector<bool>{false}));
    BOOST_TEST(a.release("a:1").result == not_owner);
    BOOST_TEST(a.acquire({.owner = "a:1", .entry = "e"}).result == gone);
    BOOST_TEST(b.release("b:1").result == freed); // without the entry of the earlier holder
}

BOOST_AUTO_TEST_CASE(expired_lease_is_neither_renewed_nor_released)
{
    const acquired got = a.acquire({.owner = "a:1", .lease = 1});
    await_clock(b, got.clock + 1'000);
    BOOST_TEST((a.renew({{"a:1"}}) == std::vector<bool>{false}));
    BOOST_TEST(a.release("a:1").result == not_owner);
    BOOST_TEST(a.acquire({.owner = "a:1", .entry = "e"}).result == gone);
    const acquired again = a.acquire({.owner = "a:1"});
    BOOST_TEST(again.result == granted);
    BOOST_TEST(again.fence > got.fence);
}

BOOST_AUTO_TEST_CASE(renewals_are_answered_in_their_order_and_create_nothing)
{
    a.acquire({.owner = "a:1", .name = "one"});
    b.acquire({.owner = "b:1", .name = "two"});
    a.acquire({.owner = "a:3", .name = "three"});
    a.acquire({.owner = "a:3", .name = "three", .entry = "e"});
    BOOST_TEST((a.renew({{"a:3", "three"},
                         {"a:2", "two"},
                         {"a:4", "none"},
                         {"a:1", "one", "", 90'000},
                         {"a:3", "three", "e", 80'000},
                         {"a:3", "three", "unknown"},
                         {"a:3", "three", "", 70'000}}) ==
                std::vector<bool>{true, false, false, true, true, false, true}));
    BOOST_TEST(a.renew({}).empty());
    const auto rest = [&](const char* name) {
        return b.acquire({.owner = "b:9", .name = name}).remaining;
    };
    BOOST_TEST(rest("one") > 85'000);
    BOOST_TEST(rest("three") > 75'000);
    BOOST_TEST((a.renew({{"a:1", "one", "", 10}}) == std::vector<bool>{true}));
    BOOST_TEST(rest("one") > 80'000);
    BOOST_TEST(b.acquire({.owner = "b:9", .name = "none"}).result == granted);
}

BOOST_AUTO_TEST_CASE(renewals_lock_their_rows_in_the_order_of_keys)
{
    for (const char* name : {"one", "two"})
        a.acquire({.owner = "a:1", .name = name});
    admin.run("begin");
    admin.run("select from leasehold.lock where key = 'one' for update");
    a.send("select * from leasehold.renew('{two, one}', '{a:1, a:1}', '{\"\", \"\"}', '{1, 1}')");
    BOOST_REQUIRE(is_blocked(b, a));
    // A deadlock if the renewal has locked this row before.
    BOOST_CHECK_NO_THROW(admin.run("select from leasehold.lock where key = 'two' for update"));
    admin.run("rollback");
    BOOST_TEST(a.receive().size() == 2u);
}

BOOST_AUTO_TEST_CASE(any_bytes_make_a_name)
{
    const std::string start(256, 'n');
    for (const std::string& name :
         {"\0"s, "nul\0nul"s, "line\r\nline"s, "\xff\xfe"s, " "s, "'\\"s, std::string(255, 'n'),
          start, start + 'a', start + 'b', std::string(4096, 'n')}) {
        BOOST_TEST(a.acquire({.owner = "a:1", .name = name}).result == granted);
        BOOST_TEST(b.acquire({.owner = "b:1", .name = name}).result == held);
        BOOST_TEST((a.renew({{"a:1", name}}) == std::vector<bool>{true}));
    }
    BOOST_TEST(admin.run("select from leasehold.lock").size() == 11u);
    BOOST_TEST(a.release("a:1", start + 'a').result == freed);
    BOOST_TEST(b.acquire({.owner = "b:1", .name = start + 'b'}).result == held);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace leasehold::test
