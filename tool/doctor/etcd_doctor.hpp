#ifndef LEASEHOLD_TOOL_DOCTOR_ETCD_DOCTOR_HPP
#define LEASEHOLD_TOOL_DOCTOR_ETCD_DOCTOR_HPP

#include "report.hpp"

#include <leasehold/etcd_config.hpp>

#include <chrono>
#include <string>

namespace leasehold::tool::doctor {

/// Checks if a cluster is fit to keep locks. Then acquires and releases the lock `key`.
/// @param admin The same servers, with a user that may read more.
/// @param slow  A round trip that takes longer is reported.
[[nodiscard]] report examine_etcd(const etcd_config& where, const etcd_config& admin,
                                  std::chrono::milliseconds slow, const std::string& key);

} // namespace leasehold::tool::doctor

#endif
