#include "fsm/release.hpp"

#include <boost/test/unit_test.hpp>

using leasehold::clock;
using leasehold::fsm::release;

// A timer that is due at once, again and again, cost ten times what the release itself costs.
BOOST_AUTO_TEST_CASE(while_a_release_is_under_way_only_the_end_of_the_lease_is_waited_for)
{
    const clock::time_point start{std::chrono::hours(1)};
    const clock::time_point over = start + std::chrono::seconds(30);
    release steps(clock::time_point::min(), over);
    BOOST_TEST((steps.due(start, true) == release::action::send));
    BOOST_TEST((steps.next() == over));
    BOOST_TEST((steps.due(start, true) == release::action::wait));

    const auto pause = std::chrono::milliseconds(20);
    BOOST_TEST((steps.failed(leasehold::errc::store_refused, pause, start) == release::action::wait));
    BOOST_TEST((steps.next() == start + pause));
    BOOST_TEST((steps.due(start + pause, true) == release::action::send));
    BOOST_TEST((steps.next() == over));
}
