#ifndef LEASEHOLD_SRC_BASE_PROCESS_TEXT_HPP
#define LEASEHOLD_SRC_BASE_PROCESS_TEXT_HPP

#include <leasehold/client_info.hpp>

#include "base/printable.hpp"

#include <chrono>
#include <cstdio>
#include <string>

// Readable texts about a client.
namespace leasehold::detail {

/// In UTC, to the second: "2026-11-23T02:04:05Z" with "T" and "Z". Empty: unknown.
inline std::string time_text(std::chrono::sys_time<std::chrono::milliseconds> at,
                             const char* between, const char* behind)
{
    using namespace std::chrono;
    if (at.time_since_epoch().count() <= 0)
        return {};
    const sys_days day = floor<days>(at);
    const year_month_day date(day);
    const hh_mm_ss time(floor<seconds>(at) - day);
    char text[64];
    std::snprintf(text, sizeof text, "%04d-%02u-%02u%s%02d:%02d:%02d%s",
                  static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                  static_cast<unsigned>(date.day()), between,
                  static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                  static_cast<int>(time.seconds().count()), behind);
    return text;
}

/// "orders on web-3, pid 4711", as far as it is known.
inline std::string process_text(const client_info& info)
{
    std::string text = printable(info.program);
    if (!info.host.empty())
        text.append(text.empty() ? "on " : " on ").append(printable(info.host));
    if (info.pid > 0)
        text.append(text.empty() ? "pid " : ", pid ").append(std::to_string(info.pid));
    return text;
}

} // namespace leasehold::detail

#endif
