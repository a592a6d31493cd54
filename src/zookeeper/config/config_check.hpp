#ifndef LEASEHOLD_SRC_ZOOKEEPER_CONFIG_CONFIG_CHECK_HPP
#define LEASEHOLD_SRC_ZOOKEEPER_CONFIG_CONFIG_CHECK_HPP

#include <leasehold/zookeeper_config.hpp>

#include <string>

namespace leasehold::zookeeper_store {

/// Names the first invalid field, its value, and the allowed values; empty if all are valid.
/// Contains no password.
[[nodiscard]] std::string problem_of(const zookeeper_config& c);

} // namespace leasehold::zookeeper_store

#endif
