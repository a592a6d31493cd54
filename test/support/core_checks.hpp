#ifndef LEASEHOLD_TEST_SUPPORT_CORE_CHECKS_HPP
#define LEASEHOLD_TEST_SUPPORT_CORE_CHECKS_HPP

#include <boost/test/unit_test.hpp>

#include "support/core_fixture.hpp"

#include <boost/asio/error.hpp>

namespace leasehold::test {

inline constexpr lock_options short_lease{.lease_time = std::chrono::seconds(1)};
inline constexpr lock_options fixed{.lease_time = std::chrono::seconds(1), .renew = false};
inline const error_code aborted = asio::error::operation_aborted;

/// The error of an operation that has completed, properly, with either a lease or an error.
inline error_code code(core_fixture::locking& op)
{
    BOOST_TEST_REQUIRE(op.done());
    BOOST_TEST(op.proper());
    BOOST_TEST(static_cast<bool>(op.value<1>()) == !op.value<0>());
    return op.value<0>();
}

inline error_code code(core_fixture::waiting& op)
{
    BOOST_TEST_REQUIRE(op.done());
    BOOST_TEST(op.proper());
    return op.value<0>();
}

/// No lock, waiter or request is left.
inline void check_idle(core_fixture& e)
{
    BOOST_TEST(e.stats().held == 0u);
    BOOST_TEST(e.stats().waiting == 0u);
    BOOST_TEST(e.stats().orphans == 0u);
    BOOST_TEST(e.store->misuse() == "");
}

} // namespace leasehold::test

#endif
