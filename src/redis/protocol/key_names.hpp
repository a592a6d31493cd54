#ifndef LEASEHOLD_SRC_REDIS_PROTOCOL_KEY_NAMES_HPP
#define LEASEHOLD_SRC_REDIS_PROTOCOL_KEY_NAMES_HPP

#include <leasehold/detail/export.hpp>

#include <string>
#include <string_view>

namespace leasehold::redis_store {

// The keys and channels of a lock: those of Redisson, so that its locks and these exclude and wake
// each other. Each is written into a string that is kept, so that its memory is reused.

/// The hash with the record of a client, in every layout.
/// @param prefix As in `redis_config`.
/// @param client As in `client::id`. Lock names with this prefix are rejected.
LEASEHOLD_REDIS_EXPORT void client_key(std::string_view prefix, std::string_view client,
                                       std::string& out);

/// The counter of the fences.
LEASEHOLD_REDIS_EXPORT void fence_key(std::string_view name, std::string& out);

/// The channel on which releases are published.
LEASEHOLD_REDIS_EXPORT void release_channel(std::string_view name, std::string& out);

/// The field of the lock's hash that marks an entry of its owner.
std::string entry_field(std::string_view owner, std::string_view entry);

} // namespace leasehold::redis_store

#endif
