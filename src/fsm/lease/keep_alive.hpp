#ifndef LEASEHOLD_SRC_FSM_LEASE_KEEP_ALIVE_HPP
#define LEASEHOLD_SRC_FSM_LEASE_KEEP_ALIVE_HPP

#include "base/mutant.hpp"

#include <leasehold/clock.hpp>
#include <leasehold/error.hpp>

#include <boost/assert.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace leasehold::fsm {

/// The part of a lease that is not counted on: clocks may drift apart by this much.
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

/// When a lease is renewed, and when it is over. Decides; does nothing itself.
///
/// Waits until the renewal is due, sends it, waits for the answer; a failure is tried again until
/// the deadline. Once it has ended it stays ended.
class keep_alive
{
public:
    enum class action : unsigned char
    {
        wait,  ///< Call `due` at `next()`.
        renew, ///< Send a renewal, then call `sent`.
        end,   ///< The lease is over, for `reason()`.
    };

    /// @param sent     When the acquire was sent that was granted.
    /// @param lease    At most 49 days, in whole milliseconds; so is the interval.
    /// @param interval From one confirmed renewal to the next; zero: never renewed.
    /// @param ends     The end of the longest hold.
    keep_alive(clock::time_point sent, clock::duration lease, clock::duration interval,
               clock::time_point ends) noexcept
        : lease_(whole(lease)), interval_(whole(interval)), ends_(ends)
    {
        confirm(sent);
    }

    /// Valid until here, at most.
    [[nodiscard]] clock::time_point deadline() const noexcept
    {
        return std::min(deadline_, alive_until_);
    }

    /// The same without the promise.
    [[nodiscard]] clock::time_point renewed_until() const noexcept { return deadline_; }

    /// It ends, or has ended, for want of a sign of life and not of a renewal.
    [[nodiscard]] bool silent() const noexcept { return alive_until_ < deadline_; }

    /// From now on it ends, too, when no sign of life was confirmed for `grace`; at `sent` one was
    /// sent.
    void promise(clock::time_point sent, clock::duration grace) noexcept
    {
        alive_until_ = sent + grace - drift_margin(grace);
    }

    /// A sign of life that was sent at `sent` was confirmed.
    action alive(clock::time_point sent, clock::duration grace, clock::time_point now) noexcept
    {
        if (ended_)
            return action::wait;
        if (now >= deadline())
            return due(now); // whoever waits may have superseded it before the sign came
        alive_until_ = std::max(alive_until_, (has(mutant::sign_from_answer) ? now : sent) + grace -
                                                  drift_margin(grace));
        return action::wait;
    }

    /// When to call `due` next.
    [[nodiscard]] clock::time_point next() const noexcept
    {
        if (has(mutant::deadline_not_watched) && in_flight_)
            return clock::time_point::max();
        return in_flight_ || interval_.count() == 0 ? deadline() : std::min(renew_at_, deadline());
    }

    [[nodiscard]] bool ended() const noexcept { return ended_; }
    [[nodiscard]] bool in_flight() const noexcept { return in_flight_; }
    [[nodiscard]] errc reason() const noexcept { return reason_; }

    /// A renewal was sent that nobody knows of whether it ran, or still will: what it was for may
    /// be there for longer than was confirmed.
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

    /// A renewal that was sent at `sent` was confirmed. Also for an answer that was no longer
    /// waited for: it is proof all the same.
    action confirmed(clock::time_point sent, clock::time_point now) noexcept
    {
        if (ended_)
            return action::wait; // nothing brings a lost lease back
        if (now >= deadline() && !has(mutant::late_renewal_revives))
            return due(now);
        in_flight_ = false;
        confirm(has(mutant::deadline_from_reply) ? now : sent);
        return action::wait;
    }

    /// No answer, or one that says "not executed".
    void failed(clock::time_point now) noexcept
    {
        unanswered();
        in_flight_ = has(mutant::renewal_not_repeated);
        renew_at_ = now + clock::duration(interval_) / 4;
    }

    /// The store says that the owner is not in.
    action gone() noexcept { return ended_ ? action::wait : end(errc::lost); }

    /// The store can be reached again: ask at once what it still knows.
    void connected(clock::time_point now) noexcept
    {
        unanswered();
        in_flight_ = false;
        renew_at_ = now;
    }

    /// The store may have forgotten it: asks, unless that is under way.
    void ask(clock::time_point now) noexcept
    {
        if (!in_flight_)
            renew_at_ = std::min(renew_at_, now);
    }

    /// It serves another holder now, whose longest hold ends at `ends`.
    void extend(clock::time_point ends) noexcept
    {
        BOOST_ASSERT(!ended_);
        ends_ = ends;
    }

    /// @param why None: it was released.
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

    void confirm(clock::time_point sent) noexcept
    {
        const clock::duration lease = lease_;
        const clock::duration interval = interval_;
        const auto margin = has(mutant::no_margin) ? clock::duration::zero() : drift_margin(lease);
        deadline_ = std::max(deadline_, std::min(sent + lease - margin, ends_));
        // Due times share a grid, so that leases taken one after another are renewed in one batch;
        // early by a 64th at most.
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

    // One for each lease that is held: small.
    compact lease_;
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
