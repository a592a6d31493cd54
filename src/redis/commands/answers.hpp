#ifndef LEASEHOLD_SRC_REDIS_COMMANDS_ANSWERS_HPP
#define LEASEHOLD_SRC_REDIS_COMMANDS_ANSWERS_HPP

#include "redis/protocol/reply.hpp"

#include <leasehold/store.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

// How answers are read that are the same in every layout.
namespace leasehold::redis_store {

/// The details of `held`.
[[nodiscard]] std::shared_ptr<const diagnostics> held_by(std::string holder);

/// As above; scripts give the first 32 bits of the UUID of the holder's client.
[[nodiscard]] std::shared_ptr<const diagnostics> held_by(std::int64_t first_bits);

/// A time to live; negative: there is none.
[[nodiscard]] std::chrono::milliseconds time_left(std::int64_t ms) noexcept;

/// One number for each renewal: 1 renewed, 0 gone, anything else: nothing is known.
[[nodiscard]] error_code read_renewals(const reply& answer, std::span<renewal_result> results);

} // namespace leasehold::redis_store

#endif
