#ifndef LEASEHOLD_SRC_FSM_CONTENTION_CONTENTION_HPP
#define LEASEHOLD_SRC_FSM_CONTENTION_CONTENTION_HPP

#include "base/mutant.hpp"
#include "fsm/contention/backoff.hpp"
#include "fsm/contention/failure_row.hpp"

#include <boost/assert.hpp>

#include <utility>

namespace leasehold::fsm {

/// How one client contends for one name, on behalf of all who wait for it here. Decides; does
/// nothing itself.
///
///   idle ──wanted──▶ sending ──granted──▶ holding ──leaving──▶ releasing ──left──▶ idle, or from
///   the top
///                    sending ──held─────▶ sleeping ──due, hint, connected──▶ sending
///                    sending ──failed───▶ sleeping
///                    sending ──failed again──▶ pausing ──due, hint──▶ sending
///   releasing ──left, others may wait──▶ yielding ──due, hint of another's release──▶ sending
///
/// Contention belongs to the name and not to a waiter: waiters come and go, a wake-up or a grant is
/// never lost with one of them.
class contention
{
public:
    enum class state : unsigned char
    {
        idle,      ///< Nobody wants it.
        sending,   ///< One acquire is under way, or about to be.
        sleeping,  ///< Another has it, or the store did not serve; looks again later, or when
                   ///< something has changed.
        pausing,   ///< The store failed again. No connection shortens the pause (`failure_row`).
        yielding,  ///< It was left, and others may wait: they get a head start, or this client
                   ///< would win every time. Ends with the release of another.
        holding,   ///< This client has it.
        releasing, ///< It is being left.
    };

    struct action
    {
        enum class kind : unsigned char
        {
            none,
            send,  ///< Send an acquire now.
            sleep, ///< Call `due` after `pause`, unless something else happens first.
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

    /// From here on, where nothing had to be decided before: this client has it, or is leaving it.
    void resume(bool leaves) noexcept
    {
        BOOST_ASSERT(state_ == state::idle);
        state_ = leaves ? state::releasing : state::holding;
    }

    /// There is a waiter now. `online`: whether the store can be reached.
    action wanted(bool online) noexcept
    {
        if (state_ != state::idle)
            return {};
        if (online)
            return send();
        state_ = state::sleeping; // until it can be reached; a waiter's own limit goes on counting
        return {};
    }

    /// There is no waiter any more. A request under way stays under way.
    void unwanted() noexcept
    {
        if (waits())
            rest();
    }

    /// The acquire was not sent and is not going to be: nobody wants it, or the store cannot be
    /// reached.
    void unsent(bool wanted) noexcept
    {
        BOOST_ASSERT(state_ == state::sending);
        if (wanted)
            state_ = state::sleeping;
        else
            rest();
    }

    /// Something suggests that the name is free. A store that cannot be reached would only count as
    /// failing again; the next connection is a reason to look, too.
    action hint(bool online) noexcept
    {
        if (has(mutant::hint_ignored) || (waits() && !online))
            return {};
        switch (state_) {
        case state::sending: again_ = true; break; // the answer may be older than the hint
        case state::sleeping:
        case state::pausing: return send();
        case state::releasing: own_heard_ = true; break;
        case state::yielding:
            // This client hears of its own release too. If that message is lost, it misses the next
            // one, and the head start ends by itself.
            if (std::exchange(own_heard_, true))
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

    /// The pause is over.
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

    /// Another owner has it for `remaining` more; negative: nobody knows how long.
    action held(clock::duration remaining, bool wanted, random_source& random)
    {
        BOOST_ASSERT(state_ == state::sending);
        late_ = 0;
        failures_.served();
        if (!wanted)
            return rest();
        if (again_)
            return send(); // once: `send` forgets the hint
        clock::duration pause = backoff_.next(random);
        if (remaining >= clock::duration::zero())
            pause = std::min(pause, remaining + pick(random, std::chrono::milliseconds(1),
                                                     std::chrono::milliseconds(3)));
        if (has(mutant::only_hints))
            pause = std::chrono::hours(1);
        if (has(mutant::no_backoff))
            pause = clock::duration::zero();
        return sleep(pause);
    }

    /// The store did not execute it, or nobody knows.
    action failed(bool wanted, random_source& random)
    {
        BOOST_ASSERT(state_ == state::sending);
        if (!wanted)
            return rest();
        const bool again = failures_.failed();
        if (!again)
            backoff_.reset(); // how long it has waited for others says nothing of the store
        const action pause = sleep(backoff_.next(random));
        if (again)
            state_ = state::pausing;
        return pause;
    }

    /// It reached the server after its time; the reply has brought the server's time, so the next
    /// one should fit.
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
        own_heard_ = false;
    }

    /// The lock is free. `others`: other processes wait, or nobody knows whether they do.
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

    /// Nothing is under way, and somebody waits.
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
    bool again_ = false;     ///< Told of a release since the request under way was sent.
    bool own_heard_ = false; ///< Of its last release, by itself.
    failure_row failures_;
    unsigned char late_ = 0;
};

} // namespace leasehold::fsm

#endif
