#include <leasehold/clock.hpp>

#if defined(__linux__)
#include <ctime>
#endif

namespace leasehold {

clock::time_point clock::now() noexcept
{
#if defined(__linux__)
    // Unlike CLOCK_MONOTONIC, it counts while the machine sleeps. Reading it needs no system call.
    timespec t{};
    ::clock_gettime(CLOCK_BOOTTIME, &t);
    return time_point(std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec));
#else
    return time_point(std::chrono::steady_clock::now().time_since_epoch());
#endif
}

} // namespace leasehold
