#ifndef LEASEHOLD_SRC_BASE_FENCE_RETENTION_HPP
#define LEASEHOLD_SRC_BASE_FENCE_RETENTION_HPP

#include "base/url.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace leasehold::detail {

/// Time for which a fence counter is kept. Zero: it never expires.
using fence_retention = std::chrono::milliseconds;

/// Says which values are allowed. Empty: the value is one of them.
[[nodiscard]] inline std::string problem_of(fence_retention value)
{
    using namespace std::chrono_literals;
    constexpr fence_retention most = std::chrono::days(3653);
    if (value == 0ms || (value >= 1s && value <= most))
        return {};
    return wrong_value("fence_retention", std::to_string(value.count()) + " ms",
                       "forever, or 1000 to " + std::to_string(most.count()) + " ms");
}

/// Reads the value of the URL parameter: seconds, or `forever`.
[[nodiscard]] inline fence_retention read_fence_retention(std::string_view value)
{
    std::uint32_t seconds = 0;
    if (value == "forever")
        return {};
    if (!read_number(value, seconds) || seconds == 0)
        refuse_url("fence_retention", value, "forever, or a number of seconds, 1 or larger");
    const fence_retention result = std::chrono::seconds(seconds);
    if (const std::string wrong = problem_of(result); !wrong.empty())
        refuse_url(wrong);
    return result;
}

} // namespace leasehold::detail

#endif
