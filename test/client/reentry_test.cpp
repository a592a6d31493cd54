// Acquiring again under the owner that holds the lock.
#include <boost/test/unit_test.hpp>

#include "support/core_checks.hpp"

#include "core/lease/lost_owners.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using outcome = acquire_reply::outcome;
using left = release_reply::outcome;

BOOST_AUTO_TEST_SUITE(core_reentrant_acquisition)

BOOST_AUTO_TEST_CASE(reentrant_acquisition_shares_owner_and_fence_of_the_holder)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"));
    const auto op = e.lock(e.spec("a"), clock::duration::max(), held.share_owner());
    const auto asked = e.last_acquire();
    BOOST_TEST(asked.owner == held.share_owner().id());
    BOOST_TEST(asked.entry != "");
    e.say(outcome::granted);
    BOOST_TEST(code(*op) == error_code());
    lease& inner = op->value<1>();
    BOOST_TEST(inner.fence() == held.fence());
    BOOST_TEST((inner.share_owner() == held.share_owner()));
    BOOST_TEST(e.stats().held == 2u);
    e.advance(10s); // both are renewed, each under its own entry
    std::vector<std::string> renewed;
    for (const auto& call : e.store->renewals())
        for (const auto& each : call.locks)
            renewed.push_back(each.owner == asked.owner ? each.entry : "another's");
    BOOST_TEST((renewed == std::vector<std::string>{"", asked.entry} ||
                renewed == std::vector<std::string>{asked.entry, ""}));
    e.renew_all();
    const auto out = e.release(std::move(inner));
    BOOST_TEST(e.last_release().entry == asked.entry);
    e.say_released(left::still_held);
    BOOST_TEST(code(*out) == error_code());
    BOOST_TEST(held.valid());
}

BOOST_AUTO_TEST_CASE(reentrant_acquisition_under_an_unknown_owner_fails)
{
    core_fixture e;
    const owner gone("11111111-1111-1111-1111-111111111111:1", 7);
    const auto op = e.lock(e.spec("a"), clock::duration::max(), gone);
    e.say(outcome::gone);
    BOOST_TEST(code(*op) == errc::lost);
    check_idle(e);
}

// O6: a lease that was lost here stays lost, whatever the store reports.
BOOST_AUTO_TEST_CASE(O6_reentrant_acquisition_under_a_lost_owner_fails)
{
    core_fixture e;
    lease held = e.taken(e.spec("a", fixed));
    const owner shared = held.share_owner();
    const auto under_way = e.lock(e.spec("a", fixed), clock::duration::max(), shared);
    e.time.set(held.deadline());
    e.poll();
    e.say(outcome::granted);
    BOOST_TEST(code(*under_way) == errc::lost);
    BOOST_TEST(e.store->release_count() == 2u); // the expired lease, and the new entry
    BOOST_TEST(!e.last_release().entry.empty());
    const auto asked = e.store->acquire_count();
    const auto op = e.lock(e.spec("a", fixed), clock::duration::max(), shared);
    BOOST_TEST(code(*op) == errc::lost);
    BOOST_TEST(e.store->acquire_count() == asked);
}

// After the loss, the store may know the owner for another lease time and grant the request. A
// request from before the loss could still extend the lock there.
BOOST_AUTO_TEST_CASE(O6_lost_owner_is_remembered_for_two_lease_times)
{
    for (const bool expires : {true, false}) {
        core_fixture e;
        const auto spec = e.spec("a", expires ? fixed : short_lease);
        lease held = e.taken(spec);
        const owner shared = held.share_owner();
        if (expires) {
            e.time.set(held.deadline());
            e.poll();
            e.say_freed();
        }
        else {
            e.advance(400ms);
            e.renew_all(renewal_result::gone);
        }
        BOOST_TEST(!held.valid());
        const auto asked = e.store->acquire_count();
        e.advance(1999ms);
        BOOST_TEST(code(*e.lock(spec, clock::duration::max(), shared)) == errc::lost);
        BOOST_TEST(e.store->acquire_count() == asked);
        e.advance(1ms);
        const auto op = e.lock(spec, clock::duration::max(), shared);
        BOOST_TEST(e.store->acquire_count() == asked + 1);
        e.say(outcome::gone);
        BOOST_TEST(code(*op) == errc::lost);
    }
}

BOOST_AUTO_TEST_CASE(each_reentrant_attempt_has_its_own_id)
{
    core_fixture e;
    const lease held = e.taken(e.spec("a"));
    const auto op = e.lock(e.spec("a"), clock::duration::max(), held.share_owner());
    const auto first = e.last_acquire();
    e.fail_acquire(errc::outcome_unknown);
    BOOST_TEST(e.stats().orphans == 1u);
    BOOST_TEST(e.last_release().entry == first.entry);
    BOOST_TEST(e.last_release().owner == first.owner);
    e.advance(20ms);
    BOOST_TEST(e.last_acquire().entry != first.entry);
    e.say(outcome::granted);
    BOOST_TEST(code(*op) == error_code());
    BOOST_TEST(held.valid());
}

BOOST_AUTO_TEST_CASE(reentrant_acquisition_reports_limits_and_errors_like_a_lock)
{
    const owner shared("11111111-1111-1111-1111-111111111111:1", 7);
    {
        core_fixture e;
        const auto op = e.lock(e.spec("a"), 0s, shared);
        e.fail_acquire(errc::store_refused);
        BOOST_TEST(code(*op) == errc::store_refused);
    }
    {
        core_fixture e;
        const auto op = e.lock(e.spec("a"), 3s, shared);
        e.advance(3s);
        BOOST_TEST(code(*op) == errc::outcome_unknown);
        BOOST_TEST(e.stats().orphans == 1u);
    }
    {
        core_fixture e;
        e.disconnect();
        BOOST_TEST(code(*e.lock(e.spec("a"), 0s, shared)) == errc::store_unavailable);
        const auto op = e.lock(e.spec("a"), 3s, shared);
        e.advance(3s);
        BOOST_TEST(code(*op) == errc::store_unavailable);
        BOOST_TEST(e.store->acquire_count() == 0u);
    }
    {
        core_fixture e;
        const auto op = e.lock(e.spec("a"), clock::duration::max(), shared);
        e.fail_acquire(errc::wrong_type);
        BOOST_TEST(code(*op) == errc::wrong_type);
    }
    {
        core_fixture e;
        const auto op = e.lock(e.spec("a"), clock::duration::max(), shared);
        e.say(outcome::late);
        e.advance(20ms);
        e.say(outcome::granted);
        BOOST_TEST(code(*op) == error_code());
    }
    {
        core_fixture e;
        e.disconnect();
        const auto op = e.lock(e.spec("a"), clock::duration::max(), shared);
        e.connect();
        e.say(outcome::granted);
        BOOST_TEST(code(*op) == error_code());
    }
}

BOOST_AUTO_TEST_CASE(cancelled_reentrant_acquisition_is_released)
{
    core_fixture e;
    const lease held = e.taken(e.spec("a"));
    const auto op = e.lock(e.spec("a"), clock::duration::max(), held.share_owner());
    const auto asked = e.last_acquire();
    op->cancel();
    e.poll();
    BOOST_TEST(code(*op) == aborted);
    BOOST_TEST(e.last_release().entry == asked.entry);
    e.say(outcome::granted);
    e.say_released(left::still_held);
    BOOST_TEST(e.stats().orphans == 0u);
    BOOST_TEST(held.valid());
}

// The reply arrives after all, and there is nothing to release.
BOOST_AUTO_TEST_CASE(cancelled_reentrant_acquisition_that_failed_is_forgotten)
{
    const std::vector<std::pair<error_code, outcome>> answers = {{errc::store_refused, {}},
                                                                 {errc::store_unavailable, {}},
                                                                 {errc::permission_denied, {}},
                                                                 {{}, outcome::gone},
                                                                 {{}, outcome::late}};
    for (const auto& [failed, result] : answers) {
        core_fixture e;
        const lease held = e.taken(e.spec("a"));
        const auto op = e.lock(e.spec("a"), clock::duration::max(), held.share_owner());
        op->cancel();
        e.poll();
        e.say_released(left::not_owner); // the request may still be executed
        BOOST_TEST(e.stats().orphans == 1u);
        e.store->complete_acquire(1, failed, {.result = result});
        e.poll();
        BOOST_TEST(e.stats().orphans == 0u);
        e.renew_all_when_asked = true;
        e.advance(30s);
        BOOST_TEST(e.store->release_count() == 1u);
    }
}

BOOST_AUTO_TEST_CASE(earlier_failure_is_not_reported_at_the_limit)
{
    core_fixture e;
    const lease held = e.taken(e.spec("a"));
    const auto op = e.lock(e.spec("a"), 3s, held.share_owner());
    e.disconnect();
    e.fail_acquire(errc::store_unavailable);
    e.connect();
    BOOST_TEST(e.store->acquire_count() == 3u);
    e.advance(3s);
    BOOST_TEST(code(*op) == errc::outcome_unknown);
}

namespace {

constexpr clock::time_point start{1000s};

} // namespace

// The leases of one owner are lost one by one: the last loss counts.
BOOST_AUTO_TEST_CASE(lost_owner_is_remembered_until_its_latest_time)
{
    detail::lost_owners lost;
    lost.remember("a", start + 2s, start);
    lost.remember("a", start + 5s, start + 1s);
    BOOST_TEST(lost.contains("a", start + 5s - 1ns));
    BOOST_TEST(!lost.contains("a", start + 5s));
    BOOST_TEST(!lost.contains("b", start));
}

BOOST_AUTO_TEST_CASE(many_lost_owners_are_each_remembered_for_their_time)
{
    detail::lost_owners lost;
    for (int i = 0; i < 1'000; ++i)
        lost.remember(detail::owner_id(std::to_string(i)), start + i * 1s, start + 500s);
    for (int i = 0; i < 1'000; ++i)
        BOOST_TEST(lost.contains(detail::owner_id(std::to_string(i)), start + 500s) == (i > 500));
}

BOOST_AUTO_TEST_SUITE_END()
