#ifndef LEASEHOLD_TEST_GUARD_PRINT_HPP
#define LEASEHOLD_TEST_GUARD_PRINT_HPP

#include <leasehold/extras/guard/error.hpp>

#include <ostream>

namespace leasehold::guard {

/// For Boost.Test, which shows both sides of a failed comparison.
inline std::ostream& boost_test_print_type(std::ostream& out, errc value)
{
    return out << make_error_code(value);
}

} // namespace leasehold::guard

#endif
