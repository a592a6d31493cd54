#ifndef LEASEHOLD_SRC_ETCD_CONFIG_CONFIG_CHECK_HPP
#define LEASEHOLD_SRC_ETCD_CONFIG_CONFIG_CHECK_HPP

#include <leasehold/etcd_config.hpp>

#include <string>

namespace leasehold::etcd_store {

/// Names the first invalid field, its value, and the allowed values; empty if all are valid.
/// Contains no password.
[[nodiscard]] std::string problem_of(const etcd_config& c);

} // namespace leasehold::etcd_store

#endif
