#ifndef LEASEHOLD_TOOL_DOCTOR_ZOOKEEPER_DOCTOR_HPP
#define LEASEHOLD_TOOL_DOCTOR_ZOOKEEPER_DOCTOR_HPP

#include "report.hpp"

#include <leasehold/zookeeper_config.hpp>

#include <chrono>
#include <string>

namespace leasehold::tool::doctor {

/// Checks if an ensemble is fit to keep locks. Then acquires and releases the lock `key`.
/// @param admin The same servers, with a user that may read more nodes.
/// @param slow  A round trip that takes longer is reported.
[[nodiscard]] report examine_zookeeper(const zookeeper_config& where, const zookeeper_config& admin,
                                       std::chrono::milliseconds slow, const std::string& key);

} // namespace leasehold::tool::doctor

#endif
