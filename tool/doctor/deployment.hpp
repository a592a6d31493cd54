#ifndef LEASEHOLD_TOOL_DOCTOR_DEPLOYMENT_HPP
#define LEASEHOLD_TOOL_DOCTOR_DEPLOYMENT_HPP

#include "finding.hpp"
#include "server_facts.hpp"

#include <leasehold/redis.hpp>

#include <boost/asio/io_context.hpp>

#include <vector>

// Checks of several servers together.
namespace leasehold::tool::doctor {

/// Checks each Sentinel.
void inspect_sentinels(boost::asio::io_context& context, const redis_config& where, findings& to);

/// Checks if the nodes of the URL answer, and queries one of them for the state of the cluster.
void inspect_cluster(boost::asio::io_context& context, const redis_config& where, findings& to);

/// @param all The members that can be reached.
void judge_quorum(const std::vector<server_facts>& all, const redis_config& where, findings& to);

} // namespace leasehold::tool::doctor

#endif
