#include <boost/test/unit_test.hpp>

#include "support/core_fixture.hpp"

#include <leasehold/detail/access.hpp>

#include <algorithm>
#include <string>
#include <vector>

// A store of several servers: the failure of one does not affect the names of the others.

namespace {

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;

/// Two partitions, both reachable.
struct two_partitions : core_fixture
{
    two_partitions() : core_fixture(false)
    {
        store->split();
        run();
        both([this](store_partition p) { store->connect(p); });
    }

    template <class F>
    void both(F f)
    {
        for (store_partition p : {1u, 2u}) {
            f(p);
            poll();
        }
    }

    void lose(store_partition p, error_code why = errc::store_unavailable)
    {
        store->disconnect(why, p);
        poll();
    }

    void reconnect(store_partition p)
    {
        store->connect(p);
        poll();
    }
};

std::vector<std::string> renewed_names(const fake_store::renew_call& call)
{
    std::vector<std::string> names;
    for (const auto& each : call.locks)
        names.push_back(each.name);
    return names;
}

} // namespace

BOOST_AUTO_TEST_SUITE(partitions)

BOOST_AUTO_TEST_CASE(lost_partition_fails_only_its_own_names)
{
    two_partitions e;
    e.lose(1);
    const auto down = e.lock(e.spec("1:a"), 0s);
    BOOST_TEST((down->value<0>() == errc::store_unavailable));
    BOOST_TEST(e.store->acquire_count() == 0u);

    const auto up = e.lock(e.spec("2:a"), 0s);
    BOOST_TEST_REQUIRE(e.store->acquire_count() == 1u);
    BOOST_TEST(e.last_acquire().name == "2:a");
    e.grant();
    BOOST_TEST(up->value<1>().valid());
}

// The earlier failure no longer counts.
BOOST_AUTO_TEST_CASE(reconnected_partition_serves_while_another_is_lost)
{
    for (const errc why : {errc::store_unavailable, errc::permission_denied}) {
        two_partitions e;
        e.both([&](store_partition p) { e.lose(p, why); });
        e.reconnect(1);
        const auto op = e.lock(e.spec("1:a"), 0s);
        BOOST_TEST_REQUIRE(!op->done());
        e.grant();
        BOOST_TEST(op->value<1>().valid());
        const auto other = e.lock(e.spec("2:a"), 0s);
        BOOST_TEST((other->value<0>() == why));
    }
}

BOOST_AUTO_TEST_CASE(waiter_continues_when_its_partition_reconnects)
{
    two_partitions e;
    e.both([&](store_partition p) { e.lose(p); });
    const auto one = e.lock("1:a");
    const auto two = e.lock("2:a");
    BOOST_TEST(e.store->acquire_count() == 0u);
    e.reconnect(2);
    BOOST_TEST_REQUIRE(e.store->acquire_count() == 1u);
    BOOST_TEST(e.last_acquire().name == "2:a");
    e.reconnect(1);
    BOOST_TEST_REQUIRE(e.store->acquire_count() == 2u);
    BOOST_TEST(e.last_acquire().name == "1:a");
}

BOOST_AUTO_TEST_CASE(reconnected_partition_renews_only_its_own_leases)
{
    two_partitions e;
    lease one = e.taken(e.spec("1:a"));
    lease two = e.taken(e.spec("2:a"));
    e.lose(1);
    BOOST_TEST(e.store->renew_count() == 0u);
    e.reconnect(1);
    BOOST_TEST_REQUIRE(e.store->renew_count() == 1u);
    BOOST_TEST(renewed_names(e.store->renewals().back()) == std::vector<std::string>{"1:a"},
               boost::test_tools::per_element());
    e.renew_all(renewal_result::gone);
    BOOST_TEST(!one.valid());
    BOOST_TEST(two.valid());
}

BOOST_AUTO_TEST_CASE(renewal_in_a_lost_partition_fails_without_the_others)
{
    two_partitions e;
    lease one = e.taken(e.spec("1:a"));
    lease two = e.taken(e.spec("2:a"));
    e.lose(1);
    e.advance(10s + 500ms); // a third of the lease time
    BOOST_TEST_REQUIRE(e.store->renew_count() == 1u);
    BOOST_TEST(renewed_names(e.store->renewals().back()) == std::vector<std::string>{"2:a"},
               boost::test_tools::per_element());
    e.renew_all();
    BOOST_TEST(e.seen->count(recording_observer::kind::renewal_late) >= 1u);
    BOOST_TEST(one.valid());
    BOOST_TEST(two.valid());
    BOOST_TEST((one.deadline() < two.deadline()));
}

// R3: if one server hangs, the renewals of the others are not delayed behind it.
BOOST_AUTO_TEST_CASE(renewals_due_at_once_are_sent_to_each_partition_separately)
{
    two_partitions e;
    lease one = e.taken(e.spec("1:a"));
    lease two = e.taken(e.spec("2:a"));
    lease three = e.taken(e.spec("1:b"));
    e.advance(10s + 500ms); // a third of the lease time
    BOOST_TEST_REQUIRE(e.store->renew_count() == 2u);
    std::vector<std::vector<std::string>> sent;
    for (const auto& each : e.store->renewals())
        sent.push_back(renewed_names(each));
    std::sort(sent.begin(), sent.end());
    BOOST_TEST(sent[0] == (std::vector<std::string>{"1:a", "1:b"}),
               boost::test_tools::per_element());
    BOOST_TEST(sent[1] == std::vector<std::string>{"2:a"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(release_waits_for_its_own_partition)
{
    two_partitions e;
    lease one = e.taken(e.spec("1:a"));
    e.lose(1);
    const auto released = e.release(std::move(one));
    e.lose(2);
    e.reconnect(2);
    BOOST_TEST(e.store->release_count() == 0u);
    BOOST_TEST(!released->done());
    e.reconnect(1);
    BOOST_TEST_REQUIRE(e.store->release_count() == 1u);
    e.say_freed();
    BOOST_TEST(!released->value<0>());
}

BOOST_AUTO_TEST_CASE(rejected_credentials_of_a_partition_fail_only_its_own_names)
{
    two_partitions e;
    const auto one = e.lock("1:a");
    const auto two = e.lock("2:a");
    e.lose(1, errc::permission_denied);
    BOOST_TEST((one->value<0>() == errc::permission_denied));
    BOOST_TEST(!two->done());
    const auto later = e.lock("1:b");
    BOOST_TEST((later->value<0>() == errc::permission_denied));
    const owner other(std::string("another:1"), 1);
    const auto entry = e.lock(e.spec("2:b"), clock::duration::max(), other);
    BOOST_TEST(!entry->done());
    const auto refused = e.lock(e.spec("1:b"), clock::duration::max(), other);
    BOOST_TEST((refused->value<0>() == errc::permission_denied));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(traits)

BOOST_AUTO_TEST_CASE(lease_times_fit_the_grain_and_the_minimum_of_the_store)
{
    asio::io_context context;
    const auto store = std::make_shared<fake_store>();
    store->can.smallest_lease = 2s;
    store->can.grain = 1s;
    client locks(context.get_executor(), store);
    BOOST_TEST(mutex(locks, "a", {.lease_time = 2500ms}).options().lease_time.count() == 3000);
    BOOST_TEST(mutex(locks, "a", {.lease_time = 4000ms}).options().lease_time.count() == 4000);
    BOOST_CHECK_EXCEPTION(mutex(locks, "a", {.lease_time = 1999ms}), boost::system::system_error,
                          [](const boost::system::system_error& failure) {
                              const std::string said = failure.what();
                              return failure.code() == errc::not_supported &&
                                     said.find("lease_time") != std::string::npos &&
                                     said.find("2000 ms") != std::string::npos;
                          });
}

// If late requests are not rejected, an unanswered one may be executed for a lease time.
BOOST_AUTO_TEST_CASE(release_is_repeated_later_where_late_requests_are_executed)
{
    core_fixture e;
    core_fixture late([] {
        const auto made = std::make_shared<fake_store>();
        made->can.rejects_late = false;
        return made;
    }());
    const auto releases_after = [](core_fixture& f, clock::duration time) {
        const auto op = f.lock(f.spec("a", {.lease_time = 2s}), 0s);
        f.fail_acquire(errc::outcome_unknown);
        f.say_released(release_reply::outcome::not_owner);
        f.advance(time);
        return f.store->release_count();
    };
    BOOST_TEST(releases_after(e, 2100ms) == 2u);    // the limit of the request has passed
    BOOST_TEST(releases_after(late, 2100ms) == 1u); // the request may still be executed
    late.advance(2s);
    BOOST_TEST(late.store->release_count() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()
