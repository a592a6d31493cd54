#ifndef LEASEHOLD_TOOL_DOCTOR_RIGHTS_HPP
#define LEASEHOLD_TOOL_DOCTOR_RIGHTS_HPP

#include "../server/server_connection.hpp"
#include "server_facts.hpp"

#include <leasehold/config.hpp>

#include <string>

namespace leasehold::tool::doctor {

/// Asks whether `facts.user` may do what the library does with the lock `key`; nothing of it is
/// done. Sets `facts.rights`, or says in `facts.refused` why the server does not tell.
/// @throws unreachable
void ask_rights(server_connection& server, const config& where, const std::string& key,
                server_facts& facts);

} // namespace leasehold::tool::doctor

#endif
