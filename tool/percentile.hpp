#ifndef LEASEHOLD_TOOL_PERCENTILE_HPP
#define LEASEHOLD_TOOL_PERCENTILE_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace leasehold::tool {

/// The smallest value that `percent` percent of the values do not exceed; zero if there is none.
template <class Duration>
[[nodiscard]] Duration percentile(std::vector<Duration> of, double percent)
{
    if (of.empty())
        return Duration(0);
    const double rank = std::ceil(static_cast<double>(of.size()) * percent / 100);
    const std::size_t place = std::clamp<std::size_t>(static_cast<std::size_t>(rank), 1, of.size());
    const auto at = of.begin() + static_cast<std::ptrdiff_t>(place - 1);
    std::nth_element(of.begin(), at, of.end());
    return *at;
}

} // namespace leasehold::tool

#endif
