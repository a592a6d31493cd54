#ifndef LEASEHOLD_TOOL_DOCTOR_JUDGE_HPP
#define LEASEHOLD_TOOL_DOCTOR_JUDGE_HPP

#include "finding.hpp"
#include "server_facts.hpp"

#include <leasehold/redis.hpp>

#include <chrono>
#include <vector>

// Makes findings from facts, without queries to a server.
namespace leasehold::tool::doctor {

void judge_url(const redis_config& where, findings& to);

/// Checks one server that keeps locks.
/// @param slow A round trip that takes longer is reported.
void judge_server(const server_facts& facts, const redis_config& where,
                  std::chrono::milliseconds slow, findings& to);

/// Compares the clocks of servers between which a lock may move, or which vote.
void judge_clocks(const std::vector<server_facts>& all, findings& to);

} // namespace leasehold::tool::doctor

#endif
