#ifndef LEASEHOLD_SRC_FSM_CONTENTION_CONTENTION_HPP
#define LEASEHOLD_SRC_FSM_CONTENTION_CONTENTION_HPP

#include "base/mutant.hpp"
#include "fsm/contention/backoff.hpp"
#include "fsm/contention/failure_row.hpp"

#include <boost/assert.hpp>

#include <utility>

namespace leasehold::fsm {

/// Contends for one name, for all waiters of a client. Decides only: it performs no I/O.
///
///   idle ──wanted──▶ sending ──granted──▶ holding ──leaving──▶ releasing ──left──▶ idle, sending
///                    sending ──held─────▶ sleeping ──due, hint, connected──▶ sending
///                    sending ──failed───▶ sleeping
///                    sending ──failed again──▶ pausing ──due, hint──▶ sending
///   releasing ──left, others may wait──▶ yielding ──due, hint of another's release──▶ sending
///
/// The state belongs to the name and not to a waiter: waiters come and go, but no wake-up and no
/// grant is lost with them.
class contention
{
public:
    enum class state : unsigned char
    {
        idle,      ///< No waiter.
        sending,   ///< An acquire is outstanding or about to be sent.
        sleeping,  ///< Another owner holds the lock, or the store failed. Polls.
        pausing,   ///< The store failed again. A connection does not end the pause (`failure_row`).
        yielding,  ///< Released, and others may wait: they get a head start, because otherwise this
                   ///< client would always win. Ends with a release by another client.
        holding,   ///< This client holds the lock.
        releasing, ///< The release is outstanding.
    };

    struct action
    {
        enum class kind : unsigned char
        {
            none,
            send,  ///< Send an acquire now.
            sleep, ///< Call `due` after `pause`, unless another event comes first.
        };
        kind what = kind::none;
        clock::duration pause{};
    };

    [[nodiscard]] state current() const noexcept { return state_; }

    void use(const backoff& policy) noexcept
    {
        BOOST_ASSERT(state_ == state::idle);
        backoff_ = policy;
    }

    /// Starts in a later state, if nothing had to be decided: the first request is outstanding, or
    /// this client holds or releases the lock.
    void resume(state from) noexcept
    {
        BOOST_ASSERT(state_ == state::idle);
        state_ = from;
    }

    /// A waiter has arrived. `online`: whether the store can be reached.
    action wanted(bool online) noexcept
    {
        if (state_ != state::idle)
            return {};
        if (online)
            return send();
        state_ = state::sleeping; // a waiter's own limit continues
        return {};
    }

    /// The last waiter has left. An outstanding request stays outstanding.
    void unwanted() noexcept
    {
        if (waits())
            rest();
    }

    /// The acquire was not sent and will not be: there is no waiter, or the store cannot be
    /// reached.
    void unsent(bool wanted) noexcept
    {
        BOOST_ASSERT(state_ == state::sending);
        if (wanted)
            state_ = state::sleeping;
        else
            rest();
    }

    /// A wake-up: the lock may be free. While the store cannot be reached, a request would only
    /// count as another failure; the next connection also triggers a poll.
    action wakeup(bool online) noexcept
    {
        if (has(mutant::wakeup_ignored) || (waits() && !online))
            return {};
        switch (state_) {
        case state::sending: again_ = true; break; // the reply may be older than the wake-up
        case state::sleeping:
        case state::pausing: return send();
        case state::releasing: own_received_ = true; break;
        case state::yielding:
            // This client also receives its own release. If that message is lost, the next one is
            // ignored, and the head start ends by its timer.
            if (std::exchange(own_received_, true))
                return send();
            break;
        case state::idle:
        case state::holding: break;
        }
        return {};
    }

    action connected() noexcept
    {
        return state_ == state::sleeping || state_ == state::yielding ? send() : action{};
    }

    /// The pause has ended.
    action due(bool online) noexcept
    {
        if (!waits())
            return {};
        if (online)
            return send();
        state_ = state::sleeping;
        return {};
    }

    void granted() noexcept
    {
        BOOST_ASSERT(state_ == state::sending);
        state_ = state::holding;
        backoff_.reset();
        failures_.served();
        late_ = 0;
    }

    /// Another owner holds the lock for `remaining`. Negative: the time is unknown.
    action held(clock::duration remaining, bool wanted, random_source& random)
    {
        BOOST_ASSERT(state_ == state::sending);
        late_ = 0;
        failures_.served();
        if (!wanted)
            return rest();
        if (again_)
            return send(); // once: `send` clears the wake-up
        clock::duration pause = backoff_.next(random);
        if (remaining >= clock::duration::zero())
            pause = std::min(pause, remaining + pick(random, std::chrono::milliseconds(1),
                                                     std::chrono::milliseconds(3)));
        if (has(mutant::only_wakeups))
            pause = std::chrono::hours(1);
        if (has(mutant::no_backoff))
            pause = clock::duration::zero();
        return sleep(pause);
    }

    /// The store did not execute the request, or the outcome is unknown.
    action failed(bool wanted, random_source& random)
    {
        BOOST_ASSERT(state_ == state::sending);
        if (!wanted)
            return rest();
        const bool again = failures_.failed();
        if (!again)
            backoff_.reset(); // the waits for other owners say nothing about the store
        const action pause = sleep(backoff_.next(random));
        if (again)
            state_ = state::pausing;
        return pause;
    }

    /// The request reached the server after its time limit. The reply contains the server's time,
    /// so the next request should be in time.
    action late(bool wanted, random_source& random)
    {
        BOOST_ASSERT(state_ == state::sending);
        if (!wanted)
            return rest();
        if (++late_ <= 2)
            return send();
        return sleep(backoff_.next(random));
    }

    void leaving() noexcept
    {
        BOOST_ASSERT(state_ == state::holding);
        state_ = state::releasing;
        own_received_ = false;
    }

    /// The lock was released. `others`: other processes wait, or it is unknown whether they do.
    action left(bool wanted, bool others, bool online, random_source& random)
    {
        BOOST_ASSERT(state_ == state::releasing);
        state_ = state::idle;
        if (!wanted)
            return rest();
        if (has(mutant::waiter_forgotten))
            return {};
        if (others) {
            state_ = state::yielding;
            return {action::kind::sleep,
                    pick(random, std::chrono::milliseconds(1), backoff_.floor())};
        }
        return this->wanted(online);
    }

    /// No request is outstanding, and there are waiters.
    [[nodiscard]] bool waits() const noexcept
    {
        return state_ == state::sleeping || state_ == state::pausing || state_ == state::yielding;
    }

private:
    action send() noexcept
    {
        state_ = state::sending;
        again_ = false;
        return {action::kind::send, {}};
    }

    action sleep(clock::duration pause) noexcept
    {
        state_ = state::sleeping;
        return {action::kind::sleep, pause};
    }

    action rest() noexcept
    {
        state_ = state::idle;
        failures_.served();
        late_ = 0;
        backoff_.reset();
        return {};
    }

    backoff backoff_;
    state state_ = state::idle;
    bool again_ = false;        ///< A wake-up arrived after the outstanding request was sent.
    bool own_received_ = false; ///< This client has received the message of its own last release.
    failure_row failures_;
    unsigned char late_ = 0;
};

} // namespace leasehold::fsm

#endif
