#ifndef LEASEHOLD_SRC_FSM_LEASE_EXTERNAL_TIME_HPP
#define LEASEHOLD_SRC_FSM_LEASE_EXTERNAL_TIME_HPP

#include "base/mutant.hpp"
#include "fsm/contention/backoff.hpp"

#include <leasehold/clock.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace leasehold::fsm {

/// The time for which a released lock stays free for external clients, which do not use the queue.
/// Their polling times are unknown, so only the share of the free time matters for them.
class external_time
{
public:
    using milliseconds = std::chrono::milliseconds;

    /// Each pause costs two polls of the first waiter, so shorter pauses come less often instead.
    static constexpr milliseconds shortest{5};
    /// Every known library polls within this time.
    static constexpr milliseconds longest{300};

    /// @param percent Share of the time for which the lock is held.
    explicit external_time(std::uint32_t percent) noexcept : percent_(percent) {}

    /// @param held The time for which the lock was held.
    /// @returns Zero: the next waiter gets the lock at once.
    [[nodiscard]] milliseconds after(clock::duration held, random_source& random) const
    {
        if (percent_ == 0 || has(mutant::external_turn_not_left) || held <= clock::duration::zero())
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
