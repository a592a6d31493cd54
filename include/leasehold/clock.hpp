#ifndef LEASEHOLD_CLOCK_HPP
#define LEASEHOLD_CLOCK_HPP

#include <leasehold/detail/export.hpp>

#include <chrono>

namespace leasehold {

/// The clock that leases are measured by. It never steps, and on Linux it goes on counting while
/// the machine is suspended (`CLOCK_BOOTTIME`), so that a lease does not look younger after a sleep
/// than it is. Elsewhere it is `std::chrono::steady_clock`. Its time points are valid within one
/// machine and boot only.
struct clock
{
    /// How long something takes.
    using duration = std::chrono::nanoseconds;
    /// What a duration counts with.
    using rep = duration::rep;
    /// The unit of a duration: nanoseconds.
    using period = duration::period;
    /// A moment, on this machine and in this boot.
    using time_point = std::chrono::time_point<clock>;
    /// It never steps.
    static constexpr bool is_steady = true;

    /// The current time. Thread-safe; one system call at most.
    [[nodiscard]] LEASEHOLD_EXPORT static time_point now() noexcept;
};

} // namespace leasehold

#endif
