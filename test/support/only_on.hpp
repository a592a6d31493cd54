#ifndef LEASEHOLD_TEST_SUPPORT_ONLY_ON_HPP
#define LEASEHOLD_TEST_SUPPORT_ONLY_ON_HPP

#include "support/tested_layout.hpp"

#include <leasehold/redis.hpp>

#include <boost/test/unit_test.hpp>

namespace leasehold::test {

/// For test cases and suites of one layout, which are skipped on the other:
/// `BOOST_AUTO_TEST_CASE(name, *only_on(redis_config::key_layout::redisson))`.
inline boost::unit_test::precondition only_on(redis_config::key_layout layout)
{
    return boost::unit_test::precondition([layout](boost::unit_test::test_unit_id) {
        return boost::test_tools::assertion_result(tested_layout() == layout);
    });
}

} // namespace leasehold::test

#endif
