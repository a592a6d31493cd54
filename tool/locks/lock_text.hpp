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

// How locks are shown. What others have written is shown with its control characters escaped.
namespace leasehold::tool {

/// "12.3s", "4m10s"; "never ends".
[[nodiscard]] std::string life_text(std::optional<std::chrono::milliseconds> left);

/// "2026-11-23T02:04:05Z"; empty: not known.
[[nodiscard]] std::string time_text(std::chrono::sys_time<std::chrono::milliseconds> at);

using detail::process_text;

/// "silent for 12.3s"; empty: the holder is not silent, or has not promised not to be.
[[nodiscard]] std::string silent_text(const lock_state& lock);

/// A line for each lock below a line of headings.
/// @param columns What is longer is cut; 0: nothing is.
[[nodiscard]] std::vector<std::string> lock_table(std::span<const lock_state> locks,
                                                  std::size_t columns);

/// As an object.
void write_json(json_writer& to, const lock_state& lock);

/// Everything, a line each: for one lock.
[[nodiscard]] std::string lock_details(const lock_state& lock);

} // namespace leasehold::tool

#endif
