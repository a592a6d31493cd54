#ifndef LEASEHOLD_SRC_FSM_CONTENTION_LOOK_PACE_HPP
#define LEASEHOLD_SRC_FSM_CONTENTION_LOOK_PACE_HPP

#include "fsm/contention/backoff.hpp"

#include <leasehold/clock.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace leasehold::fsm {

/// When one who waits in a line looks again by itself. It is told of its turn; a look finds what no
/// message says: that the holder has gone, or the message was lost.
class look_pace
{
public:
    /// @param presence How long a look counts: the next one has to come in time.
    /// @param lease    What is asked for; how long the store is left alone when it does not say
    ///                 until when another holds the lock.
    look_pace(clock::duration presence, clock::duration lease) noexcept
        : presence_(presence), lease_(lease)
    {}

    /// @param place How many are before it.
    /// @param remaining The time to live of the lock; negative: nobody knows.
    [[nodiscard]] clock::duration next(std::uint32_t place, clock::duration remaining,
                                       random_source& random) const
    {
        // Not all of those who joined at once at the same time.
        const clock::duration present = pick(random, presence_ / 4, presence_ / 3);
        if (place >= lookers)
            return present;
        if (remaining < clock::duration::zero())
            remaining = lease_;
        // One after the other: the first that looks finds out, and tells whose turn it is.
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
