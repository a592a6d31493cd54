#ifndef LEASEHOLD_SRC_FSM_CONTENTION_POLL_PACE_HPP
#define LEASEHOLD_SRC_FSM_CONTENTION_POLL_PACE_HPP

#include "fsm/contention/backoff.hpp"

#include <leasehold/clock.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace leasehold::fsm {

/// The times of the polls of a waiter in a queue. The store notifies the waiter of a grant. A poll
/// is needed if the holder is gone, or if the notification was lost.
class poll_pace
{
public:
    /// @param presence The time for which a poll keeps the waiter present: the next one must be
    ///                 earlier than its end.
    /// @param lease    The requested lease time; the interval if the store does not report
    ///                 until when another owner holds the lock.
    poll_pace(clock::duration presence, clock::duration lease) noexcept
        : presence_(presence), lease_(lease)
    {}

    /// @param place The number of waiters ahead.
    /// @param remaining The TTL of the lock. Negative: unknown.
    [[nodiscard]] clock::duration next(std::uint32_t place, clock::duration remaining,
                                       random_source& random) const
    {
        // Random, so that waiters that joined together do not poll together.
        const clock::duration present = pick(random, presence_ / 4, presence_ / 3);
        if (place >= lookers)
            return present;
        if (remaining < clock::duration::zero())
            remaining = lease_;
        // One after the other: the first poll finds the lock free, and the next owner is notified.
        return std::min(present, remaining + past_the_end + place * step);
    }

private:
    static constexpr std::uint32_t lookers = 3;
    static constexpr clock::duration past_the_end = std::chrono::milliseconds(2);
    static constexpr clock::duration step = std::chrono::milliseconds(50);

    clock::duration presence_;
    clock::duration lease_;
};

} // namespace leasehold::fsm

#endif
