#ifndef LEASEHOLD_TOOL_TRACE_TRACE_TEXT_HPP
#define LEASEHOLD_TOOL_TRACE_TRACE_TEXT_HPP

#include "trace_event.hpp"

#include <string>

namespace leasehold::tool {

/// "2026-11-23T02:04:05.123Z"
[[nodiscard]] std::string stamp_text(trace_event::wall_time at);

/// "340ms", "12.3s", "4m10s"
[[nodiscard]] std::string span_text(trace_event::duration span);

/// The event in words, without the time: "passed stock from 5e0f8c21 to 91d2a0be".
[[nodiscard]] std::string words_of(const trace_event& event);

/// The event as a line. If the time is not certain within `every`, it has the earliest one.
[[nodiscard]] std::string line_of(const trace_event& event, trace_event::duration every);

/// The event as an object of JSON.
[[nodiscard]] std::string json_of(const trace_event& event);

} // namespace leasehold::tool

#endif
