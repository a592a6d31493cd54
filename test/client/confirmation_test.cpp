// Locks that replicas have to confirm.
#include <boost/test/unit_test.hpp>

#include "support/core_checks.hpp"

#include <memory>
#include <string>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using kind = recording_observer::kind;

namespace core_confirmation_test {

inline std::shared_ptr<fake_store> store_with_replicas(bool queues)
{
    auto made = std::make_shared<fake_store>();
    made->can.queues = queues;
    made->can.replica_acks = true;
    return made;
}

struct replicated : core_fixture
{
    explicit replicated(bool queues) : core_fixture(store_with_replicas(queues)) {}

    /// The latest acquire was granted, and the replicas did not confirm it.
    void deny()
    {
        diagnostics details;
        details.server_message = "0 of 1 replicas";
        acquire_reply reply;
        reply.may_hold = true;
        reply.details = std::make_shared<const diagnostics>(details);
        store->complete_acquire(store->acquire_count() - 1, errc::not_replicated, reply);
        poll();
    }
};

inline const lock_options by_one{.replica_acks = 1};
inline const lock_options by_two{.replica_acks = 2};

} // namespace core_confirmation_test

using namespace core_confirmation_test;

BOOST_AUTO_TEST_SUITE(core_confirmation)

BOOST_AUTO_TEST_CASE(acquire_carries_the_number_of_replicas_and_their_timeout)
{
    replicated e(false);
    e.lock(e.spec("a", by_two));
    BOOST_TEST(e.last_acquire().replica_acks == 2u);
    BOOST_TEST((e.last_acquire().replica_timeout == 1s)); // an eighth of 30 s, or less
    e.lock(e.spec("b", {.lease_time = 4s, .replica_acks = 1}));
    BOOST_TEST((e.last_acquire().replica_timeout == 500ms));
    e.lock(e.spec("c", {.replica_acks = 1, .replica_timeout = 70ms}));
    BOOST_TEST((e.last_acquire().replica_timeout == 70ms));
    e.lock(e.spec("d"));
    BOOST_TEST(e.last_acquire().replica_acks == 0u);
}

BOOST_AUTO_TEST_CASE(unconfirmed_lock_is_released_and_reported_at_once)
{
    for (const bool queues : {false, true}) {
        replicated e(queues);
        const auto op = e.lock(e.spec("a", by_one));
        const std::string owner = e.last_acquire().owner;
        e.deny();
        BOOST_TEST(code(*op) == errc::not_replicated);
        BOOST_TEST_REQUIRE(e.store->release_count() == 1u);
        BOOST_TEST(e.last_release().owner == owner);
        const auto events = e.seen->events(kind::not_acquired);
        BOOST_TEST_REQUIRE(events.size() == 1u);
        BOOST_TEST(events[0].details.server_message == "0 of 1 replicas");
        e.say_freed();
        BOOST_TEST(e.store->pending() == 0u, queues);
        check_idle(e);
    }
}

BOOST_AUTO_TEST_CASE(unconfirmed_reentrant_acquisition_is_released_and_reported_at_once)
{
    for (const bool queues : {false, true}) {
        replicated e(queues);
        e.renew_all_when_asked = true;
        lease held = e.taken(e.spec("a", by_one));
        const auto op = e.lock(e.spec("a", by_one), clock::duration::max(), held.share_owner());
        const std::string entry = e.last_acquire().entry;
        BOOST_TEST(!entry.empty());
        e.deny();
        BOOST_TEST(code(*op) == errc::not_replicated);
        BOOST_TEST_REQUIRE(e.store->release_count() == 1u);
        BOOST_TEST(e.last_release().entry == entry);
        BOOST_TEST(held.valid());
        e.kept.push_back(std::move(held));
    }
}

// A waiter that needs fewer replicas may still succeed.
BOOST_AUTO_TEST_CASE(missing_confirmation_fails_waiters_that_need_as_many_replicas)
{
    for (const bool queues : {false, true}) {
        replicated e(queues);
        const auto two = e.lock(e.spec("a", by_two));
        const auto one = e.lock(e.spec("a", by_one));
        const auto three = e.lock(e.spec("a", {.replica_acks = 3}));
        e.deny();
        BOOST_TEST(code(*two) == errc::not_replicated);
        BOOST_TEST(code(*three) == errc::not_replicated);
        BOOST_TEST(!one->done());
        if (e.store->release_count() > 0)
            e.say_freed();
        e.advance(100ms);
        BOOST_TEST(e.store->acquire_count() == 2u);
        BOOST_TEST(e.last_acquire().replica_acks == 1u);
        e.grant();
        BOOST_TEST(!code(*one));
        e.kept.push_back(std::move(one->value<1>()));
    }
}

// The next owner sends a request of its own. If the store did not enqueue that owner with the
// release, the client would believe that it may still be enqueued, and a shutdown would wait for
// it.
BOOST_AUTO_TEST_CASE(release_enqueues_no_owner_that_replicas_have_to_confirm)
{
    using left = release_reply::outcome;
    replicated e(true);
    const auto what = e.spec("a", {.handoff_count = 0, .replica_acks = 1});
    const auto one = e.lock(what);
    e.grant();
    const auto two = e.lock(what);
    e.release(std::move(one->value<1>()));
    BOOST_TEST_REQUIRE(e.store->release_count() == 1u);
    BOOST_TEST(!e.last_release().next);
    e.store->complete_release(0, {}, {.result = left::granted_next});
    e.poll();
    BOOST_TEST_REQUIRE(e.store->acquire_count() == 2u);
    BOOST_TEST(e.last_acquire().replica_acks == 1u);
    e.store->complete_acquire(
        1, {}, {.result = acquire_reply::outcome::held, .remaining = 10s, .queued = true});
    e.poll();

    const auto ended = e.shutdown();
    BOOST_TEST((code(*two) == errc::shut_down));
    BOOST_TEST_REQUIRE(e.store->release_count() == 2u);
    e.store->complete_release(1, {}, {.result = left::left_queue});
    e.poll();
    BOOST_TEST(code(*ended) == error_code());
}

BOOST_AUTO_TEST_CASE(lease_is_not_handed_to_a_waiter_with_another_number_of_replicas)
{
    replicated e(false);
    e.renew_all_when_asked = true;
    lease held = e.taken(e.spec("a"), 10);
    const auto op = e.lock(e.spec("a", by_one));
    const auto released = e.release(std::move(held));
    BOOST_TEST(!op->done());
    BOOST_TEST(e.store->release_count() == 1u);
    e.say_freed();
    BOOST_TEST(e.last_acquire().replica_acks == 1u);
}

// A release would grant it the lock before replicas have confirmed the grant.
BOOST_AUTO_TEST_CASE(next_owner_with_replicas_sends_its_own_acquire)
{
    replicated e(true);
    const auto what = e.spec("a", {.handoff_count = 0, .replica_acks = 1});
    lease held = e.taken(what);
    const auto op = e.lock(what);
    const auto released = e.release(std::move(held));
    BOOST_TEST_REQUIRE(e.store->release_count() == 1u);
    BOOST_TEST(!e.last_release().next);
    e.say_freed();
    BOOST_TEST(e.last_acquire().replica_acks == 1u);
    BOOST_TEST(!e.last_acquire().again); // the store does not know the owner
    e.grant();
    BOOST_TEST(!code(*op));
    e.kept.push_back(std::move(op->value<1>()));
}

BOOST_AUTO_TEST_CASE(unconfirmed_renewal_counts_as_failed)
{
    replicated e(false);
    lease held = e.taken(e.spec("a", by_one));
    const auto lost = e.wait_lost(held);
    const auto deadline = held.deadline();
    e.advance(10s);
    BOOST_TEST_REQUIRE(e.store->renew_count() == 1u);
    BOOST_TEST(e.store->renewals()[0].locks[0].replica_acks == 1u);
    BOOST_TEST((e.store->renewals()[0].locks[0].replica_timeout == 1s));
    e.renew_all(renewal_result::unconfirmed);
    BOOST_TEST((held.deadline() == deadline));
    const auto late = e.seen->events(kind::renewal_late);
    BOOST_TEST_REQUIRE(late.size() == 1u);
    BOOST_TEST((late[0].code == errc::not_replicated));
    // The renewal is retried and may still succeed.
    const auto asked = [&](std::size_t before) {
        while (e.store->renew_count() == before && !lost->done())
            e.advance(10ms);
        return e.store->renew_count() > before;
    };
    BOOST_TEST_REQUIRE(asked(1));
    e.renew_all();
    BOOST_TEST((held.deadline() > deadline));
    while (asked(e.store->renew_count()))
        e.renew_all(renewal_result::unconfirmed);
    BOOST_TEST(code(*lost) == errc::expired);
    const auto events = e.seen->events(kind::lost);
    BOOST_TEST_REQUIRE(events.size() == 1u);
    BOOST_TEST((events[0].details.cause == errc::not_replicated));
}

// Confirmation takes time. Renewals without replicas do not wait for it.
BOOST_AUTO_TEST_CASE(renewals_with_and_without_replicas_are_sent_separately)
{
    replicated e(false);
    const lease plain = e.taken(e.spec("a"));
    const lease confirmed = e.taken(e.spec("b", by_one));
    while (e.store->renew_count() < 2)
        e.advance(1ms);
    const auto calls = e.store->renewals();
    BOOST_TEST_REQUIRE(calls.size() == 2u);
    BOOST_TEST_REQUIRE(calls[0].locks.size() == 1u);
    BOOST_TEST_REQUIRE(calls[1].locks.size() == 1u);
    BOOST_TEST(calls[0].locks[0].name == "a");
    BOOST_TEST(calls[1].locks[0].name == "b");
    // The timeout for replicas is added to the usual timeout of a renewal.
    e.store->renew_all(0);
    e.advance(5s + 900ms);
    BOOST_TEST(e.seen->count(kind::renewal_late) == 0u);
    e.advance(200ms);
    BOOST_TEST(e.seen->count(kind::renewal_late) == 1u);
}

// A lease whose replicas respond does not wait for the replicas of another lease.
BOOST_AUTO_TEST_CASE(renewals_with_different_numbers_of_replicas_are_sent_separately)
{
    replicated e(false);
    const lease one = e.taken(e.spec("a", by_one));
    const lease two = e.taken(e.spec("b", by_two));
    const lease alike = e.taken(e.spec("c", by_one));
    while (e.store->renew_count() < 2)
        e.advance(1ms);
    const auto calls = e.store->renewals();
    BOOST_TEST_REQUIRE(calls.size() == 2u);
    BOOST_TEST_REQUIRE(calls[0].locks.size() == 2u);
    BOOST_TEST_REQUIRE(calls[1].locks.size() == 1u);
    BOOST_TEST(calls[0].locks[0].name == "a");
    BOOST_TEST(calls[0].locks[1].name == "c");
    BOOST_TEST(calls[1].locks[0].name == "b");
    const auto before = one.deadline();
    e.store->renew_all(0);
    e.poll();
    BOOST_TEST((one.deadline() > before));
    BOOST_TEST((two.deadline() == before));
}

BOOST_AUTO_TEST_CASE(mutex_with_replica_acks_is_rejected_by_a_store_without_replicas)
{
    asio::io_context context;
    const client locks(context, "memory:");
    try {
        mutex refused(locks, "a", by_one);
        BOOST_ERROR("not refused");
    }
    catch (const boost::system::system_error& error) {
        BOOST_TEST((error.code() == errc::not_supported));
        const std::string why = error.what();
        BOOST_TEST(why.find("replica_acks") != std::string::npos, why);
        BOOST_TEST(why.find("0 in this store") != std::string::npos, why);
    }
}

BOOST_AUTO_TEST_SUITE_END()
