#ifndef LEASEHOLD_TEST_SUPPORT_SHIFTED_CLOCK_HPP
#define LEASEHOLD_TEST_SUPPORT_SHIFTED_CLOCK_HPP

#include "support/child.hpp"
#include "support/clock_shift.hpp"
#include "support/directory.hpp"

#include <chrono>

namespace leasehold::test {

/// The wall clock of the servers that are started with its environment, for example `redis_server
/// server({}, {.environment = clock.environment()})`. Changes take effect when the server next
/// reads its clock. The clock of the machine is not changed. Linux only: `available` is false
/// elsewhere, and the constructor throws.
class shifted_clock
{
public:
    shifted_clock();
    ~shifted_clock();
    shifted_clock(const shifted_clock&) = delete;
    shifted_clock& operator=(const shifted_clock&) = delete;

    static bool available() noexcept;

    environment_t environment() const;

    /// Relative to the clock of the machine. Ends a freeze.
    void set(std::chrono::microseconds offset);
    void advance(std::chrono::microseconds by); ///< Negative: back.
    void freeze();                              ///< Stops the clock until `set` or `thaw`.
    void thaw();                                ///< Continues from the time at which it stopped.
    /// Like `freeze`, but the process's timers also stop, permanently: some servers derive their
    /// wall clock from the monotonic one. They do not end before they are killed.
    void freeze_all();

private:
    temporary_directory directory_;
    clock_shift* shared_ = nullptr;
};

} // namespace leasehold::test

#endif
