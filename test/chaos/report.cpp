#include "chaos/report.hpp"

#include <algorithm>
#include <array>

namespace leasehold::test::chaos {
namespace {

constexpr std::array<const char*, static_cast<std::size_t>(rule::count_)> rules = {
    "malformed history",       "two valid holders",
    "fence given twice",       "fence out of order",
    "wrong deadline",          "loss not told in time",
    "loss without cause",      "lost lease came back",
    "wrong outcome",           "acquire too slow",
    "write out of order",      "lost update",
    "register disagrees",      "left over",
    "client did not end well",
};

void add(report::counts& to, const report::counts& more)
{
    for (const auto& [what, count] : more)
        to[what] += count;
}

} // namespace

const char* name_of(rule broken) noexcept
{
    return rules[static_cast<std::size_t>(broken)];
}

bool report::has(rule broken) const noexcept
{
    return std::any_of(violations.begin(), violations.end(),
                       [&](const violation& each) { return each.broken == broken; });
}

report& report::operator+=(const report& other)
{
    operations += other.operations;
    grants += other.grants;
    handed_off += other.handed_off;
    not_acquired += other.not_acquired;
    cancelled += other.cancelled;
    renewals += other.renewals;
    writes += other.writes;
    refused += other.refused;
    add(losses, other.losses);
    add(faults, other.faults);
    add(excused, other.excused);
    slowest = std::max(slowest, other.slowest);
    violations.insert(violations.end(), other.violations.begin(), other.violations.end());
    return *this;
}

std::uint64_t total(const report::counts& of) noexcept
{
    std::uint64_t sum = 0;
    for (const auto& [what, count] : of)
        sum += count;
    return sum;
}

} // namespace leasehold::test::chaos
