#ifndef LEASEHOLD_SRC_FSM_CONTENTION_QUEUED_CONTENTION_HPP
#define LEASEHOLD_SRC_FSM_CONTENTION_QUEUED_CONTENTION_HPP

#include <boost/assert.hpp>

#include <cstddef>
#include <utility>

namespace leasehold::fsm {

/// Contends for one name in a store with queues, for all waiters of a client. Decides only: it
/// performs no I/O. `contention` is the same for stores without queues.
///
///   idle ──wanted──▶ sending ──granted──▶ holding ──leaving──▶ releasing ──left──▶ idle, sending
///                    sending ──joined───▶ queued ──due, grant, connected──▶ sending
///                    sending ──held, not queued──▶ sending
///                    sending ──failed───▶ pausing ──due, grant, connected──▶ sending
///   sending, queued, pausing ──no waiter left, granted too late──▶ releasing
///                    sending ──the acquire needs another owner──▶ releasing
///   releasing, and the next owner has joined ──left──▶ queued, holding or sending
///
/// To join, to extend a waiter's presence, to poll and to confirm a grant, the same acquire is sent
/// again under the same owner. So a notification is only a reason to send it.
///
/// The owner lives from its first request until its end is reported: by the reply to a release, or
/// by "held" if it had not joined. A request that may have been executed is never repeated under
/// another owner. `test/model` drives this class through every order of events.
class queued_contention
{
public:
    enum class state : unsigned char
    {
        idle,      ///< No waiter and no owner.
        sending,   ///< An acquire is outstanding or about to be sent.
        queued,    ///< Another owner holds the lock; this one is in the queue. Polls.
        pausing,   ///< The store failed, or the outcome is unknown.
        holding,   ///< This client holds the lock.
        releasing, ///< The release is outstanding: of the lock, the position, or a lost request.
    };

    /// The owner that a notification names.
    enum class whose : unsigned char
    {
        current, ///< The owner of the outstanding request, or in the queue.
        next,    ///< The owner that joins with the outstanding release.
        ended,   ///< An owner whose end was reported.
    };

    /// The state of the next owner, by the reply to a release.
    enum class succession : unsigned char
    {
        none,    ///< The release had no next owner, or was executed before it joined.
        queued,  ///< It has joined.
        granted, ///< The queue was empty: it holds the lock.
    };

    struct action
    {
        enum class kind : unsigned char
        {
            none,
            send,          ///< Send an acquire that waits.
            sleep,         ///< Call `due` later, unless another event comes first.
            leave,         ///< Send a release of the owner until it is answered, then call `left`.
            release_ended, ///< Send a release of the owner that the notification named.
        };
        kind what = kind::none;
        /// For `send`: a request of this owner may have been executed. The store must then use a
        /// way that extends what it finds.
        bool again = false;
        /// For `leave`: the next owner joins at the end of the queue with the release.
        bool joins = false;
    };

    [[nodiscard]] state current() const noexcept { return state_; }

    /// The outstanding release lets the next owner join.
    [[nodiscard]] bool joins() const noexcept { return joins_; }

    /// Starts in a later state, after events that needed no decision: the first request is
    /// outstanding, this client holds the lock, or it releases it without a next owner.
    void resume(state from) noexcept
    {
        BOOST_ASSERT(state_ == state::idle && !known_);
        state_ = from;
    }

    /// A waiter has arrived. `online`: whether the store can be reached.
    action wanted(bool online) noexcept
    {
        if (state_ != state::idle)
            return {};
        if (online)
            return send();
        state_ = state::pausing;
        return {};
    }

    /// The last waiter was cancelled, or the client shuts down. Leaves the queue. An outstanding
    /// request stays outstanding; its reply decides.
    action unwanted() noexcept { return waits() ? give_up() : action{}; }

    /// The acquire was not sent and will not be.
    action unsent(bool wanted) noexcept
    {
        BOOST_ASSERT(state_ == state::sending);
        if (!wanted)
            return give_up();
        state_ = state::pausing;
        return {};
    }

    /// The acquire is not sent under this owner, which ends. The next owner sends it.
    action renounced() noexcept
    {
        BOOST_ASSERT(state_ == state::sending);
        late_ = false;
        reported_ = false;
        return leave(false);
    }

    /// The store reports a grant for an owner of this client.
    action notified(whose named) noexcept
    {
        if (named == whose::ended)
            return {action::kind::release_ended};
        switch (state_) {
        case state::sending: reported_ = true; break; // the reply may be older
        case state::releasing: reported_ = reported_ || (joins_ && named == whose::next); break;
        case state::queued:
        case state::pausing: return send();
        case state::idle:
        case state::holding: break;
        }
        return {};
    }

    /// The store can be reached again, and may have lost all data.
    action connected() noexcept { return waits() ? send() : action{}; }

    /// This client receives grant notifications from now on. The owner in the queue, or of an
    /// outstanding request, may have missed one. Its record in the store may still say that it has
    /// no subscription.
    action listening() noexcept
    {
        switch (state_) {
        case state::sending: reported_ = true; break;
        case state::releasing: reported_ = reported_ || joins_; break;
        case state::queued:
        case state::pausing: return send();
        case state::idle:
        case state::holding: break;
        }
        return {};
    }

    /// The pause has ended.
    action due(bool online) noexcept
    {
        if (!waits())
            return {};
        if (online)
            return send();
        state_ = state::pausing;
        return {};
    }

    /// `in_time`: before the deadline, counted from the sending of this request.
    action granted(bool in_time, bool wanted) noexcept
    {
        BOOST_ASSERT(state_ == state::sending);
        return hold(in_time, wanted);
    }

    /// Another owner holds the lock. Not `queued` if the request could not join: it used the fast
    /// path, which only takes a free lock, or it was a try.
    action held(bool queued, bool wanted) noexcept
    {
        BOOST_ASSERT(state_ == state::sending);
        late_ = false;
        known_ = known_ || queued;
        if (!wanted)
            return give_up();
        known_ = true;
        if (reported_ || !queued)
            return send(); // which clears the notification
        state_ = state::queued;
        return {action::kind::sleep};
    }

    /// The store did not execute the request, or it `may_have_run`.
    action failed(bool may_have_run, bool wanted) noexcept
    {
        BOOST_ASSERT(state_ == state::sending);
        late_ = false;
        reported_ = false;
        known_ = known_ || may_have_run;
        if (!wanted)
            return give_up();
        state_ = state::pausing;
        return {action::kind::sleep};
    }

    /// The request reached the server after its time limit and was not executed. The reply contains
    /// the server's time, so the next request should be in time.
    action late(bool wanted) noexcept
    {
        BOOST_ASSERT(state_ == state::sending);
        if (!wanted)
            return give_up();
        if (!std::exchange(late_, true))
            return send();
        reported_ = false;
        state_ = state::pausing;
        return {action::kind::sleep};
    }

    /// The lock is released. `wanted`: there are waiters, so the next owner joins in this step.
    action leaving(bool wanted) noexcept
    {
        BOOST_ASSERT(state_ == state::holding);
        return leave(wanted);
    }

    /// The release is sent without a next owner: the waiters have left since, or the next owner has
    /// to send its own request. Not to be called after the release with a next owner was sent.
    void joins_no_waiter() noexcept
    {
        BOOST_ASSERT(state_ == state::releasing);
        joins_ = false;
        reported_ = false;
    }

    /// The release was answered: the owner has ended. `next`: the state of the next owner.
    /// `in_time`: whether its deadline, counted from the sending of the release, lies ahead.
    action left(succession next, bool in_time, bool wanted, bool online) noexcept
    {
        BOOST_ASSERT(state_ == state::releasing);
        BOOST_ASSERT(joins_ || next == succession::none);
        const bool reported = std::exchange(reported_, false);
        known_ = std::exchange(joins_, false);
        if (!known_) { // the release had no next owner
            state_ = state::idle;
            return wanted ? this->wanted(online) : action{};
        }
        if (next == succession::granted)
            return hold(in_time, wanted);
        if (!wanted)
            return give_up();
        if (!online) {
            state_ = state::pausing;
            return {};
        }
        if (reported || next == succession::none)
            return send();
        state_ = state::queued;
        return {action::kind::sleep};
    }

    /// No request is outstanding, and there are waiters.
    [[nodiscard]] bool waits() const noexcept
    {
        return state_ == state::queued || state_ == state::pausing;
    }

    friend bool operator==(const queued_contention&, const queued_contention&) = default;

    friend std::size_t hash_value(const queued_contention& each) noexcept
    {
        return static_cast<std::size_t>(each.state_) << 4 | std::size_t{each.known_} << 3 |
               std::size_t{each.reported_} << 2 | std::size_t{each.joins_} << 1 |
               std::size_t{each.late_};
    }

private:
    action send() noexcept
    {
        state_ = state::sending;
        reported_ = false;
        return {action::kind::send, known_};
    }

    action hold(bool in_time, bool wanted) noexcept
    {
        late_ = false;
        reported_ = false;
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

    /// The last waiter has left: releases what the store may know.
    action give_up() noexcept
    {
        late_ = false;
        reported_ = false;
        if (known_)
            return leave(false);
        state_ = state::idle;
        return {};
    }

    state state_ = state::idle;
    bool known_ = false;    ///< An earlier request of this owner may have been executed.
    bool reported_ = false; ///< A grant was reported while a request was outstanding.
    bool joins_ = false;    ///< The outstanding release lets the next owner join.
    bool late_ = false;     ///< The last request reached the server too late.
};

} // namespace leasehold::fsm

#endif
