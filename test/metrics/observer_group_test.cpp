// Several observers as one observer.
#include <boost/test/unit_test.hpp>

#include "metrics/every_event.hpp"
#include "support/recording_observer.hpp"

#include <leasehold/observer_group.hpp>

#include <memory>
#include <set>
#include <vector>

using namespace leasehold;
using namespace leasehold::test;

BOOST_AUTO_TEST_CASE(each_observer_of_a_group_receives_each_event_in_full)
{
    recording_observer alone;
    notify_every_event(alone);
    const auto one = std::make_shared<recording_observer>();
    const auto two = std::make_shared<recording_observer>();
    observer_group all({one, two});
    notify_every_event(all);
    std::set<recording_observer::kind> kinds;
    for (const auto& member : {one, two}) {
        const auto expected = alone.events(), told = member->events();
        BOOST_TEST_REQUIRE(told.size() == expected.size());
        for (std::size_t i = 0; i < told.size(); ++i) {
            const auto &a = told[i], &b = expected[i];
            kinds.insert(a.what);
            BOOST_TEST((a.what == b.what && a.name == b.name && a.fence == b.fence &&
                        a.code == b.code && a.time == b.time && a.handed_off == b.handed_off &&
                        a.details == b.details && a.holder == b.holder && a.request == b.request &&
                        a.left == b.left));
        }
    }
    // No event is missing, and no new event has been left out of this test.
    BOOST_TEST(kinds.size() ==
               static_cast<std::size_t>(recording_observer::kind::disconnected) + 1);
}
