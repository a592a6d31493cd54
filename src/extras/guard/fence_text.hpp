#ifndef LEASEHOLD_SRC_EXTRAS_GUARD_FENCE_TEXT_HPP
#define LEASEHOLD_SRC_EXTRAS_GUARD_FENCE_TEXT_HPP

#include <leasehold/extras/guard/error.hpp>

#include <charconv>
#include <cstdint>
#include <string_view>

namespace leasehold::guard {

/// The fence written as decimal digits and nothing else; 0 if it is not a fence that a guard
/// accepts.
[[nodiscard]] inline std::uint64_t fence_of(std::string_view digits) noexcept
{
    std::uint64_t fence = 0;
    const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), fence);
    const bool whole = failed == std::errc() && end == digits.data() + digits.size();
    return whole && !check_fence(fence) ? fence : 0;
}

} // namespace leasehold::guard

#endif
