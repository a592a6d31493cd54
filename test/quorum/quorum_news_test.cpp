// What the store of a quorum tells of releases, and when, by what its members tell.
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

// For how long what some members tell waits for the others.
constexpr auto merge_time = 10ms;
constexpr auto watch_time = 50ms;

struct fixture : scripted_quorum
{
    fixture()
    {
        connect();
        watch("lock");
    }

    /// All members report releases, and that was reported.
    void watched()
    {
        for (unsigned i = 0; i < members.size(); ++i)
            watches(i);
        BOOST_TEST_REQUIRE((hints == words{"lock"}));
        hints.clear();
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(quorum_news, fixture)

BOOST_AUTO_TEST_CASE(all_members_watch_as_often_as_it_changes)
{
    watch("lock");
    watch("other");
    unwatch("lock");
    unwatch("lock");
    unwatch("unknown");
    for (const scripted_member& each : members)
        BOOST_TEST((each->watches == words{"watch lock", "watch other", "unwatch lock"}));
}

BOOST_AUTO_TEST_CASE(a_watch_is_in_effect_when_all_that_are_reachable_watch)
{
    watches(0);
    watches(1);
    BOOST_TEST(hints.empty());
    watches(2);
    BOOST_TEST((hints == words{"lock"}));
    watches(1);
    pass(watch_time);
    BOOST_TEST((hints == words{"lock"}));
}

BOOST_AUTO_TEST_CASE(members_that_cannot_be_reached_are_not_waited_for)
{
    disconnect(2);
    watches(0);
    BOOST_TEST(hints.empty());
    watches(1);
    BOOST_TEST((hints == words{"lock"}));
}

BOOST_AUTO_TEST_CASE(a_majority_that_watches_is_enough_after_a_moment)
{
    watches(0);
    watches(1);
    pass(watch_time - 1ms);
    BOOST_TEST(hints.empty());
    pass(1ms);
    BOOST_TEST((hints == words{"lock"}));
    watches(2);
    pass(watch_time);
    BOOST_TEST((hints == words{"lock"}));
}

BOOST_AUTO_TEST_CASE(a_minority_that_watches_is_no_watch)
{
    watches(0);
    pass(watch_time);
    BOOST_TEST(hints.empty());
    watches(1);
    pass(watch_time);
    BOOST_TEST((hints == words{"lock"}));
}

BOOST_AUTO_TEST_CASE(a_watch_that_was_lost_is_told_when_it_is_in_effect_again)
{
    watched();
    is_deaf(0);
    watches(0);
    pass(watch_time);
    BOOST_TEST(hints.empty()); // two of three were a majority all the time
    is_deaf(0);
    is_deaf(1);
    BOOST_TEST(hints.empty());
    watches(0);
    watches(1);
    BOOST_TEST((hints == words{"lock"}));
}

BOOST_AUTO_TEST_CASE(a_release_is_told_once_when_it_can_be_had)
{
    watched();
    tells(0, "a:1");
    BOOST_TEST(hints.empty());
    tells(0, "a:1");
    BOOST_TEST(hints.empty()); // one member counts once
    tells(2, "a:1");
    BOOST_TEST((hints == words{"lock"}));
    tells(1, "a:1");
    pass(watch_time);
    BOOST_TEST((hints == words{"lock"}));
    tells(0, "b:2");
    tells(1, "b:2");
    BOOST_TEST((hints == words{"lock", "lock"}));
}

BOOST_AUTO_TEST_CASE(a_release_that_too_few_tell_is_told_after_a_moment)
{
    watched();
    tells(1, "a:1");
    pass(merge_time - 1ms);
    BOOST_TEST(hints.empty());
    pass(1ms);
    BOOST_TEST((hints == words{"lock"}));
    tells(0, "a:1");
    pass(watch_time);
    BOOST_TEST((hints == words{"lock"}));
}

BOOST_AUTO_TEST_CASE(another_release_does_not_put_it_off)
{
    watched();
    tells(0, "a:1");
    pass(6ms);
    tells(1, "b:2");
    pass(4ms);
    BOOST_TEST((hints == words{"lock"}));
}

// Two of them are due at different times.
BOOST_AUTO_TEST_CASE(what_is_due_first_is_told_first)
{
    watch("other");
    watches(0, "other");
    watches(1, "other"); // due after 50 ms
    pass(20ms);
    tells(0, "a:1"); // due after 10 ms
    pass(merge_time);
    BOOST_TEST((hints == words{"lock"}));
    watches(0);
    watches(1); // again after 50 ms, which is behind the other
    pass(watch_time - 20ms - merge_time);
    BOOST_TEST((hints == words{"lock", "other"}));
    pass(watch_time);
    BOOST_TEST((hints == words{"lock", "other", "lock"}));
}

BOOST_AUTO_TEST_CASE(a_release_while_a_watch_is_to_be_told_is_not_put_off_by_it)
{
    tells(0, "a:1");
    pass(1ms);
    watches(0);
    watches(1);
    pass(merge_time - 1ms);
    BOOST_TEST((hints == words{"lock"}));
}

BOOST_AUTO_TEST_CASE(nobody_hears_of_what_is_not_watched_any_more)
{
    watched();
    tells(0, "a:1");
    unwatch("lock");
    tells(1, "a:1");
    watches(0);
    pass(watch_time);
    BOOST_TEST(hints.empty());
}

BOOST_AUTO_TEST_CASE(a_listener_may_end_a_watch_that_is_about_to_be_told)
{
    watch("other");
    tells(0, "a:1");
    tells(0, "a:1", "other");
    on_next_hint = [&] { locks->unwatch(hints.back() == "lock" ? "other" : "lock"); };
    pass(merge_time);
    BOOST_TEST(hints.size() == 1u);
    watch("lock");
    watch("other");
    tells(0, "b:2");
    tells(0, "b:2", "other");
    hints.clear();
    on_next_hint = [&] { locks->close(); };
    pass(merge_time);
    BOOST_TEST(hints.size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
