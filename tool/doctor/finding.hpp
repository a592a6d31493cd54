#ifndef LEASEHOLD_TOOL_DOCTOR_FINDING_HPP
#define LEASEHOLD_TOOL_DOCTOR_FINDING_HPP

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::tool::doctor {

enum class level : std::uint8_t
{
    note,    ///< Good to know.
    warning, ///< Goes wrong when something else does.
    problem, ///< Locks do not work, or two may hold one.
};

[[nodiscard]] std::string_view to_text(level) noexcept;

struct finding
{
    level how_bad = level::note;
    std::string check;  ///< What was looked at: "eviction".
    std::string server; ///< Empty: all of them together.
    std::string what;
    std::string why;    ///< Why it matters.
    std::string remedy; ///< What to do.
};

using findings = std::vector<finding>;

} // namespace leasehold::tool::doctor

#endif
