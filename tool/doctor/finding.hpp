#ifndef LEASEHOLD_TOOL_DOCTOR_FINDING_HPP
#define LEASEHOLD_TOOL_DOCTOR_FINDING_HPP

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::tool::doctor {

enum class level : std::uint8_t
{
    note,    ///< Information.
    warning, ///< Locks may fail if something else fails.
    problem, ///< Locks do not work, or two owners may hold one lock.
};

[[nodiscard]] std::string_view to_text(level) noexcept;

struct finding
{
    level how_bad = level::note;
    std::string check;  ///< The name of the check: "eviction".
    std::string server; ///< Empty: all servers together.
    std::string what;
    std::string why;    ///< Why the finding matters.
    std::string remedy; ///< How to fix it.
};

using findings = std::vector<finding>;

} // namespace leasehold::tool::doctor

#endif
