#ifndef LEASEHOLD_TOOL_DOCTOR_RIGHTS_HPP
#define LEASEHOLD_TOOL_DOCTOR_RIGHTS_HPP

#include "../server/server_connection.hpp"
#include "server_facts.hpp"

#include <leasehold/redis.hpp>

#include <string>

namespace leasehold::tool::doctor {

/// Queries if `facts.user` may send the commands of the library for the lock `key`, without
/// executing them. Sets `facts.rights`, or stores in `facts.refused` why the server does not
/// answer.
/// @throws unreachable
void ask_rights(server_connection& server, const redis_config& where, const std::string& key,
                server_facts& facts);

} // namespace leasehold::tool::doctor

#endif
