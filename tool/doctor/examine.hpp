#ifndef LEASEHOLD_TOOL_DOCTOR_EXAMINE_HPP
#define LEASEHOLD_TOOL_DOCTOR_EXAMINE_HPP

#include "../server/server_connection.hpp"
#include "server_facts.hpp"

#include <leasehold/config.hpp>

#include <string>

namespace leasehold::tool::doctor {

/// Asks a server for everything but a second look at its clock. Writes nothing.
/// @param user Whose rights are asked for, to lock `key`.
/// @throws unreachable
[[nodiscard]] server_facts examine(server_connection& server, const config& where,
                                   const std::string& user, const std::string& key);

/// @throws unreachable, refused
[[nodiscard]] clock_look look_at_clock(server_connection& server);

} // namespace leasehold::tool::doctor

#endif
