#ifndef LEASEHOLD_TOOL_DOCTOR_DEPLOYMENT_HPP
#define LEASEHOLD_TOOL_DOCTOR_DEPLOYMENT_HPP

#include "finding.hpp"
#include "server_facts.hpp"

#include <leasehold/config.hpp>

#include <boost/asio/io_context.hpp>

#include <vector>

// What several servers make together.
namespace leasehold::tool::doctor {

/// Asks each of the Sentinels.
void look_at_sentinels(boost::asio::io_context& context, const config& where, findings& to);

/// Asks the nodes that the URL names what they know of all.
void look_at_cluster(boost::asio::io_context& context, const config& where, findings& to);

/// @param all Those that could be reached.
void judge_quorum(const std::vector<server_facts>& all, const config& where, findings& to);

} // namespace leasehold::tool::doctor

#endif
