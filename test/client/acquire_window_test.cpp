// The number of outstanding acquires of a client, and the acquires that wait for them.
#include <boost/test/unit_test.hpp>

#include "support/core_checks.hpp"

#include "fsm/lease/keep_alive.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t window = detail::acquire_window::usual_limit;

// Many acquires at once, each of a name of its own.
struct flood
{
    explicit flood(std::size_t count,
                   std::shared_ptr<fake_store> with = std::make_shared<fake_store>())
        : e(std::move(with))
    {
        add_all(count, "n");
    }

    void add_all(std::size_t count, const std::string& prefix)
    {
        for (std::size_t i = 0; i < count; ++i)
            add(prefix + std::to_string(i), clock::duration::max());
        e.poll();
    }

    core_fixture::locking& add(const std::string& name, clock::duration limit,
                               lock_options options = {}, owner who = {})
    {
        all.push_back(e.make<core_fixture::locking>());
        all.back()->start([&](auto handler) {
            e.async_lock(e.spec(name, options), limit, std::move(who), std::move(handler));
        });
        return *all.back();
    }

    void grant(std::size_t index)
    {
        e.store->grant(index, ++fence);
        e.poll();
    }

    core_fixture e;
    std::vector<std::shared_ptr<core_fixture::locking>> all;
    std::uint64_t fence = 0;
};

/// A store of two partitions, 1 and 2, which both can be reached. 1 has as many outstanding
/// acquires as it may, and answers none of them.
struct silent_partition : flood
{
    explicit silent_partition(bool queues = false) : flood(0, make_store(queues))
    {
        for (store_partition each : {1u, 2u})
            e.store->connect(each);
        e.poll();
        add_all(window, "1:n");
    }

    static std::shared_ptr<fake_store> make_store(bool queues)
    {
        const auto made = std::make_shared<fake_store>();
        made->split();
        made->can.queues = queues;
        return made;
    }

    core_fixture::locking& lock(const std::string& name, owner who = {})
    {
        auto& op = add(name, 1h, {}, std::move(who));
        e.poll();
        return op;
    }

    core_fixture::locking& enter(const std::string& name)
    {
        return lock(name, owner("11111111-1111-1111-1111-111111111111:1", 7));
    }

    [[nodiscard]] std::size_t asked() const { return e.store->acquire_count(); }
};

} // namespace

BOOST_AUTO_TEST_SUITE(core_acquire_window)

BOOST_AUTO_TEST_CASE(never_more_are_under_way_and_all_are_served_in_order)
{
    flood f(2 * window + 500);
    core_fixture& e = f.e;
    BOOST_TEST(e.store->acquire_count() == window);
    // One at a time, and many within one turn.
    for (std::size_t answered = 0; answered < f.all.size();) {
        const std::size_t some = answered < 10 ? 1 : std::min<std::size_t>(70, e.store->pending());
        for (std::size_t i = 0; i < some; ++i)
            e.store->grant(answered++, ++f.fence);
        e.poll();
        BOOST_TEST_REQUIRE(e.store->acquire_count() == std::min(f.all.size(), window + answered));
    }
    const auto asked = e.store->acquires();
    for (std::size_t i = 0; i < f.all.size(); ++i) {
        BOOST_TEST_REQUIRE(asked[i].name == "n" + std::to_string(i));
        BOOST_TEST_REQUIRE(code(*f.all[i]) == error_code());
    }
    BOOST_TEST(e.stats().held == f.all.size());
    BOOST_TEST(e.stats().orphans == 0u);
}

// A rejected request leaves its place too, and so does one that is sent again.
BOOST_AUTO_TEST_CASE(every_answer_makes_room)
{
    flood f(window + 4);
    core_fixture& e = f.e;
    e.store->say_held(0, 10s);
    e.store->complete_acquire(1, errc::store_refused);
    e.store->complete_acquire(2, errc::outcome_unknown);
    e.store->complete_acquire(3, {}, {.result = acquire_reply::outcome::late});
    e.poll();
    BOOST_TEST(e.store->acquire_count() == window + 4);
    const auto asked = e.store->acquires();
    for (std::size_t i = window; i < asked.size(); ++i)
        BOOST_TEST(asked[i].name == "n" + std::to_string(i));
    // Behind those that waited before.
    f.grant(4);
    BOOST_TEST_REQUIRE(e.store->acquire_count() == window + 5);
    BOOST_TEST(e.last_acquire().name == "n3");
}

BOOST_AUTO_TEST_CASE(renewals_and_releases_do_not_wait)
{
    flood f(0);
    core_fixture& e = f.e;
    f.add("first", clock::duration::max());
    f.add("second", clock::duration::max());
    e.poll();
    f.grant(0);
    f.grant(1);
    for (std::size_t i = 0; i < window + 1; ++i)
        f.add("n" + std::to_string(i), 1h);
    e.poll();
    BOOST_TEST(e.store->acquire_count() == window + 2);
    e.release(std::move(f.all[0]->value<1>()));
    BOOST_TEST(e.store->release_count() == 1u);
    BOOST_TEST(e.last_release().name == "first");
    e.time.set(e.time.now() + 10s);
    e.poll();
    BOOST_TEST(e.store->renew_count() == 1u);
}

// The time of a request begins when it is sent, that of a wait with the call.
BOOST_AUTO_TEST_CASE(budgets_begin_with_the_request_and_limits_with_the_call)
{
    flood f(window);
    core_fixture& e = f.e;
    auto& patient = f.add("patient", clock::duration::max(), short_lease);
    auto& limited = f.add("limited", 3500ms);
    e.poll();
    e.advance(3s);
    f.grant(0);
    BOOST_TEST_REQUIRE(e.last_acquire().name == "patient");
    BOOST_TEST((e.last_acquire().budget == 1s));
    const auto sent = e.time.now();
    e.advance(400ms);
    f.grant(window);
    BOOST_TEST(code(patient) == error_code());
    BOOST_TEST((patient.value<1>().deadline() == sent + 1s - fsm::drift_margin(1s)));
    BOOST_TEST(e.last_acquire().name == "limited");
    e.advance(99ms);
    BOOST_TEST(!limited.done());
    e.advance(1ms);
    BOOST_TEST(code(limited) == errc::outcome_unknown); // sent, without a reply
}

BOOST_AUTO_TEST_CASE(one_that_is_over_before_it_was_sent_leaves_nothing_behind)
{
    flood f(window);
    core_fixture& e = f.e;
    auto& cancelled = f.add("cancelled", clock::duration::max());
    auto& limited = f.add("limited", 1s);
    auto& once = f.add("once", 0s);
    auto& entering = f.add("entering", 1s, {}, owner("11111111-1111-1111-1111-111111111111:1", 7));
    auto& last = f.add("last", clock::duration::max());
    e.poll();
    cancelled.cancel();
    e.poll();
    BOOST_TEST(code(cancelled) == aborted);
    e.advance(1s);
    BOOST_TEST(code(limited) == errc::store_unavailable);
    BOOST_TEST(code(entering) == errc::store_unavailable);
    BOOST_TEST(e.stats().orphans == 0u);
    BOOST_TEST(e.store->release_count() == 0u);
    e.advance(3999ms);
    BOOST_TEST(!once.done());
    e.advance(1ms);
    BOOST_TEST(code(once) == errc::store_unavailable);
    e.store->complete_acquire(0, errc::store_refused);
    e.poll();
    BOOST_TEST_REQUIRE(e.store->acquire_count() == window + 1);
    BOOST_TEST(e.last_acquire().name == "last");
    BOOST_TEST(!last.done());
}

// The first waiter for a name may leave before the request is sent, which is for the next one then.
BOOST_AUTO_TEST_CASE(the_request_is_made_for_who_waits_when_it_is_sent)
{
    flood f(window);
    core_fixture& e = f.e;
    auto& one = f.add("a", clock::duration::max(), {.lease_time = 10s});
    auto& two = f.add("a", clock::duration::max(), {.lease_time = 20s});
    e.poll();
    one.cancel();
    e.poll();
    f.grant(0);
    BOOST_TEST_REQUIRE(e.last_acquire().name == "a");
    BOOST_TEST((e.last_acquire().lease == 20s));
    f.grant(window);
    BOOST_TEST(code(two) == error_code());
}

// It only causes a poll, and the request will be one.
BOOST_AUTO_TEST_CASE(a_hint_that_comes_before_a_request_was_sent_brings_no_second_one)
{
    flood f(window);
    core_fixture& e = f.e;
    f.add("a", clock::duration::max());
    e.poll();
    e.store->hint("a");
    e.poll();
    f.grant(0);
    BOOST_TEST_REQUIRE(e.last_acquire().name == "a");
    e.say_held();
    BOOST_TEST(e.store->acquire_count() == window + 1);
}

// What the store still has counts until it has said what became of it.
BOOST_AUTO_TEST_CASE(a_request_that_nobody_waits_for_any_more_is_still_under_way)
{
    flood f(window + 1);
    core_fixture& e = f.e;
    for (std::size_t i = 0; i < 10; ++i)
        f.all[i]->cancel();
    e.poll();
    BOOST_TEST(e.store->acquire_count() == window);
    e.store->complete_acquire(5, errc::outcome_unknown);
    e.poll();
    BOOST_TEST(e.store->acquire_count() == window + 1);
}

BOOST_AUTO_TEST_CASE(a_lost_connection_is_waited_out)
{
    flood f(window + 2);
    core_fixture& e = f.e;
    auto& once = f.add("once", 0s);
    auto& entering = f.add("entering", 1h, {}, owner("11111111-1111-1111-1111-111111111111:1", 7));
    e.poll();
    e.disconnect();
    BOOST_TEST(code(once) == errc::store_unavailable);
    for (std::size_t i = 0; i < window; ++i)
        e.store->complete_acquire(i, errc::store_unavailable);
    e.poll();
    BOOST_TEST(e.store->acquire_count() == window); // nothing is sent to nowhere
    e.connect();
    BOOST_TEST(e.store->acquire_count() == 2 * window);
    std::size_t answered = window;
    while (answered < e.store->acquire_count())
        f.grant(answered++);
    BOOST_TEST(answered == 2 * window + 3);
    BOOST_TEST(code(*f.all[window + 1]) == error_code());
    BOOST_TEST(code(entering) == error_code());
}

BOOST_AUTO_TEST_CASE(a_shutdown_refuses_them)
{
    flood f(window + 2);
    core_fixture& e = f.e;
    auto& entering = f.add("entering", 1h, {}, owner("11111111-1111-1111-1111-111111111111:1", 7));
    const auto done = e.shutdown();
    BOOST_TEST(code(*f.all[window + 1]) == errc::shut_down);
    BOOST_TEST(code(entering) == errc::shut_down);
    BOOST_TEST(e.store->release_count() == window); // of what was sent
    for (std::size_t i = 0; i < window; ++i) {
        e.store->complete_acquire(i, errc::store_refused);
        e.store->complete_release(i, {}, {.result = release_reply::outcome::not_owner});
    }
    e.poll();
    BOOST_TEST(code(*done) == error_code());
    BOOST_TEST(e.store->acquire_count() == window);
    check_idle(e);
}

BOOST_AUTO_TEST_SUITE_END()

// Each partition of a store has a window.
BOOST_AUTO_TEST_SUITE(core_acquire_windows)

BOOST_AUTO_TEST_CASE(a_silent_partition_holds_up_no_other)
{
    for (const bool queues : {false, true}) {
        silent_partition f(queues);
        core_fixture& e = f.e;
        BOOST_TEST(f.asked() == window);
        auto& behind = f.lock("1:a");
        auto& entering_behind = f.enter("1:b");
        BOOST_TEST(f.asked() == window);

        auto& other = f.lock("2:a");
        BOOST_TEST_REQUIRE(f.asked() == window + 1);
        BOOST_TEST(e.last_acquire().name == "2:a");
        f.grant(window);
        BOOST_TEST(code(other) == error_code());
        auto& entering = f.enter("2:b");
        BOOST_TEST_REQUIRE(f.asked() == window + 2);
        f.grant(window + 1);
        BOOST_TEST(code(entering) == error_code());
        // What was taken there is released and renewed there.
        e.release(std::move(other.value<1>()));
        BOOST_TEST(e.store->release_count() == 1u);

        BOOST_TEST(!behind.done());
        BOOST_TEST(!entering_behind.done());
    }
}

BOOST_AUTO_TEST_CASE(no_partition_has_more_under_way_than_its_window)
{
    silent_partition f;
    f.add_all(window + 2, "2:n");
    BOOST_TEST(f.asked() == 2 * window);
    f.lock("1:a");
    f.grant(window); // the first of 2
    BOOST_TEST_REQUIRE(f.asked() == 2 * window + 1);
    BOOST_TEST(f.e.last_acquire().name == "2:n" + std::to_string(window));
    f.grant(0);
    BOOST_TEST_REQUIRE(f.asked() == 2 * window + 2);
    BOOST_TEST(f.e.last_acquire().name == "1:a");
}

BOOST_AUTO_TEST_CASE(a_lost_partition_is_waited_for_by_its_own_alone)
{
    silent_partition f;
    core_fixture& e = f.e;
    f.lock("1:a");
    f.enter("1:b");
    e.store->disconnect(errc::store_unavailable, 1);
    for (std::size_t i = 0; i < window; ++i)
        e.store->complete_acquire(i, errc::store_unavailable);
    e.poll();
    BOOST_TEST(f.asked() == window); // nothing is sent to nowhere
    f.lock("2:a");
    BOOST_TEST(f.asked() == window + 1);
    e.store->connect(1);
    e.poll();
    BOOST_TEST(f.asked() == 2 * window + 1);
}

BOOST_AUTO_TEST_CASE(who_waits_for_room_goes_where_its_name_has_gone)
{
    for (const bool queues : {false, true}) {
        silent_partition f(queues);
        core_fixture& e = f.e;
        auto& moving = f.lock("1:a");
        auto& entering = f.enter("1:b");
        f.lock("1:c");
        for (const char* name : {"1:a", "1:b"})
            e.store->move(name, 2);
        // A reply makes room for one that is still there.
        e.store->say_held(0, 10s);
        e.poll();
        BOOST_TEST_REQUIRE(f.asked() == window + 3);
        const auto asked = e.store->acquires();
        BOOST_TEST(asked[window].name == "1:a");
        BOOST_TEST(asked[window + 1].name == "1:b");
        BOOST_TEST(asked[window + 2].name == "1:c");
        f.grant(window);
        f.grant(window + 1);
        BOOST_TEST(code(moving) == error_code());
        BOOST_TEST(code(entering) == error_code());
        // What they took there has made room there, and none here.
        f.lock("1:d");
        BOOST_TEST(f.asked() == window + 3);
    }
}

BOOST_AUTO_TEST_CASE(who_waits_for_a_silent_one_goes_to_the_one_that_took_its_place)
{
    for (const bool queues : {false, true}) {
        silent_partition f(queues);
        core_fixture& e = f.e;
        auto& moving = f.lock("1:a");
        auto& entering = f.enter("1:b");
        for (const char* name : {"1:a", "1:b"})
            e.store->move(name, 3);
        e.store->connect(3);
        e.poll();
        BOOST_TEST_REQUIRE(f.asked() == window + 2);
        f.grant(window);
        f.grant(window + 1);
        BOOST_TEST(code(moving) == error_code());
        BOOST_TEST(code(entering) == error_code());
    }
}

// Where it goes there may be no room, and no connection.
BOOST_AUTO_TEST_CASE(who_has_moved_waits_like_all_others_there)
{
    for (const bool queues : {false, true}) {
        silent_partition f(queues);
        core_fixture& e = f.e;
        f.add_all(window, "2:n");
        auto& moving = f.lock("1:a");
        f.enter("1:b");
        for (const char* name : {"1:a", "1:b"})
            e.store->move(name, 2);
        f.grant(0);
        BOOST_TEST(f.asked() == 2 * window);
        f.grant(window);
        BOOST_TEST_REQUIRE(f.asked() == 2 * window + 1);
        BOOST_TEST(e.last_acquire().name == "1:a");
        e.store->disconnect(errc::store_unavailable, 2);
        for (std::size_t i = window + 1; i < 2 * window + 1; ++i)
            e.store->complete_acquire(i, errc::store_unavailable);
        e.poll();
        BOOST_TEST(f.asked() == 2 * window + 1);
        e.store->connect(2);
        e.poll();
        BOOST_TEST(f.asked() == 3 * window + 1);
        BOOST_TEST(!moving.done());
    }
}

BOOST_AUTO_TEST_CASE(who_has_moved_may_be_cancelled_or_refused)
{
    for (const bool queues : {false, true}) {
        silent_partition f(queues);
        core_fixture& e = f.e;
        auto& cancelled = f.lock("1:a");
        auto& entering = f.enter("1:b");
        auto& refused = f.lock("1:c");
        for (const char* name : {"1:a", "1:b", "1:c"})
            e.store->move(name, 2);
        cancelled.cancel();
        entering.cancel();
        e.poll();
        BOOST_TEST(code(cancelled) == aborted);
        BOOST_TEST(code(entering) == aborted);
        const auto done = e.shutdown();
        BOOST_TEST(code(refused) == errc::shut_down);
        for (std::size_t i = 0; i < window; ++i) {
            e.store->complete_acquire(i, errc::store_refused);
            e.store->complete_release(i, {}, {.result = release_reply::outcome::not_owner});
        }
        e.poll();
        BOOST_TEST(code(*done) == error_code());
        BOOST_TEST(f.asked() == window);
        check_idle(e);
    }
}

BOOST_AUTO_TEST_SUITE_END()
