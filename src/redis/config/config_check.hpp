#ifndef LEASEHOLD_SRC_REDIS_CONFIG_CONFIG_CHECK_HPP
#define LEASEHOLD_SRC_REDIS_CONFIG_CONFIG_CHECK_HPP

#include <leasehold/redis_config.hpp>

#include <string>

namespace leasehold {

/// Names the first invalid field, its value, and the allowed values; empty if all are valid.
/// Contains no password.
std::string problem_of(const redis_config& c);

} // namespace leasehold

#endif
