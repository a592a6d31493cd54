#ifndef LEASEHOLD_TOOL_DOCTOR_REPORT_HPP
#define LEASEHOLD_TOOL_DOCTOR_REPORT_HPP

#include "finding.hpp"
#include "server_facts.hpp"

#include <string>
#include <vector>

namespace leasehold::tool::doctor {

/// The servers and the findings; the worst finding first.
struct report
{
    std::vector<server_facts> servers{};
    findings found{};

    void sort();
    [[nodiscard]] std::size_t count(level of) const noexcept;
};

/// @param width The maximum length of a line.
[[nodiscard]] std::string as_text(const report& of, std::size_t width = 79);
[[nodiscard]] std::string as_json(const report& of);

} // namespace leasehold::tool::doctor

#endif
