#ifndef LEASEHOLD_SRC_REDIS_PROTOCOL_SLOT_HPP
#define LEASEHOLD_SRC_REDIS_PROTOCOL_SLOT_HPP

#include <leasehold/detail/export.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// The slot in which Redis Cluster keeps a key.
namespace leasehold::redis_store {

using slot_number = std::uint16_t;

inline constexpr std::size_t slot_count = 16384;

/// The part of a key that is hashed instead of the whole key: the text between its first opening
/// brace and the next closing one. Empty: the whole key.
[[nodiscard]] LEASEHOLD_REDIS_EXPORT std::string_view hash_tag(std::string_view key) noexcept;

[[nodiscard]] LEASEHOLD_REDIS_EXPORT slot_number slot_of(std::string_view key) noexcept;

/// A hash tag that leads to the slot: the smallest whole number whose digits do.
LEASEHOLD_REDIS_EXPORT void append_short_tag(slot_number slot, std::string& to);

} // namespace leasehold::redis_store

#endif
