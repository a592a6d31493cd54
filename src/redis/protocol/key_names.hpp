#ifndef LEASEHOLD_SRC_REDIS_PROTOCOL_KEY_NAMES_HPP
#define LEASEHOLD_SRC_REDIS_PROTOCOL_KEY_NAMES_HPP

#include <leasehold/detail/export.hpp>

#include <string>
#include <string_view>

namespace leasehold::redis_store {

// The names that belong to a lock; Redisson's, so that its locks and these exclude and wake each
// other. Each is written into a string that is kept for the purpose, so that its memory is used
// again.

/// The hash in which a client says who it is, in every layout.
/// @param client As `client::id` has it. Names of locks that begin like this are refused.
LEASEHOLD_REDIS_EXPORT void client_key(std::string_view client, std::string& out);

/// The counter that fences are drawn from.
LEASEHOLD_REDIS_EXPORT void fence_key(std::string_view name, std::string& out);

/// The channel that releases are published on.
LEASEHOLD_REDIS_EXPORT void release_channel(std::string_view name, std::string& out);

/// The field of the lock's hash that marks an entry of its owner.
std::string entry_field(std::string_view owner, std::string_view entry);

} // namespace leasehold::redis_store

#endif
