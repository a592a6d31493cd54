#ifndef LEASEHOLD_TOOL_DOCTOR_JUDGE_HPP
#define LEASEHOLD_TOOL_DOCTOR_JUDGE_HPP

#include "finding.hpp"
#include "server_facts.hpp"

#include <leasehold/config.hpp>

#include <chrono>
#include <vector>

// What the facts mean. Nothing here asks a server.
namespace leasehold::tool::doctor {

void judge_url(const config& where, findings& to);

/// One server that locks are written to.
/// @param slow A round trip that takes longer is told.
void judge_server(const server_facts& facts, const config& where, std::chrono::milliseconds slow,
                  findings& to);

/// Clocks of servers that a lock may move between, or that vote.
void judge_clocks(const std::vector<server_facts>& all, findings& to);

} // namespace leasehold::tool::doctor

#endif
