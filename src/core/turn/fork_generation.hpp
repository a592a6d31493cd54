#ifndef LEASEHOLD_SRC_CORE_TURN_FORK_GENERATION_HPP
#define LEASEHOLD_SRC_CORE_TURN_FORK_GENERATION_HPP

#include <cstdint>

namespace leasehold::detail {

/// A number that changes in the child when the process forks: what was made under another number
/// belongs to the parent.
[[nodiscard]] std::uint64_t fork_generation() noexcept;

} // namespace leasehold::detail

#endif
