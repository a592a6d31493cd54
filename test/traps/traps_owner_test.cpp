#include <boost/test/unit_test.hpp>

#include "traps/redis_fixture.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;

lock_options unrenewed(milliseconds time)
{
    lock_options how = leased(time);
    how.renew = false;
    return how;
}

} // namespace

BOOST_AUTO_TEST_CASE(O1_release_after_expiry_does_not_affect_the_successor)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    test_client b(s.context, s.direct());
    lease late = a.take("lock", unrenewed(300ms));
    lease successor = b.take("lock", leased(long_time));
    const auto before = s.fields("lock");
    BOOST_TEST(!late.valid());
    BOOST_TEST(a.released(late) == error_code(errc::not_owner));
    BOOST_TEST((s.fields("lock") == before));
    BOOST_TEST(s.left("lock") > 10'000);
    BOOST_TEST(successor.valid());
    BOOST_TEST(b.released(successor) == success);
}

BOOST_AUTO_TEST_CASE(O1_lease_destroyed_after_expiry_does_not_affect_the_successor)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    test_client b(s.context, s.direct());
    lease successor;
    {
        const lease late = a.take("lock", unrenewed(300ms));
        successor = b.take("lock", leased(long_time));
    }
    // All earlier requests of this client are executed before this one.
    lease other = a.take("other", leased(long_time));
    BOOST_TEST(a.released(other) == success);
    BOOST_TEST(s.fields("lock").count(successor.share_owner().id()) == 1u);
    BOOST_TEST(b.released(successor) == success);
}

BOOST_AUTO_TEST_CASE(O2_renewal_does_not_extend_a_lock_of_another_owner)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    lease held = a.take("lock", leased(1500ms));
    const started lost = a.wait_lost(held);
    s.raw.done({"DEL", "lock"});
    s.external_lock("lock", 60s);
    run_until(s.context, lost);
    BOOST_TEST(lost.code() == error_code(errc::lost));
    BOOST_TEST(!held.valid());
    BOOST_TEST(a.count(kind::renewed) == 0u);
    BOOST_TEST((s.fields("lock") == std::map<std::string, std::string>{{"another:1", "1"}}));
    BOOST_TEST(s.left("lock") > 20'000); // neither extended nor shortened
    BOOST_TEST(a.released(held) == error_code(errc::lost));
    BOOST_TEST(s.fields("lock").size() == 1u);
}

BOOST_AUTO_TEST_CASE(O2_renewal_does_not_create_a_deleted_lock)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    lease held = a.take("lock", leased(1500ms));
    const started lost = a.wait_lost(held);
    s.raw.done({"DEL", "lock"});
    run_until(s.context, lost);
    BOOST_TEST(lost.code() == error_code(errc::lost));
    BOOST_TEST(!held.valid());
    BOOST_TEST(!s.exists("lock"));
    BOOST_TEST(a.stats().held == 0u);
    BOOST_TEST(a.released(held) == error_code(errc::lost));
    BOOST_TEST(!s.exists("lock"));
}

BOOST_AUTO_TEST_CASE(O3_failed_acquire_releases_the_lock_that_it_did_get)
{
    redis_fixture s;
    fault_proxy proxy(s.server);
    test_client a(s.context, redis_fixture::through(proxy));
    a.await_connected();
    proxy.stall_replies();
    const started failing = a.lock_for(300ms, "lock", leased(long_time));
    s.eventually([&] { return s.exists("lock"); });
    const auto taken = s.fields("lock");
    run_until(s.context, failing);
    BOOST_TEST((failing.code() == errc::timed_out || failing.code() == condition::store_fault));
    BOOST_TEST((s.fields("lock") == taken)); // the client could not get the report yet
    proxy.forward();
    s.await_gone("lock");
    s.eventually([&] { return a.stats().orphans == 0; });
}

BOOST_AUTO_TEST_CASE(O5_handles_of_one_name_exclude_each_other)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    test_client b(s.context, s.direct());
    a.await_connected();
    lease held = a.take("lock", leased(long_time));
    const mutex one(a.locks, "lock", leased(long_time));
    const mutex copy = one;
    bool tried = false;
    copy.async_try_lock([&](error_code code, lease got) {
        BOOST_TEST(code == error_code(errc::held));
        BOOST_TEST(!got.valid());
        tried = true;
    });
    run_until(s.context, [&] { return tried; }, ample);
    const started same_client = a.try_lock("lock", leased(long_time));
    run_until(s.context, same_client);
    BOOST_TEST(same_client.code() == error_code(errc::held));
    const started other_client = b.try_lock("lock", leased(long_time));
    run_until(s.context, other_client);
    BOOST_TEST(other_client.code() == error_code(errc::held));
    BOOST_TEST(a.released(held) == success);
}

BOOST_AUTO_TEST_CASE(O5_clients_hold_the_lock_one_at_a_time_with_rising_fences)
{
    constexpr int rounds = 60;
    redis_fixture s;
    std::deque<test_client> parties;
    for (int i = 0; i < 3; ++i)
        parties.emplace_back(s.context, s.direct());
    int inside = 0;
    int most = 0;
    int served = 0;
    std::uint64_t newest = 0;
    bool ordered = true;
    for (int i = 0; i < rounds; ++i) {
        test_client& who = parties[static_cast<std::size_t>(i) % parties.size()];
        mutex(who.locks, "lock", leased(long_time)).async_lock([&](error_code code, lease got) {
            BOOST_TEST(code == success);
            most = std::max(most, ++inside);
            ordered = ordered && got.fence() > newest;
            newest = got.fence();
            // Holds the lock for some more turns.
            asio::post(s.context, [&, held = std::move(got)]() mutable {
                asio::post(s.context, [&, last = std::move(held)]() mutable {
                    --inside;
                    ++served;
                    last.async_release([](error_code) {});
                });
            });
        });
    }
    run_until(s.context, [&] { return served == rounds; }, ample);
    BOOST_TEST(most == 1);
    BOOST_TEST(ordered);
    s.await_gone("lock");
}

BOOST_AUTO_TEST_CASE(O6_reentrant_acquisition_after_the_loss_fails)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    test_client b(s.context, s.direct());
    lease held = a.take("lock", leased(1500ms));
    const owner who = held.share_owner();
    const started lost = a.wait_lost(held);
    s.raw.done({"DEL", "lock"});
    run_until(s.context, lost);
    for (test_client* each : {&a, &b}) {
        const started entering = each->lock("lock", leased(1500ms), who);
        run_until(s.context, entering);
        BOOST_TEST(entering.code() == error_code(errc::lost));
        BOOST_TEST(!entering.has_lease());
    }
    BOOST_TEST(!s.exists("lock"));
}

BOOST_AUTO_TEST_CASE(O6_reentrant_acquisition_before_the_loss_is_detected_fails)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    lease held = a.take("lock", leased(long_time));
    const owner who = held.share_owner();
    s.raw.done({"DEL", "lock"});
    const started gone = a.lock("lock", leased(long_time), who);
    run_until(s.context, gone);
    BOOST_TEST(gone.code() == error_code(errc::lost));
    BOOST_TEST(!s.exists("lock"));

    s.external_lock("lock", 60s);
    const started stale = a.lock("lock", leased(long_time), who);
    run_until(s.context, stale);
    BOOST_TEST(stale.code() == error_code(errc::lost));
    BOOST_TEST((s.fields("lock") == std::map<std::string, std::string>{{"another:1", "1"}}));
}

BOOST_AUTO_TEST_CASE(O7_lock_acquired_three_times_is_free_after_three_releases)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    test_client b(s.context, s.direct());
    std::deque<lease> in;
    in.push_back(a.take("lock", leased(900ms)));
    const owner who = in.front().share_owner();
    in.push_back(a.reenter("lock", leased(900ms), who));
    in.push_back(a.reenter("lock", leased(900ms), who));
    BOOST_TEST(s.fields("lock").at(who.id()) == "3");
    for (const lease& each : in)
        BOOST_TEST(each.fence() == who.fence());
    const started waiter = b.lock("lock", patient(long_time));
    s.await_watchers("lock");

    // The first lease is released first: the other entries keep the lock.
    BOOST_TEST(a.released(in[0]) == success);
    BOOST_TEST(s.fields("lock").at(who.id()) == "2");
    BOOST_TEST(in[1].valid());
    BOOST_TEST(a.released(in[2]) == success);
    BOOST_TEST(s.fields("lock").at(who.id()) == "1");
    // The remaining lease is still renewed.
    a.saw->clear();
    run_until(s.context, [&] { return a.count(kind::renewed) >= 4; }, ample);
    BOOST_TEST(in[1].valid());
    BOOST_TEST(!waiter.done());
    BOOST_TEST(a.released(in[1]) == success);
    run_until(s.context, waiter);
    BOOST_TEST(s.fields("lock").count(who.id()) == 0u);
    BOOST_TEST(s.fields("lock").size() == 1u);

    // The renewals have ended with it: another lock sees three rounds of renewals, and this one
    // none.
    a.saw->clear();
    lease other = a.take("other", leased(900ms));
    run_until(s.context, [&] { return a.count(kind::renewed) >= 3; }, ample);
    for (const auto& each : a.saw->events(kind::renewed))
        BOOST_TEST(each.name == "other");
    BOOST_TEST(a.stats().held == 1u);
}

BOOST_AUTO_TEST_CASE(owner_can_be_passed_to_another_process_as_text)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    test_client b(s.context, s.direct());
    test_client c(s.context, s.direct());
    lease first = a.take("lock", leased(long_time));
    const std::string text = first.share_owner().to_string();
    lease second = b.reenter("lock", leased(long_time), owner::from_string(text));
    BOOST_TEST(second.fence() == first.fence());
    BOOST_TEST((second.share_owner() == first.share_owner()));
    BOOST_TEST(a.released(first) == success);
    BOOST_TEST(second.valid());
    const started third = c.try_lock("lock", leased(long_time));
    run_until(s.context, third);
    BOOST_TEST(third.code() == error_code(errc::held));
    BOOST_TEST(b.released(second) == success);
    BOOST_TEST(!s.exists("lock"));
    const started after = b.lock("lock", leased(long_time), owner::from_string(text));
    run_until(s.context, after);
    BOOST_TEST(after.code() == error_code(errc::lost));
}

BOOST_AUTO_TEST_CASE(reentrant_acquisition_of_another_process_keeps_the_lock)
{
    redis_fixture s;
    test_client b(s.context, s.direct());
    std::string text;
    lease second;
    {
        asio::io_context mortal;
        test_client a(mortal, s.direct());
        const lease first = a.take("lock", leased(600ms));
        text = first.share_owner().to_string();
        second = b.reenter("lock", leased(600ms), owner::from_string(text));
        // The context ends with the lease: no further request is sent, as if the process had been
        // killed.
        mortal.stop();
    }
    b.saw->clear();
    run_until(
        s.context, [&] { return b.count(kind::renewed) >= 6; },
        ample); // longer than the lease time
    BOOST_TEST(second.valid());
    BOOST_TEST(b.released(second) == success);
    // The entry of the dead holder remains. It ends with its TTL, and not later.
    s.await_gone("lock");
}

BOOST_AUTO_TEST_CASE(R6_reentrant_acquisition_neither_shortens_nor_adds_to_the_ttl)
{
    redis_fixture s;
    test_client a(s.context, s.direct());
    lease first = a.take("lock", leased(20s));
    const owner who = first.share_owner();
    lease shorter = a.reenter("lock", leased(1s), who);
    BOOST_TEST(s.left("lock") > 10'000);
    std::deque<lease> more;
    for (int i = 0; i < 8; ++i) {
        more.push_back(a.reenter("lock", leased(20s), who));
        BOOST_TEST(s.left("lock") <= 20'000);
    }
    // The lease with the short time renews without shortening the TTL.
    a.saw->clear();
    run_until(s.context, [&] { return a.count(kind::renewed) >= 2; }, ample);
    BOOST_TEST(s.left("lock") > 5'000);
    BOOST_TEST(shorter.valid());
}
