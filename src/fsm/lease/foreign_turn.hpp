#ifndef LEASEHOLD_SRC_FSM_LEASE_FOREIGN_TURN_HPP
#define LEASEHOLD_SRC_FSM_LEASE_FOREIGN_TURN_HPP

#include "base/mutant.hpp"
#include "fsm/contention/backoff.hpp"

#include <leasehold/clock.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace leasehold::fsm {

/// How long a lock is left free for those who do not know the line, when it is released. They look
/// at points in time that nobody here knows, so what counts for them is the share of the time.
class foreign_turn
{
public:
    using milliseconds = std::chrono::milliseconds;

    /// Each costs two looks of the first in line, so shorter ones come less often instead.
    static constexpr milliseconds shortest{5};
    /// Every library that is known looks again within this time.
    static constexpr milliseconds longest{300};

    /// @param percent Of the time that it is held.
    explicit foreign_turn(std::uint32_t percent) noexcept : percent_(percent) {}

    /// @param held How long it was.
    /// @returns Zero: it goes to the next in line at once.
    [[nodiscard]] milliseconds after(clock::duration held, random_source& random) const
    {
        if (percent_ == 0 || has(mutant::foreign_turn_not_left) || held <= clock::duration::zero())
            return {};
        // A lock may have been held for days.
        const auto all = std::min<clock::duration>(held, std::chrono::hours(24));
        const clock::duration due = all * percent_ / 100;
        if (due >= shortest)
            return std::min(std::chrono::duration_cast<milliseconds>(due), longest);
        const bool now = pick(random, clock::duration::zero(), shortest) < due;
        return now ? shortest : milliseconds();
    }

private:
    std::uint32_t percent_;
};

} // namespace leasehold::fsm

#endif
