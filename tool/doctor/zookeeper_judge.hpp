#ifndef LEASEHOLD_TOOL_DOCTOR_ZOOKEEPER_JUDGE_HPP
#define LEASEHOLD_TOOL_DOCTOR_ZOOKEEPER_JUDGE_HPP

#include "finding.hpp"
#include "zookeeper_facts.hpp"

#include <leasehold/zookeeper_config.hpp>

#include <chrono>
#include <vector>

namespace leasehold::tool::doctor {

/// Makes findings from the facts of the servers that could be queried.
/// @param slow A round trip that takes longer is reported.
void judge_zookeeper(const std::vector<zookeeper_facts>& all, const zookeeper_config& where,
                     std::chrono::milliseconds slow, findings& to);

} // namespace leasehold::tool::doctor

#endif
