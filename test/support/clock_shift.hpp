#ifndef LEASEHOLD_TEST_SUPPORT_CLOCK_SHIFT_HPP
#define LEASEHOLD_TEST_SUPPORT_CLOCK_SHIFT_HPP

#include <atomic>
#include <cstdint>

namespace leasehold::test {

/// Shared by a test and the shim in a server: the content of the file that this variable names.
struct clock_shift
{
    std::atomic<std::int64_t> offset; ///< Microseconds to add.
    std::atomic<std::int64_t>
        frozen_at; ///< If not 0, the clock stops at this time, in microseconds since 1970.
    /// If not 0, the monotonic clock stops at this time, in nanoseconds.
    std::atomic<std::int64_t> monotonic_at;
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

inline constexpr char clock_shift_variable[] = "LEASEHOLD_TEST_CLOCK_SHIFT";

} // namespace leasehold::test

#endif
