#ifndef LEASEHOLD_SRC_CONFIG_CONFIG_CHECK_HPP
#define LEASEHOLD_SRC_CONFIG_CONFIG_CHECK_HPP

#include <leasehold/config.hpp>

#include <string>

namespace leasehold {

/// The first field that cannot be used, its value, and what is allowed; empty when there is none.
/// Shows no password.
std::string problem_of(const config& c);

} // namespace leasehold

#endif
