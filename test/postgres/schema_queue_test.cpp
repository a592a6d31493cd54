#include <boost/test/unit_test.hpp>

#include "postgres/locks.hpp"

#include <string>
#include <vector>

namespace leasehold::test {
namespace {

using grant = listening::grant;

struct queue_fixture : lock_fixture
{
    void expire(const std::string& name = "lock") { lock_fixture::expire(name); }

    void expect_queued(const acquired& got, std::int64_t place)
    {
        BOOST_TEST(got.result == held);
        BOOST_TEST(got.place == place);
        BOOST_TEST(got.remaining > 0);
    }

    listening heard_by_a{where, "a"};
    listening heard_by_b{where, "b"};
};

BOOST_FIXTURE_TEST_SUITE(schema_queue, queue_fixture,
                         *boost::unit_test::precondition(lock_server_can_be_started))

BOOST_AUTO_TEST_CASE(released_lock_is_granted_in_the_order_of_the_queue)
{
    const acquired first = a.acquire(waiting("a:1"));
    BOOST_TEST(first.result == granted);
    expect_queued(b.acquire(waiting("b:1")), 0);
    expect_queued(a.acquire(waiting("a:2")), 1);
    expect_queued(b.acquire(waiting("b:1")), 0);
    BOOST_TEST(b.acquire({.owner = "b:3"}).place == -1);

    BOOST_TEST(a.release("a:1").result == granted_next);
    BOOST_TEST((heard_by_b.grants() == std::vector<grant>{{"b:1", "lock"}}));
    BOOST_TEST(heard_by_a.grants().empty());
    expect_queued(a.acquire(waiting("a:2")), 0);
    const acquired second = b.acquire(waiting("b:1"));
    BOOST_TEST(second.result == granted);
    BOOST_TEST(second.fence > first.fence);

    BOOST_TEST(b.release("b:1").result == granted_next);
    BOOST_TEST((heard_by_a.grants() == std::vector<grant>{{"a:2", "lock"}}));
    BOOST_TEST(a.acquire(waiting("a:2")).result == granted);
    BOOST_TEST(a.release("a:2").result == freed);
    BOOST_TEST(b.acquire({.owner = "b:4"}).result == granted);
}

BOOST_AUTO_TEST_CASE(grant_is_a_claim_until_an_acquire_confirms_it)
{
    const acquired first = a.acquire({.owner = "a:1"});
    lock_request request = waiting("b:1");
    request.claim = 5'000;
    request.wanted = 3;
    b.acquire(request);
    a.release("a:1");
    const auto rest = [&] { return a.acquire({.owner = "a:2"}).remaining; };
    BOOST_TEST(rest() <= 5'000);
    const acquired confirmed = b.acquire(request);
    BOOST_TEST(confirmed.fences == 3);
    BOOST_TEST(confirmed.first_fence() > first.fence);
    BOOST_TEST(rest() > 50'000);
    const acquired repeated = b.acquire(request);
    BOOST_TEST(repeated.fence == confirmed.fence);
    BOOST_TEST(repeated.fences == 1);
}

BOOST_AUTO_TEST_CASE(claim_is_not_longer_than_the_lease)
{
    a.acquire({.owner = "a:1"});
    lock_request request = waiting("b:1");
    request.lease = 2'000;
    b.acquire(request);
    a.release("a:1");
    BOOST_TEST(a.acquire({.owner = "a:2"}).remaining <= 2'000);
}

BOOST_AUTO_TEST_CASE(unconfirmed_grant_expires_and_any_acquire_grants_to_the_next)
{
    a.acquire({.owner = "a:1"});
    b.acquire(waiting("b:1"));
    b.acquire(waiting("b:2"));
    a.release("a:1");
    expire();
    heard_by_b.grants();
    BOOST_TEST(a.acquire({.owner = "a:2"}).result == held);
    BOOST_TEST((heard_by_b.grants() == std::vector<grant>{{"b:2", "lock"}}));
    expect_queued(b.acquire(waiting("b:1")), 0);
    BOOST_TEST(b.acquire(waiting("b:2")).result == granted);
}

BOOST_AUTO_TEST_CASE(absent_waiter_is_skipped_and_removed)
{
    a.acquire({.owner = "a:1"});
    b.acquire(waiting("b:1"));
    b.acquire(waiting("b:2"));
    expire_presence("b:1");
    BOOST_TEST(a.release("a:1").result == granted_next);
    BOOST_TEST((heard_by_b.grants() == std::vector<grant>{{"b:2", "lock"}}));
    b.acquire(waiting("b:2"));
    expect_queued(b.acquire(waiting("b:1")), 0);
    expire_presence("b:1");
    BOOST_TEST(b.release("b:2").result == freed);
    BOOST_TEST(admin.run("select from leasehold.waiter").size() == 0u);
    BOOST_TEST(a.acquire({.owner = "a:2"}).result == granted);
}

BOOST_AUTO_TEST_CASE(poll_of_a_waiter_extends_its_presence)
{
    a.acquire({.owner = "a:1"});
    b.acquire(waiting("b:1"));
    expire_presence("b:1");
    expect_queued(b.acquire(waiting("b:1")), 0);
    BOOST_TEST(a.release("a:1").result == granted_next);
}

BOOST_AUTO_TEST_CASE(waiter_is_absent_when_its_listening_connection_has_ended)
{
    lock_request second = waiting("b:2");
    second.listener = heard_by_b.listener();
    {
        const listening ended(where, "c");
        lock_request first = waiting("c:1");
        first.listener = ended.listener();
        a.acquire({.owner = "a:1"});
        b.acquire(first);
        b.acquire(second);
        BOOST_TEST(a.release("a:1").result == granted_next);
        BOOST_TEST(b.acquire(first).result == granted); // it was present
        a.acquire(waiting("a:2"));
        BOOST_TEST(b.release("c:1").result == granted_next);
        BOOST_TEST(b.acquire(first).place == 1);
        BOOST_TEST(b.acquire(second).result == granted);
        BOOST_TEST(b.release("b:2").result == granted_next); // to a:2
        b.acquire(second);                                   // behind c:1
    }
    const auto connected = [&] {
        return admin.run("select from pg_locks where locktype = 'advisory' and classid = 27752 "
                         "and not pid = $1",
                         {std::to_string(heard_by_b.pid())});
    };
    while (connected().size() > 1) { // that of a
    }
    heard_by_b.grants();
    BOOST_TEST(a.release("a:2").result == granted_next);
    BOOST_TEST((heard_by_b.grants() == std::vector<grant>{{"b:2", "lock"}}));
}

BOOST_AUTO_TEST_CASE(waiter_may_listen_on_its_own_connection)
{
    const std::int64_t listener = b.run("select * from leasehold.attend('b')").number("listener");
    a.acquire({.owner = "a:1"});
    lock_request request = waiting("b:1");
    request.listener = listener;
    b.acquire(request);
    expire();
    BOOST_TEST(b.acquire({.owner = "b:2"}).result == held);
    BOOST_TEST(b.acquire(request).result == granted);
}

BOOST_AUTO_TEST_CASE(waiter_that_left_the_queue_gets_no_grant)
{
    a.acquire({.owner = "a:1"});
    b.acquire(waiting("b:1"));
    b.acquire(waiting("b:2"));
    BOOST_TEST(b.release("b:1").result == left_queue);
    BOOST_TEST(b.release("b:1").result == not_owner);
    BOOST_TEST(a.release("a:1").result == granted_next);
    BOOST_TEST((heard_by_b.grants() == std::vector<grant>{{"b:2", "lock"}}));
    a.acquire(waiting("a:2"));
    BOOST_TEST(b.release("b:2").result == granted_next); // it did not confirm
    BOOST_TEST(a.release("a:2").result == freed);
}

BOOST_AUTO_TEST_CASE(leaving_waiter_grants_an_expired_lock_to_the_next)
{
    a.acquire({.owner = "a:1"});
    b.acquire(waiting("b:1"));
    b.acquire(waiting("b:2"));
    expire();
    BOOST_TEST(a.release("a:1").result == not_owner);
    BOOST_TEST(heard_by_b.grants().empty());
    BOOST_TEST(b.release("b:1").result == left_queue);
    BOOST_TEST((heard_by_b.grants() == std::vector<grant>{{"b:2", "lock"}}));
    BOOST_TEST(b.acquire(waiting("b:2")).result == granted);
}

BOOST_AUTO_TEST_CASE(next_owner_joins_in_the_same_step)
{
    a.acquire({.owner = "a:1"});
    b.acquire(waiting("b:1"));
    const released left = a.release("a:1", "lock", "", waiting("a:2"));
    BOOST_TEST(left.result == granted_next);
    expect_queued(left.next.value(), 0);
    b.acquire(waiting("b:1"));
    BOOST_TEST(b.release("b:1").result == granted_next);
    BOOST_TEST((heard_by_a.grants() == std::vector<grant>{{"a:2", "lock"}}));
}

BOOST_AUTO_TEST_CASE(next_owner_gets_the_lock_if_the_queue_is_empty)
{
    const acquired first = a.acquire({.owner = "a:1"});
    lock_request next = waiting("a:2");
    next.wanted = 7;
    const released left = a.release("a:1", "lock", "", next);
    BOOST_TEST(left.result == freed);
    BOOST_TEST(left.next.value().result == granted);
    BOOST_TEST(left.next.value().first_fence() > first.fence);
    BOOST_TEST(b.acquire({.owner = "b:1"}).result == held);
    BOOST_TEST(a.release("a:2").result == freed);
}

BOOST_AUTO_TEST_CASE(next_owner_does_not_join_if_late_or_if_nothing_was_released)
{
    lock_request next = waiting("a:2");
    BOOST_TEST(!a.release("a:1", "lock", "", next).next.has_value());
    a.acquire({.owner = "a:1"});
    next.deadline = a.clock() - 1;
    const released left = a.release("a:1", "lock", "", next);
    BOOST_TEST(left.result == freed);
    BOOST_TEST(!left.next.has_value());
    BOOST_TEST(a.release("a:1", "lock", "", waiting("a:2")).result == not_owner);
    BOOST_TEST(admin.run("select from leasehold.waiter").size() == 0u);
    BOOST_TEST(b.acquire({.owner = "b:1"}).result == granted);
}

BOOST_AUTO_TEST_CASE(waiter_that_joins_during_a_release_gets_the_lock)
{
    a.acquire({.owner = "a:1"});
    b.run("begin");
    expect_queued(b.acquire(waiting("b:1")), 0);
    a.send(
        "select * from leasehold.release('lock', 'a:1', '', 'a:2', 60000, 1, 0, 0, 60000, 1, 0)");
    BOOST_REQUIRE(is_blocked(admin, a));
    b.run("commit");
    const postgresql_rows left = a.receive();
    BOOST_TEST(left.number("result") == granted_next);
    BOOST_TEST(left.number("next_place") == 0);
    BOOST_TEST((heard_by_b.grants() == std::vector<grant>{{"b:1", "lock"}}));
}

BOOST_AUTO_TEST_CASE(waiters_wait_for_each_reentrant_acquisition)
{
    a.acquire({.owner = "a:1"});
    b.acquire(waiting("b:1"));
    BOOST_TEST(a.acquire({.owner = "a:1", .entry = "e"}).result == granted);
    const released left = a.release("a:1", "lock", "", waiting("a:2"));
    BOOST_TEST(left.result == still_held);
    expect_queued(left.next.value(), 1);
    expect_queued(b.acquire(waiting("b:1")), 0);
    BOOST_TEST(a.release("a:1", "lock", "e").result == granted_next);
    BOOST_TEST((heard_by_b.grants() == std::vector<grant>{{"b:1", "lock"}}));
}

BOOST_AUTO_TEST_CASE(queue_survives_the_deletion_of_its_lock)
{
    a.acquire({.owner = "a:1"});
    b.acquire(waiting("b:1"));
    admin.run("delete from leasehold.lock");
    BOOST_TEST((a.renew({{"a:1"}}) == std::vector<bool>{false}));
    BOOST_TEST(a.release("a:1").result == not_owner);
    BOOST_TEST(a.acquire({.owner = "a:2"}).result == held);
    BOOST_TEST((heard_by_b.grants() == std::vector<grant>{{"b:1", "lock"}}));
    BOOST_TEST(b.acquire(waiting("b:1")).result == granted);
    a.acquire(waiting("a:3"));
    admin.run("delete from leasehold.lock");
    BOOST_TEST(a.release("a:3").result == left_queue);
    BOOST_TEST(b.acquire(waiting("b:2")).result == granted);
}

BOOST_AUTO_TEST_CASE(notification_carries_the_longest_name_and_owner)
{
    const std::string name(4096, '\xff');
    const std::string owner = "b:" + std::string(253, '\0');
    a.acquire({.owner = "a:1", .name = name});
    b.acquire(waiting(owner, name));
    BOOST_TEST(a.release("a:1", name).result == granted_next);
    BOOST_TEST((heard_by_b.grants() == std::vector<grant>{{owner, name}}));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace leasehold::test
