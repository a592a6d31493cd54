#ifndef LEASEHOLD_TEST_SUPPORT_WITH_A_CLOCK_HPP
#define LEASEHOLD_TEST_SUPPORT_WITH_A_CLOCK_HPP

#include "support/shifted_clock.hpp"

#include <boost/test/unit_test.hpp>

namespace leasehold::test {

/// Skips tests that need a server whose clock they can move, where it cannot be moved.
inline boost::unit_test::precondition with_a_clock()
{
    return boost::unit_test::precondition([](boost::unit_test::test_unit_id) {
        return boost::test_tools::assertion_result(shifted_clock::available());
    });
}

} // namespace leasehold::test

#endif
