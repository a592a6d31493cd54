// When the store of a quorum reports releases, depending on the reports of its members.
#include <boost/test/unit_test.hpp>

#include "quorum/scripted_quorum.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using words = std::vector<std::string>;

// The time for which the reports of some members wait for the others.
constexpr auto merge_time = 10ms;
constexpr auto watch_time = 50ms;

struct fixture : scripted_quorum
{
    fixture()
    {
        connect();
        watch("lock");
    }

    /// All members report releases, and this watch was reported.
    void watched()
    {
        for (unsigned i = 0; i < members.size(); ++i)
            watches(i);
        BOOST_TEST_REQUIRE((wakeups == words{"lock"}));
        wakeups.clear();
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(quorum_news, fixture)

BOOST_AUTO_TEST_CASE(each_change_of_a_watch_is_sent_to_all_members)
{
    watch("lock");
    watch("other");
    unwatch("lock");
    unwatch("lock");
    unwatch("unknown");
    for (const scripted_member& each : members)
        BOOST_TEST((each->watches == words{"watch lock", "watch other", "unwatch lock"}));
}

BOOST_AUTO_TEST_CASE(watch_takes_effect_when_all_reachable_members_watch)
{
    watches(0);
    watches(1);
    BOOST_TEST(wakeups.empty());
    watches(2);
    BOOST_TEST((wakeups == words{"lock"}));
    watches(1);
    pass(watch_time);
    BOOST_TEST((wakeups == words{"lock"}));
}

BOOST_AUTO_TEST_CASE(watch_does_not_wait_for_unreachable_members)
{
    disconnect(2);
    watches(0);
    BOOST_TEST(wakeups.empty());
    watches(1);
    BOOST_TEST((wakeups == words{"lock"}));
}

BOOST_AUTO_TEST_CASE(watching_majority_is_enough_after_a_delay)
{
    watches(0);
    watches(1);
    pass(watch_time - 1ms);
    BOOST_TEST(wakeups.empty());
    pass(1ms);
    BOOST_TEST((wakeups == words{"lock"}));
    watches(2);
    pass(watch_time);
    BOOST_TEST((wakeups == words{"lock"}));
}

BOOST_AUTO_TEST_CASE(watching_minority_is_not_enough)
{
    watches(0);
    pass(watch_time);
    BOOST_TEST(wakeups.empty());
    watches(1);
    pass(watch_time);
    BOOST_TEST((wakeups == words{"lock"}));
}

BOOST_AUTO_TEST_CASE(restored_watch_is_reported_again)
{
    watched();
    is_deaf(0);
    watches(0);
    pass(watch_time);
    BOOST_TEST(wakeups.empty()); // two of three were a majority all the time
    is_deaf(0);
    is_deaf(1);
    BOOST_TEST(wakeups.empty());
    watches(0);
    watches(1);
    BOOST_TEST((wakeups == words{"lock"}));
}

BOOST_AUTO_TEST_CASE(release_is_reported_once_when_a_majority_reports_it)
{
    watched();
    notify_release(0, "a:1");
    BOOST_TEST(wakeups.empty());
    notify_release(0, "a:1");
    BOOST_TEST(wakeups.empty()); // one member counts once
    notify_release(2, "a:1");
    BOOST_TEST((wakeups == words{"lock"}));
    notify_release(1, "a:1");
    pass(watch_time);
    BOOST_TEST((wakeups == words{"lock"}));
    notify_release(0, "b:2");
    notify_release(1, "b:2");
    BOOST_TEST((wakeups == words{"lock", "lock"}));
}

BOOST_AUTO_TEST_CASE(release_reported_by_too_few_members_is_reported_after_a_delay)
{
    watched();
    notify_release(1, "a:1");
    pass(merge_time - 1ms);
    BOOST_TEST(wakeups.empty());
    pass(1ms);
    BOOST_TEST((wakeups == words{"lock"}));
    // The waiter found too few free members. Now there are enough.
    notify_release(0, "a:1");
    BOOST_TEST((wakeups == words{"lock", "lock"}));
    notify_release(2, "a:1");
    pass(watch_time);
    BOOST_TEST((wakeups == words{"lock", "lock"}));
}

BOOST_AUTO_TEST_CASE(another_release_does_not_postpone_the_report)
{
    watched();
    notify_release(0, "a:1");
    pass(6ms);
    notify_release(1, "b:2");
    pass(4ms);
    BOOST_TEST((wakeups == words{"lock"}));
}

// Two reports with different due times.
BOOST_AUTO_TEST_CASE(reports_come_in_order_of_their_due_times)
{
    watch("other");
    watches(0, "other");
    watches(1, "other"); // due after 50 ms
    pass(20ms);
    notify_release(0, "a:1"); // due after 10 ms
    pass(merge_time);
    BOOST_TEST((wakeups == words{"lock"}));
    watches(0);
    watches(1); // again after 50 ms, later than the other name
    pass(watch_time - 20ms - merge_time);
    BOOST_TEST((wakeups == words{"lock", "other"}));
    pass(watch_time);
    BOOST_TEST((wakeups == words{"lock", "other", "lock"}));
}

BOOST_AUTO_TEST_CASE(pending_watch_does_not_postpone_a_release)
{
    notify_release(0, "a:1");
    pass(1ms);
    watches(0);
    watches(1);
    pass(merge_time - 1ms);
    BOOST_TEST((wakeups == words{"lock"}));
}

BOOST_AUTO_TEST_CASE(unwatched_name_is_not_reported)
{
    watched();
    notify_release(0, "a:1");
    unwatch("lock");
    notify_release(1, "a:1");
    watches(0);
    pass(watch_time);
    BOOST_TEST(wakeups.empty());
}

BOOST_AUTO_TEST_CASE(listener_can_unwatch_a_name_with_a_pending_report)
{
    watch("other");
    notify_release(0, "a:1");
    notify_release(0, "a:1", "other");
    on_next_wakeup = [&] { locks->unwatch(wakeups.back() == "lock" ? "other" : "lock"); };
    pass(merge_time);
    BOOST_TEST(wakeups.size() == 1u);
    watch("lock");
    watch("other");
    notify_release(0, "b:2");
    notify_release(0, "b:2", "other");
    wakeups.clear();
    on_next_wakeup = [&] { locks->close(); };
    pass(merge_time);
    BOOST_TEST(wakeups.size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
