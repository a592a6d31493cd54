#ifndef LEASEHOLD_CLOCK_HPP
#define LEASEHOLD_CLOCK_HPP

#include <leasehold/detail/export.hpp>

#include <chrono>

namespace leasehold {

/// The clock that measures leases. It never steps. On Linux it includes the time for which the
/// machine is suspended (`CLOCK_BOOTTIME`). On other systems it is `std::chrono::steady_clock`. Its
/// time points are valid only on one machine and until its next boot.
struct clock
{
    /// The type of durations.
    using duration = std::chrono::nanoseconds;
    /// The type of the tick count.
    using rep = duration::rep;
    /// The unit of a duration: nanoseconds.
    using period = duration::period;
    /// A moment, on this machine and in this boot.
    using time_point = std::chrono::time_point<clock>;
    /// The clock never steps.
    static constexpr bool is_steady = true;

    /// The current time. Thread-safe; at most one system call.
    [[nodiscard]] LEASEHOLD_EXPORT static time_point now() noexcept;
};

} // namespace leasehold

#endif
