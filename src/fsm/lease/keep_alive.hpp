#ifndef LEASEHOLD_SRC_FSM_LEASE_KEEP_ALIVE_HPP
#define LEASEHOLD_SRC_FSM_LEASE_KEEP_ALIVE_HPP

#include "base/mutant.hpp"

#include <leasehold/clock.hpp>
#include <leasehold/error.hpp>

#include <boost/assert.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace leasehold::fsm {

/// The part of a lease that is not used, because clocks may drift apart by this much.
constexpr clock::duration drift_margin(clock::duration lease) noexcept
{
    return lease / 100 + std::chrono::milliseconds(2);
}

/// The end of the longest hold of a lease that begins at `since`.
constexpr clock::time_point end_of_hold(clock::time_point since,
                                        std::chrono::milliseconds longest) noexcept
{
    const auto room = std::chrono::duration_cast<std::chrono::milliseconds>(
        clock::time_point::max() - since);
    return longest >= room ? clock::time_point::max() : since + longest;
}

/// The TTL that a store has given: the requested one, or a shorter one.
using given_lease = std::optional<std::chrono::milliseconds>;

/// The times of the renewals of a lease, and its end. Decides only: it performs no I/O.
///
/// Waits until the renewal is due, sends it and waits for the reply. A failed renewal is retried
/// until the deadline. A lease that has ended stays ended.
class keep_alive
{
public:
    enum class action : unsigned char
    {
        wait,  ///< Call `due` at `next()`.
        renew, ///< Send a renewal, then call `sent`.
        end,   ///< The lease has ended, for `reason()`.
    };

    /// @param sent     The time at which the granted acquire was sent.
    /// @param lease    At most 49 days, in whole milliseconds. So is the interval.
    /// @param interval The time between confirmed renewals. Zero: the lease is never renewed.
    /// @param ends     The end of the longest hold.
    /// @param given    The TTL that the store has given, if it may be shorter than `lease`.
    keep_alive(clock::time_point sent, clock::duration lease, clock::duration interval,
               clock::time_point ends, given_lease given = {}) noexcept
        : lease_(whole(lease)), interval_(whole(interval)), ends_(ends)
    {
        confirm(sent, given);
    }

    /// The time until which the lease is valid, at most.
    [[nodiscard]] clock::time_point deadline() const noexcept
    {
        return std::min(deadline_, alive_until_);
    }

    /// The same without the heartbeats.
    [[nodiscard]] clock::time_point renewed_until() const noexcept { return deadline_; }

    /// The TTL at the last confirmation.
    [[nodiscard]] clock::duration given() const noexcept { return given_; }

    /// The lease ends, or has ended, because of a missing heartbeat and not of a renewal.
    [[nodiscard]] bool silent() const noexcept { return alive_until_ < deadline_; }

    /// From now on the lease also ends if no heartbeat was confirmed for `grace`. One was sent at
    /// `sent`.
    void promise(clock::time_point sent, clock::duration grace) noexcept
    {
        alive_until_ = sent + grace - drift_margin(grace);
    }

    /// A heartbeat that was sent at `sent` was confirmed.
    action alive(clock::time_point sent, clock::duration grace, clock::time_point now) noexcept
    {
        if (ended_)
            return action::wait;
        if (now >= deadline())
            return due(now); // a waiter may have removed the holder before the heartbeat arrived
        alive_until_ = std::max(alive_until_, (has(mutant::sign_from_answer) ? now : sent) + grace -
                                                  drift_margin(grace));
        return action::wait;
    }

    /// The time at which to call `due` next.
    [[nodiscard]] clock::time_point next() const noexcept
    {
        if (has(mutant::deadline_not_watched) && in_flight_)
            return clock::time_point::max();
        return in_flight_ || interval_.count() == 0 ? deadline() : std::min(renew_at_, deadline());
    }

    [[nodiscard]] bool ended() const noexcept { return ended_; }
    [[nodiscard]] bool in_flight() const noexcept { return in_flight_; }
    [[nodiscard]] errc reason() const noexcept { return reason_; }

    /// A renewal was sent and its outcome is unknown, or it may still be executed: the lock may
    /// have a longer TTL than was confirmed.
    [[nodiscard]] bool doubtful() const noexcept
    {
        return doubtful_ && !has(mutant::doubt_forgotten);
    }

    action due(clock::time_point now) noexcept
    {
        if (ended_)
            return action::wait;
        if (now >= deadline())
            return end(deadline() >= ends_ ? errc::hold_limit
                       : silent()          ? errc::silent
                                           : errc::expired);
        if (interval_.count() != 0 && !in_flight_ && now >= renew_at_)
            return action::renew;
        return action::wait;
    }

    void sent() noexcept
    {
        BOOST_ASSERT(!ended_ && !in_flight_);
        in_flight_ = true;
    }

    /// A renewal that was sent at `sent` was confirmed. A late reply counts, too: it proves the
    /// same. `given`: as in the constructor.
    action confirmed(clock::time_point sent, clock::time_point now, given_lease given = {}) noexcept
    {
        if (ended_)
            return action::wait; // nothing restores a lost lease
        if (now >= deadline() && !has(mutant::late_renewal_revives))
            return due(now);
        in_flight_ = false;
        confirm(has(mutant::deadline_from_reply) ? now : sent, given);
        return action::wait;
    }

    /// No reply, or the reply "not executed".
    void failed(clock::time_point now) noexcept
    {
        unanswered();
        in_flight_ = has(mutant::renewal_not_repeated);
        renew_at_ = now + clock::duration(interval_) / 4;
    }

    /// The store reports that the owner does not hold the lock.
    action gone() noexcept { return ended_ ? action::wait : end(errc::lost); }

    /// The store can be reached again. Checks at once whether it still has the lock.
    void connected(clock::time_point now) noexcept
    {
        unanswered();
        in_flight_ = false;
        renew_at_ = now;
    }

    /// The store may have lost the lock. Sends a renewal, unless one is outstanding.
    void ask(clock::time_point now) noexcept
    {
        if (!in_flight_)
            renew_at_ = std::min(renew_at_, now);
    }

    /// From now on the lease is not renewed.
    void let_end() noexcept { interval_ = {}; }

    /// The lease serves another holder now, whose longest hold ends at `ends`.
    void extend(clock::time_point ends) noexcept
    {
        BOOST_ASSERT(!ended_);
        ends_ = ends;
    }

    /// @param why None: the lease was released.
    action end(errc why) noexcept
    {
        BOOST_ASSERT(!ended_);
        ended_ = true;
        unanswered();
        in_flight_ = false;
        reason_ = why;
        return action::end;
    }

private:
    void unanswered() noexcept { doubtful_ = doubtful_ || in_flight_; }

    void confirm(clock::time_point sent, given_lease given) noexcept
    {
        given_ = given && !has(mutant::given_lease_ignored)
                     ? whole(std::clamp<clock::duration>(*given, clock::duration::zero(), lease_))
                     : lease_;
        const clock::duration lease = given_;
        clock::duration interval = interval_;
        if (given_ < lease_) // a store that gives no time is not asked all the time
            interval = std::clamp(lease / 3, interval / 8, interval);
        const auto margin = has(mutant::no_margin) ? clock::duration::zero() : drift_margin(lease);
        deadline_ = std::max(deadline_, std::min(sent + lease - margin, ends_));
        // Due times share a grid, so that leases acquired one after another are renewed in one
        // batch, at most a 64th early.
        const clock::duration grid = std::max<clock::duration>(lease / 64,
                                                               std::chrono::milliseconds(1));
        const auto due = (sent + interval).time_since_epoch();
        renew_at_ = std::max(clock::time_point(due - due % grid), sent + interval / 2);
    }

    using compact = std::chrono::duration<std::uint32_t, std::milli>;

    static compact whole(clock::duration d) noexcept
    {
        return std::chrono::duration_cast<compact>(d);
    }

    // Small, because each held lease has one.
    compact lease_;
    compact given_{};
    compact interval_;
    clock::time_point ends_;
    clock::time_point deadline_ = clock::time_point::min();
    clock::time_point alive_until_ = clock::time_point::max();
    clock::time_point renew_at_{};
    errc reason_{};
    bool in_flight_ = false;
    bool ended_ = false;
    bool doubtful_ = false;
};

} // namespace leasehold::fsm

#endif
