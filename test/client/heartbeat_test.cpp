// Leases with heartbeats (`lock_options::dead_holder_grace`).
#include <boost/test/unit_test.hpp>

#include "support/core_checks.hpp"

#include "fsm/lease/keep_alive.hpp"

#include <memory>
#include <string>
#include <utility>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using kind = recording_observer::kind;

namespace core_heartbeat_test {

inline std::shared_ptr<fake_store> store_with_records(bool queues)
{
    auto made = std::make_shared<fake_store>();
    made->can.queues = queues;
    made->can.dead_holder_grace = true;
    return made;
}

inline constexpr lock_options::milliseconds grace = 2s;
inline constexpr clock::duration silence = grace - fsm::drift_margin(grace);
inline const lock_options promised{.lease_time = 60s, .dead_holder_grace = grace};

struct promising : core_fixture
{
    explicit promising(bool queues = true) : core_fixture(store_with_records(queues)) {}

    /// Whether the store has recorded the grace.
    lease granted(const detail::spec_ptr& of, bool noted = true)
    {
        const auto op = lock(of);
        acquire_reply reply{
            .result = acquire_reply::outcome::granted, .fences = 1, .first_fence = fence++};
        reply.grace_registered = noted;
        store->complete_acquire(store->acquire_count() - 1, {}, reply);
        poll();
        BOOST_TEST_REQUIRE(op->done());
        return std::move(op->value<1>());
    }

    /// Grants the lock with fences for further waiters of this client.
    void grant_to_several()
    {
        acquire_reply reply{
            .result = acquire_reply::outcome::granted, .fences = 8, .first_fence = 1};
        reply.grace_registered = true;
        store->complete_acquire(0, {}, reply);
        poll();
    }

    std::size_t heartbeats() const { return store->heartbeats().size(); }

    /// Answers the latest heartbeat.
    void confirm(bool known = true)
    {
        store->complete_alive(heartbeats() - 1, {}, known);
        poll();
    }

    void refuse(error_code why)
    {
        store->complete_alive(heartbeats() - 1, why);
        poll();
    }
};

} // namespace core_heartbeat_test

using namespace core_heartbeat_test;

BOOST_AUTO_TEST_SUITE(core_heartbeats)

BOOST_AUTO_TEST_CASE(no_heartbeat_is_sent_without_the_option)
{
    promising e;
    const lease held = e.taken(e.spec("a"));
    BOOST_TEST((e.last_acquire().dead_holder_grace == 0ms));
    e.advance(9s);
    BOOST_TEST(e.heartbeats() == 0u);
}

BOOST_AUTO_TEST_CASE(no_heartbeat_is_sent_if_the_store_recorded_no_grace)
{
    promising e;
    const auto begun = e.time.now();
    const lease held = e.granted(e.spec("a", promised), false);
    BOOST_TEST((e.last_acquire().dead_holder_grace == grace));
    BOOST_TEST((held.deadline() == begun + 60s - fsm::drift_margin(60s)));
    e.advance(10s);
    BOOST_TEST(e.heartbeats() == 0u);
    BOOST_TEST(held.valid());
}

BOOST_AUTO_TEST_CASE(confirmed_heartbeat_extends_the_lease_every_quarter_of_the_grace)
{
    for (const bool queues : {false, true}) {
        promising e(queues);
        const auto begun = e.time.now();
        const lease held = e.granted(e.spec("a", promised));
        BOOST_TEST((held.deadline() == begun + silence));
        e.advance(grace / 4 - 1ms);
        BOOST_TEST(e.heartbeats() == 0u);
        e.advance(1ms);
        BOOST_TEST_REQUIRE(e.heartbeats() == 1u);
        BOOST_TEST(e.last_acquire().owner.starts_with(e.store->heartbeats()[0].client + ':'));
        BOOST_TEST((held.deadline() == begun + silence)); // a sent heartbeat is not a confirmed one
        e.advance(100ms);
        e.confirm();
        BOOST_TEST((held.deadline() == begun + grace / 4 + silence));
        for (int i = 0; i < 16; ++i) {
            e.advance(grace / 4);
            e.confirm();
        }
        BOOST_TEST(held.valid());
        BOOST_TEST(e.heartbeats() == 17u);
        BOOST_TEST(e.store->renew_count() == 0u);
    }
}

BOOST_AUTO_TEST_CASE(one_heartbeat_serves_all_leases_at_the_shortest_interval)
{
    promising e;
    lock_options slow = promised;
    slow.dead_holder_grace = 8s;
    const lease first = e.granted(e.spec("a", slow));
    const lease other = e.taken(e.spec("b"));
    e.advance(1s);
    BOOST_TEST(e.heartbeats() == 0u);
    lease urgent = e.granted(e.spec("c", promised));
    e.advance(grace / 4);
    BOOST_TEST(e.heartbeats() == 1u);
    const auto sent = e.time.now();
    e.confirm();
    BOOST_TEST((first.deadline() == sent + 8s - fsm::drift_margin(8s)));
    BOOST_TEST((urgent.deadline() == sent + silence));
    BOOST_TEST((other.deadline() > sent + 20s));
    e.release(std::move(urgent));
    e.say_freed();
    e.advance(grace / 4);
    BOOST_TEST(e.heartbeats() == 2u); // it was scheduled before
    e.confirm();
    e.advance(8s / 4 - 1ms);
    BOOST_TEST(e.heartbeats() == 2u);
    e.advance(1ms);
    BOOST_TEST(e.heartbeats() == 3u);
}

BOOST_AUTO_TEST_CASE(heartbeats_end_with_the_last_lease_that_needs_them)
{
    promising e;
    lease held = e.granted(e.spec("a", promised));
    e.release(std::move(held));
    e.say_freed();
    e.advance(10s);
    BOOST_TEST(e.heartbeats() == 0u);
    check_idle(e);
}

BOOST_AUTO_TEST_CASE(lease_without_a_confirmed_heartbeat_is_lost_for_good)
{
    promising e;
    const auto begun = e.time.now();
    lease held = e.granted(e.spec("a", promised));
    const auto lost = e.wait_lost(held);
    e.advance(grace / 4);
    BOOST_TEST_REQUIRE(e.heartbeats() == 1u);
    e.advance(begun + silence - 1ms - e.time.now());
    BOOST_TEST(held.valid());
    BOOST_TEST(!lost->done());
    e.advance(1ms);
    BOOST_TEST(!held.valid());
    BOOST_TEST(code(*lost) == errc::silent);
    const auto events = e.seen->events(kind::lost);
    BOOST_TEST_REQUIRE(events.size() == 1u);
    BOOST_TEST((events[0].details.cause == errc::outcome_unknown));
    BOOST_TEST((events[0].details.waited == grace));
    // Another client may hold the lock. If not, the lock is released now, and not only when its
    // lease time has passed.
    BOOST_TEST(e.store->release_count() == 1u);
    e.store->complete_alive(0, {});
    e.poll();
    BOOST_TEST(!held.valid());
    BOOST_TEST(code(*e.release(std::move(held))) == errc::silent);
}

BOOST_AUTO_TEST_CASE(heartbeat_confirmed_after_the_grace_does_not_save_the_lease)
{
    promising e;
    lease held = e.granted(e.spec("a", promised));
    const auto lost = e.wait_lost(held);
    e.advance(grace / 4);
    BOOST_TEST_REQUIRE(e.heartbeats() == 1u);
    // The process was stopped, and handles the reply first.
    e.store->complete_alive(0, {});
    e.skip(silence);
    BOOST_TEST(!held.valid());
    BOOST_TEST(code(*lost) == errc::silent);
}

BOOST_AUTO_TEST_CASE(failure_of_the_heartbeats_is_the_cause_of_the_loss)
{
    promising e;
    lease held = e.granted(e.spec("a", promised));
    const auto lost = e.wait_lost(held);
    for (int i = 0; i < 3; ++i) {
        e.advance(grace / 4);
        e.refuse(errc::permission_denied);
    }
    BOOST_TEST(held.valid());
    e.advance(grace / 4);
    BOOST_TEST(code(*lost) == errc::silent);
    const auto events = e.seen->events(kind::lost);
    BOOST_TEST_REQUIRE(events.size() == 1u);
    BOOST_TEST((events[0].details.cause == errc::permission_denied));
    BOOST_TEST(events[0].details.attempts == 3u);
}

BOOST_AUTO_TEST_CASE(unknown_heartbeat_triggers_a_renewal_at_once)
{
    promising e;
    lease held = e.granted(e.spec("a", promised));
    const auto lost = e.wait_lost(held);
    e.advance(grace / 4);
    e.confirm(false);
    BOOST_TEST_REQUIRE(e.store->renew_count() == 1u);
    e.advance(grace / 4);
    e.confirm(false);
    BOOST_TEST(e.store->renew_count() == 1u); // the renewal is outstanding
    e.renew_all(renewal_result::gone);
    BOOST_TEST(code(*lost) == errc::lost);
}

BOOST_AUTO_TEST_CASE(lease_without_renewal_sends_heartbeats)
{
    promising e;
    lock_options once = promised;
    once.renew = false;
    const lease held = e.granted(e.spec("a", once));
    for (int i = 0; i < 8; ++i) {
        e.advance(grace / 4);
        BOOST_TEST(e.heartbeats() == static_cast<std::size_t>(i) + 1);
        e.confirm(i % 2 == 0);
    }
    BOOST_TEST(held.valid());
    BOOST_TEST(e.store->renew_count() == 0u);
}

BOOST_AUTO_TEST_CASE(reconnection_sends_a_heartbeat_at_once)
{
    promising e;
    const lease held = e.granted(e.spec("a", promised));
    e.disconnect();
    e.advance(grace / 4);
    BOOST_TEST(e.heartbeats() == 0u);
    e.advance(100ms);
    const auto sent = e.time.now();
    e.connect();
    BOOST_TEST_REQUIRE(e.heartbeats() == 1u);
    e.confirm();
    BOOST_TEST((held.deadline() == sent + silence));
}

BOOST_AUTO_TEST_CASE(reentrant_acquisition_requests_no_grace)
{
    promising e;
    lease held = e.granted(e.spec("a", promised));
    const auto op = e.lock(e.spec("a", promised), clock::duration::max(), held.share_owner());
    BOOST_TEST(!e.last_acquire().entry.empty());
    BOOST_TEST((e.last_acquire().dead_holder_grace == 0ms));
    e.grant();
    BOOST_TEST_REQUIRE(op->done());
}

BOOST_AUTO_TEST_CASE(handed_off_lease_keeps_the_grace)
{
    promising e;
    const auto spec = e.spec("a", promised);
    const auto first = e.lock(spec);
    const auto second = e.lock(spec);
    const auto begun = e.time.now();
    e.grant_to_several();
    BOOST_TEST_REQUIRE(first->done());
    e.advance(1ms);
    e.release(std::move(first->value<1>()));
    BOOST_TEST_REQUIRE(second->done());
    BOOST_TEST((second->value<1>().deadline() == begun + silence));
    e.advance(grace / 4);
    BOOST_TEST(e.heartbeats() == 1u);
}

BOOST_AUTO_TEST_CASE(lease_past_half_of_its_grace_is_not_handed_off)
{
    promising e;
    const auto spec = e.spec("a", promised);
    const auto first = e.lock(spec);
    const auto second = e.lock(spec);
    e.grant_to_several();
    e.advance(grace / 2);
    e.release(std::move(first->value<1>()));
    BOOST_TEST(!second->done());
    BOOST_TEST(e.store->release_count() == 1u);
    // The acquire of the next owner counts as its first heartbeat.
    BOOST_TEST(!e.last_release().next.has_value());
}

BOOST_AUTO_TEST_SUITE_END()
