#ifndef LEASEHOLD_SRC_BASE_REVISION_FENCES_HPP
#define LEASEHOLD_SRC_BASE_REVISION_FENCES_HPP

#include <algorithm>
#include <cstdint>

// Fences of a store that numbers its changes: a block of 1,024 for each.
namespace leasehold::detail {

inline constexpr unsigned fence_bits = 10;
inline constexpr std::uint32_t fences_of_change = 1U << fence_bits;
/// The largest number of a change whose fences fit into 63 bits.
inline constexpr std::uint64_t last_change = (std::uint64_t(1) << (63 - fence_bits)) - 1;

struct fence_block
{
    std::uint64_t first = 0;
    std::uint32_t size = 0; ///< 0: there are none above the floor.
};

/// Takes fences of a change's block, at least its last one.
/// @param used Those that were taken before.
[[nodiscard]] inline fence_block take_fences(std::uint64_t change, std::uint32_t& used,
                                             std::uint32_t wanted, std::uint64_t floor) noexcept
{
    const std::uint64_t begin = change << fence_bits;
    const std::uint64_t last = begin + fences_of_change - 1;
    if (change > last_change || last <= floor)
        return {};
    const std::uint64_t first = std::clamp(begin + used, std::min(floor + 1, last), last);
    const auto size = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(std::max(wanted, 1U), last - first + 1));
    used = static_cast<std::uint32_t>(first + size - begin);
    return {first, size};
}

} // namespace leasehold::detail

#endif
