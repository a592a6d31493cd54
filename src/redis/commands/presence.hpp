#ifndef LEASEHOLD_SRC_REDIS_COMMANDS_PRESENCE_HPP
#define LEASEHOLD_SRC_REDIS_COMMANDS_PRESENCE_HPP

#include "redis/protocol/reply.hpp"
#include "redis/protocol/script.hpp"

#include <leasehold/config.hpp>
#include <leasehold/store.hpp>

#include <boost/redis/request.hpp>

namespace leasehold::redis_store {

/// Asks, with one command that changes nothing, whether the owner, or its entry, has the lock.
void ask_for(config::key_layout keys, const renewal& held, boost::redis::request& to);

/// What the answer to it says.
[[nodiscard]] bool is_there(config::key_layout keys, const renewal& held, const reply& answer);

/// Prolongs the lock of the owner, or of its entry, with the script that `script_to_prolong` names.
/// With its text the server need not have it.
void prolong(config::key_layout keys, const renewal& held, bool with_text,
             boost::redis::request& to);

[[nodiscard]] const script& script_to_prolong(config::key_layout keys);

/// What the answer to it says.
[[nodiscard]] bool is_prolonged(const reply& answer);

} // namespace leasehold::redis_store

#endif
