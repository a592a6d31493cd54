#ifndef LEASEHOLD_SRC_REDIS_COMMANDS_NATIVE_KEYS_HPP
#define LEASEHOLD_SRC_REDIS_COMMANDS_NATIVE_KEYS_HPP

#include "redis/protocol/slot.hpp"

#include <leasehold/detail/export.hpp>

#include <chrono>
#include <string>
#include <string_view>

// The keys and channels of the layout `native`. Each is written into a string that is kept for the
// purpose, so that its memory is used again; `append_` leaves what is there.
namespace leasehold::redis_store::native {

/// What every value of a lock of this layout begins with.
inline constexpr std::string_view mark = "lh:";

/// The counter that the fences of all names are drawn from.
inline constexpr std::string_view fence_key = "leasehold:fence";

/// In a cluster: of all names of a slot.
LEASEHOLD_REDIS_EXPORT void fence_key_in(slot_number slot, std::string& out);

// Keys that belong to a name; no two names share any, and all of a name are in the slot of the
// name itself in a cluster.
LEASEHOLD_REDIS_EXPORT void line_key(std::string_view name, std::string& out);
LEASEHOLD_REDIS_EXPORT void waiters_key(std::string_view name, std::string& out);
LEASEHOLD_REDIS_EXPORT void entries_key(std::string_view name, std::string& out);
LEASEHOLD_REDIS_EXPORT void append_entries_key(std::string_view name, std::string& out);

/// What the server keeps of the last sign of life of a client.
LEASEHOLD_REDIS_EXPORT void alive_key(std::string_view client, std::string& out);

/// What the lock holds for an owner that promises to be alive, while nobody waits for it.
LEASEHOLD_REDIS_EXPORT void value_of(std::string_view owner, std::chrono::milliseconds grace,
                                     std::string& out);

/// What the lock holds for an owner.
LEASEHOLD_REDIS_EXPORT void value_of(std::string_view owner, std::string& out);
LEASEHOLD_REDIS_EXPORT void append_value_of(std::string_view owner, std::string& out);

/// The owner that a value names; empty: it belongs to somebody else's library.
LEASEHOLD_REDIS_EXPORT std::string_view owner_of(std::string_view value) noexcept;

/// The client of an owner: what is before its last colon.
LEASEHOLD_REDIS_EXPORT std::string_view client_of(std::string_view owner) noexcept;

/// Where a client is told of its turns.
LEASEHOLD_REDIS_EXPORT void turn_channel(std::string_view client, std::string& out);

/// In a cluster: of its turns in a slot.
LEASEHOLD_REDIS_EXPORT void turn_channel_in(slot_number slot, std::string_view client,
                                            std::string& out);

} // namespace leasehold::redis_store::native

#endif
