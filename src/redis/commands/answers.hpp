#ifndef LEASEHOLD_SRC_REDIS_COMMANDS_ANSWERS_HPP
#define LEASEHOLD_SRC_REDIS_COMMANDS_ANSWERS_HPP

#include "redis/protocol/reply.hpp"

#include <leasehold/store.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

// Readers of the answers that all layouts share.
namespace leasehold::redis_store {

/// The details of `held`: the name of the holder.
[[nodiscard]] std::shared_ptr<const diagnostics> held_by(std::string holder);

/// As above. Scripts return the first 32 bits of the UUID of the holder's client.
[[nodiscard]] std::shared_ptr<const diagnostics> held_by(std::int64_t first_bits);

/// Converts a TTL. Negative: the key never expires, or does not exist.
[[nodiscard]] std::chrono::milliseconds time_left(std::int64_t ms) noexcept;

/// Reads one number for each renewal: 1 renewed, 0 gone, any other: nothing is known.
[[nodiscard]] error_code read_renewals(const reply& answer, std::span<renewal_result> results);

} // namespace leasehold::redis_store

#endif
