#ifndef LEASEHOLD_SRC_REDIS_COMMANDS_PRESENCE_HPP
#define LEASEHOLD_SRC_REDIS_COMMANDS_PRESENCE_HPP

#include "redis/commands/native_keys.hpp"
#include "redis/protocol/reply.hpp"
#include "redis/protocol/script.hpp"

#include <leasehold/redis_config.hpp>
#include <leasehold/store.hpp>

#include <boost/redis/request.hpp>

namespace leasehold::redis_store {

/// The form of the keys of a lock.
struct key_form
{
    redis_config::key_layout layout;
    native_keys keys{}; ///< For the layout `native`.
};

/// Writes one command, which changes nothing, to find whether the owner, or its entry, holds the
/// lock.
void ask_for(const key_form& of, const renewal& held, boost::redis::request& to);

/// Reads the answer to it.
[[nodiscard]] bool is_there(redis_config::key_layout layout, const renewal& held,
                            const reply& answer);

/// Writes a renewal for the owner, or its entry, by the script that `script_to_extend` returns.
/// `with_text`: sends the text of the script, so that the server need not have it.
void extend(const key_form& of, const renewal& held, bool with_text, boost::redis::request& to);

[[nodiscard]] const script& script_to_extend(redis_config::key_layout layout);

/// Reads the answer to it.
[[nodiscard]] bool is_extended(const reply& answer);

} // namespace leasehold::redis_store

#endif
