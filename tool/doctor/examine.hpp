#ifndef LEASEHOLD_TOOL_DOCTOR_EXAMINE_HPP
#define LEASEHOLD_TOOL_DOCTOR_EXAMINE_HPP

#include "../server/server_connection.hpp"
#include "report.hpp"
#include "server_facts.hpp"

#include <leasehold/redis.hpp>

#include <string>

namespace leasehold::tool::doctor {

/// Queries all facts of a server except a second reading of its clock. Writes nothing.
/// @param user The user whose rights to lock `key` are queried.
/// @throws unreachable
[[nodiscard]] server_facts examine(server_connection& server, const redis_config& where,
                                   const std::string& user, const std::string& key);

[[nodiscard]] server_summary summary_of(const server_facts& facts);

/// Reads the clock of a server.
/// @throws unreachable, refused
[[nodiscard]] clock_reading read_clock(server_connection& server);

} // namespace leasehold::tool::doctor

#endif
