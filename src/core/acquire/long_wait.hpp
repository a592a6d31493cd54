#ifndef LEASEHOLD_SRC_CORE_ACQUIRE_LONG_WAIT_HPP
#define LEASEHOLD_SRC_CORE_ACQUIRE_LONG_WAIT_HPP

#include "core/turn/timer_queue.hpp"

#include <leasehold/clock.hpp>
#include <leasehold/error.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace leasehold::detail {

class lock_op;
class wait_queue;

/// Reports long waits for one name to the observer, with their causes. Exists once the first
/// request was not granted at once.
class long_wait final : private timer
{
public:
    /// A longer wait is reported, so that its cause is known within a second.
    static constexpr clock::duration limit = std::chrono::milliseconds(900);

    explicit long_wait(wait_queue& queue) noexcept : queue_(queue) {}
    ~long_wait() { timer_queue::cancel(*this); }

    /// There is a waiter. Makes the object if it is missing; without memory there is no report.
    static void watch(wait_queue& queue, std::unique_ptr<long_wait>& of) noexcept;
    /// The store has reported the TTL of the holder; negative: none.
    void held(std::chrono::milliseconds remaining);
    /// The wait has ended; no error if the lock was acquired.
    void ended(const lock_op& op, error_code why);

private:
    void expired() override;
    [[nodiscard]] std::chrono::milliseconds remaining(clock::time_point now) const noexcept;

    wait_queue& queue_;
    const lock_op* reported_ = nullptr; ///< The waiter that was reported last, while it waits.
    error_code why_{};                  ///< As it was reported.
    std::string holder_{};              ///< As it was reported.
    clock::time_point held_until_{};    ///< By the last reply, without further renewals.
    bool never_expires_ = false;
};

} // namespace leasehold::detail

#endif
