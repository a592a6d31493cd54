#ifndef LEASEHOLD_TOOL_DOCTOR_ETCD_JUDGE_HPP
#define LEASEHOLD_TOOL_DOCTOR_ETCD_JUDGE_HPP

#include "etcd_facts.hpp"
#include "finding.hpp"

#include <leasehold/etcd_config.hpp>

#include <chrono>
#include <vector>

namespace leasehold::tool::doctor {

/// Makes findings from the facts of the servers that could be queried, at least one.
/// @param slow A round trip that takes longer is reported.
void judge_etcd(const std::vector<etcd_facts>& all, const etcd_config& where,
                std::chrono::milliseconds slow, findings& to);

} // namespace leasehold::tool::doctor

#endif
