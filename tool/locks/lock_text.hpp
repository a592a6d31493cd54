#ifndef LEASEHOLD_TOOL_LOCKS_LOCK_TEXT_HPP
#define LEASEHOLD_TOOL_LOCKS_LOCK_TEXT_HPP

#include "lock_state.hpp"

#include "json.hpp"

#include "base/process_text.hpp"

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

// Texts that show locks. Control characters in values of other programs are escaped.
namespace leasehold::tool {

/// "12.3s", "4m10s"; "no limit".
[[nodiscard]] std::string life_text(std::optional<std::chrono::milliseconds> left);

/// "2026-11-23T02:04:05Z"; empty: unknown.
[[nodiscard]] std::string time_text(std::chrono::sys_time<std::chrono::milliseconds> at);

using detail::process_text;

/// "silent for 12.3s"; empty: the holder is not silent, or sends no heartbeats.
[[nodiscard]] std::string silent_text(const lock_state& lock);

/// Returns a line of headings, and a line for each lock.
/// @param columns Longer lines are cut; 0: no limit.
[[nodiscard]] std::vector<std::string> lock_table(std::span<const lock_state> locks,
                                                  std::size_t columns);

/// Writes the lock as an object.
void write_json(json_writer& to, const lock_state& lock);
void write_json(json_writer& to, const lock_waiter& waiter);

/// Returns all details of a lock, one per line.
[[nodiscard]] std::string lock_details(const lock_state& lock);

} // namespace leasehold::tool

#endif
