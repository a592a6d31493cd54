#ifndef LEASEHOLD_SRC_REDIS_COMMANDS_NATIVE_KEYS_HPP
#define LEASEHOLD_SRC_REDIS_COMMANDS_NATIVE_KEYS_HPP

#include "redis/protocol/slot.hpp"

#include <leasehold/detail/export.hpp>

#include <chrono>
#include <string>
#include <string_view>

// The keys and channels of the layout `native`. Each function overwrites a string of the caller,
// whose memory is reused. Functions with `append_` append to it.
namespace leasehold::redis_store::native {

/// The prefix of each value of a lock of this layout.
inline constexpr std::string_view mark = "lh:";

/// The counter that the fences of all names are drawn from.
inline constexpr std::string_view fence_key = "leasehold:fence";

/// The counter of all names of a slot, in a cluster.
LEASEHOLD_REDIS_EXPORT void fence_key_in(slot_number slot, std::string& out);

// Keys of a name. No two names share a key. In a cluster, they are in the slot of the name.
LEASEHOLD_REDIS_EXPORT void queue_key(std::string_view name, std::string& out);
LEASEHOLD_REDIS_EXPORT void waiters_key(std::string_view name, std::string& out);
LEASEHOLD_REDIS_EXPORT void entries_key(std::string_view name, std::string& out);
LEASEHOLD_REDIS_EXPORT void append_entries_key(std::string_view name, std::string& out);

/// The record of the last heartbeat of a client.
LEASEHOLD_REDIS_EXPORT void alive_key(std::string_view client, std::string& out);

/// The value of a lock without waiters whose owner has a `dead_holder_grace`.
LEASEHOLD_REDIS_EXPORT void value_of(std::string_view owner, std::chrono::milliseconds grace,
                                     std::string& out);

/// The value of a lock without waiters.
LEASEHOLD_REDIS_EXPORT void value_of(std::string_view owner, std::string& out);
LEASEHOLD_REDIS_EXPORT void append_value_of(std::string_view owner, std::string& out);

/// The owner in a value; empty if another library wrote the value.
LEASEHOLD_REDIS_EXPORT std::string_view owner_of(std::string_view value) noexcept;

/// The client of an owner: the text before its last colon.
LEASEHOLD_REDIS_EXPORT std::string_view client_of(std::string_view owner) noexcept;

/// The channel of the grants of a client.
LEASEHOLD_REDIS_EXPORT void grant_channel(std::string_view client, std::string& out);

/// The channel of its grants in a slot, in a cluster.
LEASEHOLD_REDIS_EXPORT void grant_channel_in(slot_number slot, std::string_view client,
                                             std::string& out);

} // namespace leasehold::redis_store::native

#endif
