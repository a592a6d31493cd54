#ifndef LEASEHOLD_TOOL_DOCTOR_REPORT_HPP
#define LEASEHOLD_TOOL_DOCTOR_REPORT_HPP

#include "finding.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::tool::doctor {

using std::chrono::microseconds;

/// A server that was queried, as the report shows it.
struct server_summary
{
    std::string name{};
    std::string product{};           ///< "Redis"; empty: unknown.
    std::string version{};           ///< Empty: unknown.
    std::string role{};              ///< Empty: unknown.
    std::vector<std::string> more{}; ///< "2 replicas"
    std::vector<microseconds> pings{};
    std::vector<microseconds> scripts{};
};

/// The servers and the findings; the worst finding first.
struct report
{
    std::vector<server_summary> servers{};
    findings found{};

    void sort();
    [[nodiscard]] std::size_t count(level of) const noexcept;
};

/// "1 replica", "2 replicas"
[[nodiscard]] std::string counted(std::size_t count, std::string_view what);

/// @param width The maximum length of a line.
[[nodiscard]] std::string as_text(const report& of, std::size_t width = 79);
[[nodiscard]] std::string as_json(const report& of);

} // namespace leasehold::tool::doctor

#endif
