// Preloaded into a server. Shifts its wall clock by the offset in a shared file, and stops its
// monotonic clock if the file says so. Calls the kernel directly and allocates nothing, because it
// runs before and below all other code of that process.
#include "support/clock_shift.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

namespace {

using leasehold::test::clock_shift;

const clock_shift* find_shift()
{
    static std::atomic<const clock_shift*> found{nullptr};
    if (const clock_shift* known = found.load(std::memory_order_acquire))
        return known;
    const char* path = std::getenv(leasehold::test::clock_shift_variable);
    const int file = path != nullptr ? ::open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return nullptr;
    void* mapped = ::mmap(nullptr, sizeof(clock_shift), PROT_READ, MAP_SHARED, file, 0);
    ::close(file);
    if (mapped == MAP_FAILED)
        return nullptr;
    // If two threads get here at once, the file is mapped twice, which is harmless.
    found.store(static_cast<const clock_shift*>(mapped), std::memory_order_release);
    return static_cast<const clock_shift*>(mapped);
}

void shift(timespec& now)
{
    const clock_shift* how = find_shift();
    if (how == nullptr)
        return;
    constexpr long long second = 1'000'000;
    long long micros = how->frozen_at.load(std::memory_order_relaxed);
    if (micros == 0)
        micros = now.tv_sec * second + now.tv_nsec / 1000 +
                 how->offset.load(std::memory_order_relaxed);
    now.tv_sec = static_cast<time_t>(micros / second);
    now.tv_nsec = static_cast<long>(micros % second) * 1000;
}

void hold(timespec& now)
{
    const clock_shift* how = find_shift();
    const long long nanos = how == nullptr ? 0 : how->monotonic_at.load(std::memory_order_relaxed);
    if (nanos == 0)
        return;
    constexpr long long second = 1'000'000'000;
    now.tv_sec = static_cast<time_t>(nanos / second);
    now.tv_nsec = static_cast<long>(nanos % second);
}

int read_clock(clockid_t clock, timespec* out)
{
    const long failed = ::syscall(SYS_clock_gettime, clock, out);
    if (failed == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        shift(*out);
    else if (failed == 0 && clock == CLOCK_MONOTONIC)
        hold(*out);
    return static_cast<int>(failed);
}

} // namespace

extern "C" {

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, timespec* out) noexcept
{
    return read_clock(clock, out);
}

__attribute__((visibility("default"))) int gettimeofday(timeval* out, void*) noexcept
{
    timespec now{};
    if (read_clock(CLOCK_REALTIME, &now) != 0)
        return -1;
    out->tv_sec = now.tv_sec;
    out->tv_usec = now.tv_nsec / 1000;
    return 0;
}

__attribute__((visibility("default"))) time_t time(time_t* out) noexcept
{
    timespec now{};
    read_clock(CLOCK_REALTIME, &now);
    if (out != nullptr)
        *out = now.tv_sec;
    return now.tv_sec;
}
}
