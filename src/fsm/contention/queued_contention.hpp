#ifndef LEASEHOLD_SRC_FSM_CONTENTION_QUEUED_CONTENTION_HPP
#define LEASEHOLD_SRC_FSM_CONTENTION_QUEUED_CONTENTION_HPP

#include <boost/assert.hpp>

#include <cstddef>
#include <utility>

namespace leasehold::fsm {

/// How one client contends for one name in a store that keeps a line, on behalf of all who wait for
/// it here. Decides; does nothing itself. `contention` is the same for stores without a line.
///
///   idle ──wanted──▶ sending ──granted──▶ holding ──leaving──▶ releasing ──left──▶ idle, or from
///   the top
///                    sending ──in line──▶ in_line ──due, turn, connected──▶ sending
///                    sending ──held, not in line──▶ sending
///                    sending ──failed───▶ pausing ──due, turn, connected──▶ sending
///   sending, in_line, pausing ──nobody wants it any more, granted too late──▶ releasing
///                    sending ──what is wanted now is not to be asked for under this owner──▶
///                    releasing
///   releasing, and the next owner has joined ──left──▶ in_line, holding or sending
///
/// One request does everything a waiter does: to join, to say that it is there, to look and to
/// confirm that it was given the lock are the same acquire under the same owner, sent again. So a
/// notification is only a reason to send it.
///
/// The owner lives from its first request until its end was reported: by the answer to a release,
/// or by "held" where it had not joined. Nothing that may have run is ever repeated under another
/// owner. `test/model` drives this class through every order of events.
class queued_contention
{
public:
    enum class state : unsigned char
    {
        idle,      ///< Nobody wants it; there is no owner.
        sending,   ///< One acquire is under way, or about to be.
        in_line,   ///< Another has it; the store has the owner in line. Looks again later, or when
                   ///< told.
        pausing,   ///< The store did not serve, or nobody knows.
        holding,   ///< This client has it.
        releasing, ///< It is being left: the lock, the line, or what may have become of a request.
    };

    /// Whom a notification names.
    enum class whose : unsigned char
    {
        current, ///< The owner of the request that is under way, or in line.
        next,    ///< The owner that the release under way carries.
        ended,   ///< An owner whose end was reported.
    };

    /// What became of the next owner in the answer to a release.
    enum class succession : unsigned char
    {
        none,    ///< It is not known to have joined: the release carried none, or ran before.
        in_line, ///< It has joined.
        granted, ///< Nobody else was there: it has the lock.
    };

    struct action
    {
        enum class kind : unsigned char
        {
            none,
            send,      ///< Send an acquire that waits.
            sleep,     ///< Call `due` later, unless something else happens first.
            leave,     ///< Send a release of the owner, until it is answered; then call `left`.
            give_back, ///< Send a release of the owner that the notification named.
        };
        kind what = kind::none;
        /// To send: a request of this owner may have run before. Then the store must not take a way
        /// that does not prolong what it finds.
        bool again = false;
        /// To leave: the release carries the next owner, which joins at the end of the line.
        bool joins = false;
    };

    [[nodiscard]] state current() const noexcept { return state_; }

    /// The release under way carries the next owner.
    [[nodiscard]] bool joins() const noexcept { return joins_; }

    /// From here on, where nothing had to be decided before: this client has it, or is leaving it
    /// by a release that carries nobody.
    void resume(bool leaves) noexcept
    {
        BOOST_ASSERT(state_ == state::idle && !known_);
        state_ = leaves ? state::releasing : state::holding;
    }

    /// There is a waiter now. `online`: whether the store can be reached.
    action wanted(bool online) noexcept
    {
        if (state_ != state::idle)
            return {};
        if (online)
            return send();
        state_ = state::pausing;
        return {};
    }

    /// There is no waiter any more: the last one was cancelled, or the client shuts down. Leaves
    /// the line. A request under way stays under way; its answer decides.
    action unwanted() noexcept { return waits() ? give_up() : action{}; }

    /// The acquire was not sent and is not going to be.
    action unsent(bool wanted) noexcept
    {
        BOOST_ASSERT(state_ == state::sending);
        if (!wanted)
            return give_up();
        state_ = state::pausing;
        return {};
    }

    /// The acquire is not sent under this owner, which has ended by that: the next one asks.
    action renounced() noexcept
    {
        BOOST_ASSERT(state_ == state::sending);
        late_ = false;
        told_ = false;
        return leave(false);
    }

    /// The store says that an owner of this client has its turn.
    action turn(whose named) noexcept
    {
        if (named == whose::ended)
            return {action::kind::give_back};
        switch (state_) {
        case state::sending: told_ = true; break; // the answer may be older
        case state::releasing: told_ = told_ || (joins_ && named == whose::next); break;
        case state::in_line:
        case state::pausing: return send();
        case state::idle:
        case state::holding: break;
        }
        return {};
    }

    /// The store can be reached again, and may have lost everything.
    action connected() noexcept { return waits() ? send() : action{}; }

    /// This client is told of turns from now on. Whoever was in line before missed them, and is not
    /// known to listen; so may be who has a request under way.
    action listening() noexcept
    {
        switch (state_) {
        case state::sending: told_ = true; break;
        case state::releasing: told_ = told_ || joins_; break;
        case state::in_line:
        case state::pausing: return send();
        case state::idle:
        case state::holding: break;
        }
        return {};
    }

    /// The pause is over.
    action due(bool online) noexcept
    {
        if (!waits())
            return {};
        if (online)
            return send();
        state_ = state::pausing;
        return {};
    }

    /// `in_time`: before the deadline, which counts from the sending of this very request.
    action granted(bool in_time, bool wanted) noexcept
    {
        BOOST_ASSERT(state_ == state::sending);
        return enter(in_time, wanted);
    }

    /// Another owner has it. Not in line where the request could not join: it went a way that only
    /// takes what is free, or it is a try.
    action held(bool in_line, bool wanted) noexcept
    {
        BOOST_ASSERT(state_ == state::sending);
        late_ = false;
        known_ = known_ || in_line;
        if (!wanted)
            return give_up();
        known_ = true;
        if (told_ || !in_line)
            return send(); // which forgets that it was told
        state_ = state::in_line;
        return {action::kind::sleep};
    }

    /// The store did not execute it, or it `may_have_run`.
    action failed(bool may_have_run, bool wanted) noexcept
    {
        BOOST_ASSERT(state_ == state::sending);
        late_ = false;
        told_ = false;
        known_ = known_ || may_have_run;
        if (!wanted)
            return give_up();
        state_ = state::pausing;
        return {action::kind::sleep};
    }

    /// It reached the server after its time and was not executed. The answer has brought the
    /// server's time, so the next one should fit.
    action late(bool wanted) noexcept
    {
        BOOST_ASSERT(state_ == state::sending);
        if (!wanted)
            return give_up();
        if (!std::exchange(late_, true))
            return send();
        told_ = false;
        state_ = state::pausing;
        return {action::kind::sleep};
    }

    /// The lock is left. `wanted`: others wait here, so the next owner joins in the same step.
    action leaving(bool wanted) noexcept
    {
        BOOST_ASSERT(state_ == state::holding);
        return leave(wanted);
    }

    /// The release is sent, and carries nobody after all: whoever waited has gone since, or the
    /// next owner has to ask for itself. Not after one that carried it was sent.
    void joins_nobody() noexcept
    {
        BOOST_ASSERT(state_ == state::releasing);
        joins_ = false;
        told_ = false;
    }

    /// The release was answered: the owner has ended. `next` says what became of the next one, and
    /// `in_time` whether its deadline, which counts from the sending of the release, lies ahead.
    action left(succession next, bool in_time, bool wanted, bool online) noexcept
    {
        BOOST_ASSERT(state_ == state::releasing);
        BOOST_ASSERT(joins_ || next == succession::none);
        const bool told = std::exchange(told_, false);
        known_ = std::exchange(joins_, false);
        if (!known_) { // it carried none
            state_ = state::idle;
            return wanted ? this->wanted(online) : action{};
        }
        if (next == succession::granted)
            return enter(in_time, wanted);
        if (!wanted)
            return give_up();
        if (!online) {
            state_ = state::pausing;
            return {};
        }
        if (told || next == succession::none)
            return send();
        state_ = state::in_line;
        return {action::kind::sleep};
    }

    /// Nothing is under way, and somebody waits.
    [[nodiscard]] bool waits() const noexcept
    {
        return state_ == state::in_line || state_ == state::pausing;
    }

    friend bool operator==(const queued_contention&, const queued_contention&) = default;

    friend std::size_t hash_value(const queued_contention& each) noexcept
    {
        return static_cast<std::size_t>(each.state_) << 4 | std::size_t{each.known_} << 3 |
               std::size_t{each.told_} << 2 | std::size_t{each.joins_} << 1 |
               std::size_t{each.late_};
    }

private:
    action send() noexcept
    {
        state_ = state::sending;
        told_ = false;
        return {action::kind::send, known_};
    }

    action enter(bool in_time, bool wanted) noexcept
    {
        late_ = false;
        told_ = false;
        if (!in_time || !wanted)
            return leave(false);
        known_ = false;
        state_ = state::holding;
        return {};
    }

    action leave(bool joins) noexcept
    {
        state_ = state::releasing;
        known_ = false;
        joins_ = joins;
        return {action::kind::leave, false, joins};
    }

    /// Nobody wants it: what the store may know of is left.
    action give_up() noexcept
    {
        late_ = false;
        told_ = false;
        if (known_)
            return leave(false);
        state_ = state::idle;
        return {};
    }

    state state_ = state::idle;
    bool known_ = false; ///< An earlier request of this owner may have run.
    bool told_ = false;  ///< Of its turn, while a request was under way.
    bool joins_ = false; ///< The release under way carries the next owner.
    bool late_ = false;  ///< The last request came too late.
};

} // namespace leasehold::fsm

#endif
