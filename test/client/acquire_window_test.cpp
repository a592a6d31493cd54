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
                               lock_options options = {}, owner holder = {})
    {
        all.push_back(e.make<core_fixture::locking>());
        all.back()->start([&](auto handler) {
            e.async_lock(e.spec(name, options), limit, std::move(holder), std::move(handler));
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

/// A store with two reachable partitions, 1 and 2. Partition 1 has a full window of outstanding
/// acquires and answers none of them.
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

    core_fixture::locking& lock(const std::string& name, owner holder = {})
    {
        auto& op = add(name, 1h, {}, std::move(holder));
        e.poll();
        return op;
    }

    core_fixture::locking& reenter(const std::string& name)
    {
        return lock(name, owner("11111111-1111-1111-1111-111111111111:1", 7));
    }

    [[nodiscard]] std::size_t asked() const { return e.store->acquire_count(); }
};

} // namespace

BOOST_AUTO_TEST_SUITE(core_acquire_window)

BOOST_AUTO_TEST_CASE(outstanding_acquires_never_exceed_the_window_and_keep_their_order)
{
    flood f(2 * window + 500);
    core_fixture& e = f.e;
    BOOST_TEST(e.store->acquire_count() == window);
    // One reply at a time at first, then many within one turn of the strand.
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

// A rejected request frees its place in the window, and so does a request that is sent again.
BOOST_AUTO_TEST_CASE(every_reply_makes_room_in_the_window)
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
    // The repeated request queues behind those that waited before.
    f.grant(4);
    BOOST_TEST_REQUIRE(e.store->acquire_count() == window + 5);
    BOOST_TEST(e.last_acquire().name == "n3");
}

BOOST_AUTO_TEST_CASE(full_window_delays_no_renewal_or_release)
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

// The time of a request begins when it is sent. The time of a wait begins with the call.
BOOST_AUTO_TEST_CASE(budget_starts_with_the_request_and_limit_with_the_call)
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

BOOST_AUTO_TEST_CASE(operation_that_ends_unsent_leaves_no_orphan)
{
    flood f(window);
    core_fixture& e = f.e;
    auto& cancelled = f.add("cancelled", clock::duration::max());
    auto& limited = f.add("limited", 1s);
    auto& once = f.add("once", 0s);
    auto& reentrant = f.add("entering", 1s, {}, owner("11111111-1111-1111-1111-111111111111:1", 7));
    auto& last = f.add("last", clock::duration::max());
    e.poll();
    cancelled.cancel();
    e.poll();
    BOOST_TEST(code(cancelled) == aborted);
    e.advance(1s);
    BOOST_TEST(code(limited) == errc::store_unavailable);
    BOOST_TEST(code(reentrant) == errc::store_unavailable);
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

// The first waiter for a name may be cancelled before the request is sent. The request is then for
// the next waiter.
BOOST_AUTO_TEST_CASE(request_carries_the_options_of_the_first_waiter_at_its_send)
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

// A wake-up only causes a poll, and the unsent request is one.
BOOST_AUTO_TEST_CASE(wake_up_before_the_request_is_sent_adds_no_second_request)
{
    flood f(window);
    core_fixture& e = f.e;
    f.add("a", clock::duration::max());
    e.poll();
    e.store->wakeup("a");
    e.poll();
    f.grant(0);
    BOOST_TEST_REQUIRE(e.last_acquire().name == "a");
    e.say_held();
    BOOST_TEST(e.store->acquire_count() == window + 1);
}

// A request counts as outstanding until the store has answered it.
BOOST_AUTO_TEST_CASE(request_of_a_cancelled_waiter_still_occupies_the_window)
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

BOOST_AUTO_TEST_CASE(unsent_acquires_wait_for_the_next_connection)
{
    flood f(window + 2);
    core_fixture& e = f.e;
    auto& once = f.add("once", 0s);
    auto& reentrant = f.add("entering", 1h, {}, owner("11111111-1111-1111-1111-111111111111:1", 7));
    e.poll();
    e.disconnect();
    BOOST_TEST(code(once) == errc::store_unavailable);
    for (std::size_t i = 0; i < window; ++i)
        e.store->complete_acquire(i, errc::store_unavailable);
    e.poll();
    BOOST_TEST(e.store->acquire_count() == window); // nothing is sent without a connection
    e.connect();
    BOOST_TEST(e.store->acquire_count() == 2 * window);
    std::size_t answered = window;
    while (answered < e.store->acquire_count())
        f.grant(answered++);
    BOOST_TEST(answered == 2 * window + 3);
    BOOST_TEST(code(*f.all[window + 1]) == error_code());
    BOOST_TEST(code(reentrant) == error_code());
}

BOOST_AUTO_TEST_CASE(shutdown_rejects_unsent_acquires)
{
    flood f(window + 2);
    core_fixture& e = f.e;
    auto& reentrant = f.add("entering", 1h, {}, owner("11111111-1111-1111-1111-111111111111:1", 7));
    const auto done = e.shutdown();
    BOOST_TEST(code(*f.all[window + 1]) == errc::shut_down);
    BOOST_TEST(code(reentrant) == errc::shut_down);
    BOOST_TEST(e.store->release_count() == window); // only for requests that were sent
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

BOOST_AUTO_TEST_CASE(silent_partition_does_not_delay_other_partitions)
{
    for (const bool queues : {false, true}) {
        silent_partition f(queues);
        core_fixture& e = f.e;
        BOOST_TEST(f.asked() == window);
        auto& behind = f.lock("1:a");
        auto& reentrant_behind = f.reenter("1:b");
        BOOST_TEST(f.asked() == window);

        auto& other = f.lock("2:a");
        BOOST_TEST_REQUIRE(f.asked() == window + 1);
        BOOST_TEST(e.last_acquire().name == "2:a");
        f.grant(window);
        BOOST_TEST(code(other) == error_code());
        auto& reentrant = f.reenter("2:b");
        BOOST_TEST_REQUIRE(f.asked() == window + 2);
        f.grant(window + 1);
        BOOST_TEST(code(reentrant) == error_code());
        // Leases of partition 2 are released and renewed there.
        e.release(std::move(other.value<1>()));
        BOOST_TEST(e.store->release_count() == 1u);

        BOOST_TEST(!behind.done());
        BOOST_TEST(!reentrant_behind.done());
    }
}

BOOST_AUTO_TEST_CASE(each_partition_has_at_most_its_window_outstanding)
{
    silent_partition f;
    f.add_all(window + 2, "2:n");
    BOOST_TEST(f.asked() == 2 * window);
    f.lock("1:a");
    f.grant(window); // the first acquire of partition 2
    BOOST_TEST_REQUIRE(f.asked() == 2 * window + 1);
    BOOST_TEST(f.e.last_acquire().name == "2:n" + std::to_string(window));
    f.grant(0);
    BOOST_TEST_REQUIRE(f.asked() == 2 * window + 2);
    BOOST_TEST(f.e.last_acquire().name == "1:a");
}

BOOST_AUTO_TEST_CASE(lost_partition_delays_only_its_own_names)
{
    silent_partition f;
    core_fixture& e = f.e;
    f.lock("1:a");
    f.reenter("1:b");
    e.store->disconnect(errc::store_unavailable, 1);
    for (std::size_t i = 0; i < window; ++i)
        e.store->complete_acquire(i, errc::store_unavailable);
    e.poll();
    BOOST_TEST(f.asked() == window); // nothing is sent without a connection
    f.lock("2:a");
    BOOST_TEST(f.asked() == window + 1);
    e.store->connect(1);
    e.poll();
    BOOST_TEST(f.asked() == 2 * window + 1);
}

BOOST_AUTO_TEST_CASE(unsent_acquire_follows_its_name_to_another_partition)
{
    for (const bool queues : {false, true}) {
        silent_partition f(queues);
        core_fixture& e = f.e;
        auto& moving = f.lock("1:a");
        auto& reentrant = f.reenter("1:b");
        f.lock("1:c");
        for (const char* name : {"1:a", "1:b"})
            e.store->move(name, 2);
        // A reply makes room for an acquire that has not moved.
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
        BOOST_TEST(code(reentrant) == error_code());
        // The moved acquires have freed room in partition 2, and none here.
        f.lock("1:d");
        BOOST_TEST(f.asked() == window + 3);
    }
}

BOOST_AUTO_TEST_CASE(unsent_acquire_moves_from_a_silent_partition_to_its_successor)
{
    for (const bool queues : {false, true}) {
        silent_partition f(queues);
        core_fixture& e = f.e;
        auto& moving = f.lock("1:a");
        auto& reentrant = f.reenter("1:b");
        for (const char* name : {"1:a", "1:b"})
            e.store->move(name, 3);
        e.store->connect(3);
        e.poll();
        BOOST_TEST_REQUIRE(f.asked() == window + 2);
        f.grant(window);
        f.grant(window + 1);
        BOOST_TEST(code(moving) == error_code());
        BOOST_TEST(code(reentrant) == error_code());
    }
}

// The new partition may have no room, and no connection.
BOOST_AUTO_TEST_CASE(moved_acquire_waits_for_room_and_connection_of_the_new_partition)
{
    for (const bool queues : {false, true}) {
        silent_partition f(queues);
        core_fixture& e = f.e;
        f.add_all(window, "2:n");
        auto& moving = f.lock("1:a");
        f.reenter("1:b");
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

BOOST_AUTO_TEST_CASE(moved_acquire_can_be_cancelled_or_shut_down)
{
    for (const bool queues : {false, true}) {
        silent_partition f(queues);
        core_fixture& e = f.e;
        auto& cancelled = f.lock("1:a");
        auto& reentrant = f.reenter("1:b");
        auto& refused = f.lock("1:c");
        for (const char* name : {"1:a", "1:b", "1:c"})
            e.store->move(name, 2);
        cancelled.cancel();
        reentrant.cancel();
        e.poll();
        BOOST_TEST(code(cancelled) == aborted);
        BOOST_TEST(code(reentrant) == aborted);
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
