// A store whose locks live with the session of the client, and that may give a shorter TTL.
#include <boost/test/unit_test.hpp>

#include "support/core_checks.hpp"

#include "fsm/lease/keep_alive.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using kind = recording_observer::kind;
using outcome = acquire_reply::outcome;

namespace {

/// A store with sessions and queues.
struct fixture : core_fixture
{
    fixture() : core_fixture(make_store()) {}

    static std::shared_ptr<fake_store> make_store()
    {
        auto made = std::make_shared<fake_store>();
        made->can.queues = true;
        made->can.session = true;
        return made;
    }

    void grant_for(std::optional<std::chrono::milliseconds> given, std::uint32_t fences = 1)
    {
        store->complete_acquire(
            store->acquire_count() - 1, {},
            {.result = outcome::granted, .fences = fences, .first_fence = fence, .lease = given});
        fence += fences;
        poll();
    }

    lease taken_for(std::optional<std::chrono::milliseconds> given, std::uint32_t fences = 1)
    {
        const auto op = lock("a");
        grant_for(given, fences);
        return std::move(op->value<1>());
    }

    void renew_for(std::optional<std::chrono::milliseconds> given)
    {
        renew_reply reply({renewal_result::renewed});
        reply.lease = given;
        store->complete_renew(store->renew_count() - 1, {}, std::move(reply));
        poll();
    }

    void remove(std::string name, std::string owner)
    {
        store->remove(std::move(name), std::move(owner));
        poll();
    }

    /// The time from now until the next renewal is sent.
    clock::duration time_to_renewal()
    {
        const auto begun = time.now();
        const auto before = store->renew_count();
        while (store->renew_count() == before && time.now() < begun + 1min)
            advance(1ms);
        BOOST_TEST_REQUIRE(store->renew_count() == before + 1);
        return time.now() - begun;
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(core_session, fixture)

BOOST_AUTO_TEST_CASE(lease_lasts_as_long_as_the_store_has_given)
{
    const lease held = taken_for(6s);
    const auto begun = time.now();
    BOOST_TEST((held.deadline() == begun + 6s - fsm::drift_margin(6s)));
    BOOST_TEST((time_to_renewal() <= 2s));
    BOOST_TEST((time.now() >= begun + 1900ms));
    // The earlier confirmation still holds.
    renew_for(1s);
    BOOST_TEST((held.deadline() == begun + 6s - fsm::drift_margin(6s)));
    time_to_renewal();
    const auto sent = time.now();
    renew_for(21s);
    BOOST_TEST((held.deadline() <= sent + 21s - fsm::drift_margin(21s)));
    BOOST_TEST((held.deadline() > sent + 21s - fsm::drift_margin(21s) - 1ms));
    BOOST_TEST((time_to_renewal() > 6s));
    BOOST_TEST(store->renewals().back().locks.size() == 1u);
    BOOST_TEST((store->renewals().back().locks[0].lease == 30s)); // as requested
}

BOOST_AUTO_TEST_CASE(longer_ttl_than_requested_is_not_used)
{
    const lease held = taken_for(10min);
    BOOST_TEST((held.deadline() == time.now() + 30s - fsm::drift_margin(30s)));
}

BOOST_AUTO_TEST_CASE(grant_whose_ttl_has_ended_is_released)
{
    for (const auto given : {0ms, -5000ms}) {
        const auto op = lock("a");
        const auto owner = last_acquire().owner;
        const auto released = store->release_count();
        grant_for(given);
        BOOST_TEST(!op->done());
        BOOST_TEST_REQUIRE(store->release_count() == released + 1);
        BOOST_TEST(last_release().owner == owner);
        say_freed();
        BOOST_TEST(last_acquire().owner != owner);
        grant_for({});
        BOOST_TEST(code(*op) == error_code());
        release(std::move(op->value<1>()));
        say_freed();
    }
    check_idle(*this);
}

BOOST_AUTO_TEST_CASE(store_that_gives_no_time_is_not_asked_all_the_time)
{
    const lease held = taken_for({});
    time_to_renewal();
    renew_for(-1s);
    BOOST_TEST((time_to_renewal() > 500ms));
    BOOST_TEST(held.valid());
}

BOOST_AUTO_TEST_CASE(lock_is_handed_to_the_next_waiter_in_the_first_half_of_the_given_ttl)
{
    const auto asked = spec("a", {.handoff_time = 10s});
    const auto first = lock(asked);
    grant_for(6s, 8);
    const auto next = lock(asked);
    advance(1s);
    release(std::move(first->value<1>()));
    BOOST_TEST(code(*next) == error_code());
    BOOST_TEST(store->release_count() == 0u);
    const auto third = lock(asked);
    skip(2500ms); // the renewal is not answered
    release(std::move(next->value<1>()));
    BOOST_TEST(!third->done());
    BOOST_TEST(store->release_count() == 1u);
}

BOOST_AUTO_TEST_CASE(expired_lock_is_released_until_the_store_answers)
{
    lease held = taken_for(6s);
    const auto lost = wait_lost(held);
    const auto owner = last_acquire().owner;
    disconnect();
    advance(6s);
    BOOST_TEST(code(*lost) == errc::expired);
    const auto waits = lock("a");
    advance(10min); // long after the requested TTL
    BOOST_TEST(store->release_count() == 0u);
    connect();
    BOOST_TEST_REQUIRE(store->release_count() >= 1u);
    BOOST_TEST(last_release().owner == owner);
    fail_release(errc::store_refused);
    advance(2min);
    BOOST_TEST(store->release_count() >= 2u);
    BOOST_TEST(last_release().owner == owner);
    say_freed();
    // The acquire of the waiter had no answer, and is repeated with pauses.
    const auto attempts = store->acquire_count();
    for (clock::duration left = 1min; store->acquire_count() == attempts && left > 0s; left -= 1ms)
        advance(1ms);
    grant_for({});
    BOOST_TEST(code(*waits) == error_code());
}

BOOST_AUTO_TEST_CASE(released_lock_is_released_until_the_store_answers)
{
    const auto released = release(taken_for(6s));
    const auto owner = last_release().owner;
    disconnect();
    fail_release(errc::store_unavailable);
    advance(10min);
    BOOST_TEST(released->done()); // the caller does not wait for ever
    connect();
    BOOST_TEST_REQUIRE(store->release_count() == 2u);
    BOOST_TEST(last_release().owner == owner);
    say_freed();
    check_idle(*this);
}

BOOST_AUTO_TEST_CASE(owner_that_the_store_has_removed_loses_its_lease_at_once)
{
    lease held = taken_for(6s);
    const auto lost = wait_lost(held);
    const auto waits = lock("a");
    const auto owner = store->acquires()[0].owner;
    const auto asked = store->acquire_count();
    remove("a", "another owner");
    remove("b", owner);
    BOOST_TEST(held.valid());
    remove("a", owner);
    BOOST_TEST(code(*lost) == errc::lost);
    BOOST_TEST(!held.valid());
    BOOST_TEST(seen->count(kind::lost) == 1u);
    BOOST_TEST(store->release_count() == 0u);
    BOOST_TEST_REQUIRE(store->acquire_count() == asked + 1);
    BOOST_TEST(last_acquire().owner != owner);
    grant_for({});
    BOOST_TEST(code(*waits) == error_code());
}

BOOST_AUTO_TEST_CASE(all_leases_of_a_removed_owner_are_lost)
{
    lease held = taken_for(6s);
    const auto owner = last_acquire().owner;
    const auto reenters = lock(spec("a"), clock::duration::max(), held.share_owner());
    grant_for(6s);
    lease inner = std::move(reenters->value<1>());
    remove("a", owner);
    BOOST_TEST(!held.valid());
    BOOST_TEST(!inner.valid());
    const auto again = lock(spec("a"), clock::duration::max(), held.share_owner());
    BOOST_TEST(code(*again) == errc::lost);
}

BOOST_AUTO_TEST_CASE(removed_waiter_joins_the_queue_again)
{
    const auto waits = lock("a");
    const auto owner = last_acquire().owner;
    store->complete_acquire(0, {}, {.result = outcome::held, .remaining = 10s, .queued = true});
    poll();
    BOOST_TEST(store->acquire_count() == 1u);
    remove("a", owner);
    BOOST_TEST_REQUIRE(store->acquire_count() == 2u);
    BOOST_TEST(last_acquire().owner == owner);
    BOOST_TEST(last_acquire().again);
    BOOST_TEST(last_acquire().waits);
    grant_for({});
    BOOST_TEST(code(*waits) == error_code());
}

BOOST_AUTO_TEST_CASE(lock_of_a_session_is_not_reported_as_endless)
{
    const auto waits = lock("a");
    store->complete_acquire(
        0, {},
        {.result = outcome::held, .remaining = std::chrono::milliseconds(-1), .queued = true});
    poll();
    advance(1s);
    BOOST_TEST_REQUIRE(seen->count(kind::waiting) == 1u);
    BOOST_TEST((seen->events(kind::waiting)[0].time == 0s));
    BOOST_TEST_REQUIRE(seen->count(kind::long_wait) == 1u);
    BOOST_TEST((seen->events(kind::long_wait)[0].left == 0s));
    remove("a", last_acquire().owner);
    grant_for({});
    BOOST_TEST(code(*waits) == error_code());
}

BOOST_AUTO_TEST_CASE(detached_lock_is_released_when_its_ttl_ends)
{
    lease held = taken_for(6s);
    const auto owner = last_acquire().owner;
    advance(1s);
    held.detach();
    poll();
    BOOST_TEST(stats().held == 0u);
    BOOST_TEST(seen->count(kind::released) == 1u);
    const auto once = lock(spec("a"), 0s);
    BOOST_TEST(code(*once) == errc::held);
    advance(4s);
    BOOST_TEST(store->release_count() == 0u);
    advance(1s);
    BOOST_TEST_REQUIRE(store->release_count() == 1u);
    BOOST_TEST(last_release().owner == owner);
    BOOST_TEST(store->renew_count() == 0u);
    say_freed();
    BOOST_TEST(seen->count(kind::lost) == 0u);
    check_idle(*this);
}

BOOST_AUTO_TEST_CASE(shutdown_releases_a_detached_lock)
{
    taken_for(6s).detach();
    const auto done = shutdown();
    BOOST_TEST_REQUIRE(store->release_count() == 1u);
    say_freed();
    BOOST_TEST(code(*done) == error_code());
    check_idle(*this);
}

BOOST_AUTO_TEST_CASE(longer_name_than_the_store_allows_is_rejected)
{
    auto backend = make_store();
    backend->can.longest_name = 10;
    client locks(context.get_executor(), backend);
    BOOST_CHECK_NO_THROW(mutex(locks, "0123456789"));
    BOOST_CHECK_EXCEPTION(mutex(locks, "01234567890"), boost::system::system_error,
                          [](const boost::system::system_error& e) {
                              return e.code() == errc::invalid_name &&
                                     std::string(e.what()).find("1 to 10 bytes") !=
                                         std::string::npos;
                          });
}

BOOST_AUTO_TEST_SUITE_END()
