#ifndef LEASEHOLD_SRC_FSM_LEASE_RELEASE_RETRY_HPP
#define LEASEHOLD_SRC_FSM_LEASE_RELEASE_RETRY_HPP

#include "base/mutant.hpp"

#include <leasehold/clock.hpp>
#include <leasehold/error.hpp>
#include <leasehold/store.hpp>

#include <boost/assert.hpp>

#include <algorithm>

namespace leasehold::fsm {

/// Repeats a release until the store answers it, or until the TTL has passed. If other leases of
/// the owner or a late renewal may have extended the TTL, only a reply ends it. Serves a release
/// that a holder waits for, and an acquire whose reply never came (an orphaned lock). Decides only:
/// it performs no I/O.
class release
{
public:
    enum class action : unsigned char
    {
        wait,   ///< Call `due` at `next()`, or when the store can be reached again.
        send,   ///< Send a release now.
        report, ///< The caller may get `outcome()`; the release continues. Call `due` again.
        done,   ///< The release has ended with `outcome()`.
    };

    /// @param runs_until Until then an acquire of this owner may be executed. The past for a lock
    ///                   that is held. "Not owner" is final only for a release sent later.
    /// @param over       The time at which the TTL has passed in any case, unless it may have been
    /// `prolonged`.
    release(clock::time_point runs_until, clock::time_point over, bool extended) noexcept
        : runs_until_(runs_until), over_(over), extended_(extended)
    {}

    [[nodiscard]] clock::time_point next() const noexcept
    {
        return in_flight_ ? over_ : std::min(again_at_, over_);
    }
    [[nodiscard]] error_code outcome() const noexcept { return outcome_; }

    /// The store reports that the owner does not hold the lock; an acquire may still be executed.
    [[nodiscard]] bool waits_for_late_acquire() const noexcept { return waits_for_late_; }

    action due(clock::time_point now, bool online) noexcept
    {
        BOOST_ASSERT(!done_);
        if (now >= over_) {
            if (in_flight_)
                outcome_ = errc::outcome_unknown;
            else
                outcome_ = last_error_ ? last_error_ : error_code(errc::store_unavailable);
            if (!extended_)
                return done();
            over_ = clock::time_point::max();
            patience_ = shortest_patience;
            return action::report;
        }
        if (in_flight_ || now < again_at_)
            return action::wait;
        if (!online) {
            last_error_ = errc::store_unavailable;
            again_at_ = over_;
            return action::wait;
        }
        in_flight_ = true;
        waits_for_late_ = false;
        sent_ = now;
        return action::send;
    }

    action connected(clock::time_point now) noexcept
    {
        if (!in_flight_)
            again_at_ = now;
        return due(now, true);
    }

    /// The acquire that is to be released has been executed, or never will be.
    void nothing_runs_late(clock::time_point now) noexcept
    {
        runs_until_ = std::min(runs_until_, now);
    }

    /// The same while the store can be reached: no wait is needed.
    action settled(clock::time_point now) noexcept
    {
        nothing_runs_late(now);
        if (!in_flight_)
            again_at_ = now;
        return due(now, true);
    }

    action replied(release_reply::outcome result, clock::time_point now) noexcept
    {
        BOOST_ASSERT(!done_);
        in_flight_ = false;
        if (result != release_reply::outcome::not_owner) {
            outcome_ = {};
            return done();
        }
        if (sent_ < runs_until_ && !has(mutant::orphan_given_up_early)) {
            again_at_ = runs_until_ + std::chrono::milliseconds(1);
            waits_for_late_ = true;
            return due(now, true);
        }
        // Repeated after a lost reply: the first release was executed.
        outcome_ = unknown_ ? error_code() : error_code(errc::not_owner);
        return done();
    }

    action failed(error_code why, clock::duration pause, clock::time_point now) noexcept
    {
        BOOST_ASSERT(!done_);
        in_flight_ = false;
        last_error_ = why;
        if (why == condition::bad_request || has(mutant::release_not_repeated)) {
            outcome_ = why;
            return done();
        }
        if (why != errc::store_unavailable && why != errc::store_refused)
            unknown_ = true;
        again_at_ = now + std::max(pause, patience_);
        patience_ = std::min(patience_ * 2, longest_patience);
        return now >= over_ ? due(now, true) : action::wait;
    }

private:
    action done() noexcept
    {
        done_ = true;
        return action::done;
    }

    // The time between retries when no caller waits any more. A new connection is used at once.
    static constexpr clock::duration shortest_patience = std::chrono::seconds(1);
    static constexpr clock::duration longest_patience = std::chrono::seconds(60);

    clock::time_point runs_until_;
    clock::time_point over_;
    clock::time_point again_at_ = clock::time_point::min();
    clock::time_point sent_{};
    clock::duration patience_{};
    error_code last_error_;
    error_code outcome_;
    bool extended_;
    bool in_flight_ = false;
    bool unknown_ = false;
    bool waits_for_late_ = false;
    bool done_ = false; ///< `due` must not be called again.
};

} // namespace leasehold::fsm

#endif
