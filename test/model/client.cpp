#include "model/client.hpp"

#include "model/properties.hpp"

#include <algorithm>
#include <utility>

namespace leasehold::test::model {
namespace {

using type = message::type;
using task = client::task;
using machine = fsm::queued_contention;
using phase = machine::state;

/// One client and its steps.
class party
{
public:
    party(state& s, const setting& g, int index) : s_(s), g_(g), i_(index), c_(s.at(index)) {}

    void start(task way, bool once)
    {
        s_.undisturb(owner_of(i_, c_.number));
        if (once)
            c_.set(client::once);
        first_way_ = way;
        perform(c_.contention.wanted(true));
    }

    void poll() { perform(c_.contention.due(true)); }

    /// The client receives its grants from now on.
    void listening()
    {
        const bool forgotten =
            has(error::listening_ignored) ||
            (has(error::listening_forgotten_sending) && c_.phase() == phase::sending) ||
            (has(error::listening_forgotten_releasing) && c_.phase() == phase::releasing);
        if (c_.has(client::connected) && !forgotten)
            perform(c_.contention.listening());
    }

    void cancel()
    {
        s_.disturb(owner_of(i_, c_.number));
        if (has(error::cancelled_in_silence)) {
            c_.contention = machine();
            return ended();
        }
        c_.set(client::cancelled);
        perform(c_.contention.unwanted());
    }

    void leave(bool joins) { perform(c_.contention.leaving(joins)); }

    void leave_alone()
    {
        machine::action next = c_.contention.leaving(true);
        next.joins = false;
        c_.set(client::alone);
        if (!has(error::absent_next_believed))
            c_.contention.joins_no_waiter();
        perform(next);
    }

    void hand_on()
    {
        ++c_.last;
        --c_.left;
        fence_used(s_, g_, i_, true);
    }

    void reconnect()
    {
        c_.set(client::connected | client::listens);
        s_.send({type::hello, owner_of(i_, 0)});
        if (c_.has(client::unsent)) {
            c_.unset(client::unsent);
            const bool joins = c_.contention.joins() && !c_.has(client::alone);
            send(type::release, joins ? message::joins : 0);
        }
        else if (!has(error::no_look) || c_.phase() != phase::queued)
            perform(c_.contention.connected());
        if (c_.entry == client::inner::leave_unsent)
            leave_entry();
    }

    void leave_entry()
    {
        c_.entry = client::inner::leaving;
        s_.send({type::release, owner_of(i_, c_.entry_number), message::second});
    }

    void disconnected()
    {
        c_.unset(client::connected | client::listens | client::renewing);
        if (c_.entry == client::inner::asked || c_.entry == client::inner::leaving)
            c_.entry = client::inner::leave_unsent;
        switch (c_.under_way) {
        case task::none: break;
        case task::release:
            if (!g_.kill && c_.contention.joins())
                c_.owed |= byte(2 << c_.number);
            c_.set(client::unsent);
            break;
        case task::fast_path:
        case task::slow_path: lose_request(); break;
        case task::redraw:
            if (c_.phase() == phase::sending)
                lose_request();
            else
                left(machine::succession::none, false, false);
            break;
        }
    }

    void deliver(const message& m)
    {
        if (m.what == type::drawn_elsewhere) {
            c_.floor = std::max(c_.floor, m.fence);
            return;
        }
        if (m.what == type::turn)
            return turn(m);
        if (m.has(message::second))
            return deliver_to_entry(m);
        if (number_of(m.who) != c_.asking()) {
            if (asked_by(m.what) == task::release && m.has(message::over))
                c_.owed &= byte(~(1 << number_of(m.who)));
            return;
        }
        switch (m.what) {
        case type::renewed:
        case type::gone: return renewal(m);
        default: break;
        }
        if (c_.under_way != asked_by(m.what))
            return;
        answered(m);
    }

private:
    bool has(error e) const noexcept { return g_.has(e); }
    bool wanted() const noexcept { return !c_.has(client::cancelled); }

    /// The task that this reply belongs to.
    static task asked_by(type reply) noexcept
    {
        switch (reply) {
        case type::short_granted:
        case type::short_own:
        case type::short_held:
        case type::short_refused: return task::fast_path;
        case type::granted:
        case type::held:
        case type::refused_late: return task::slow_path;
        case type::redrawn: return task::redraw;
        default: return task::release;
        }
    }

    void answered(const message& m)
    {
        switch (m.what) {
        case type::short_granted: c_.unset(client::uncovered); [[fallthrough]];
        case type::granted: return granted(m, in_time(m));
        case type::short_own: return granted(m, in_time(m) || c_.has(client::uncovered));
        case type::short_held: c_.floor = std::max(c_.floor, m.fence); [[fallthrough]];
        case type::held:
            c_.under_way = task::none;
            if (has(error::claim_from_notification))
                forget_lease();
            return perform(c_.contention.held(m.what == type::held && !c_.has(client::once),
                                              wanted() && !c_.has(client::once)));
        case type::short_refused:
            // The lock is held without a fence, so it is released.
            c_.under_way = task::none;
            if (has(error::refused_fence_kept))
                return perform(c_.contention.failed(false, false));
            return perform(c_.contention.granted(false, wanted()));
        case type::refused_late:
            c_.under_way = task::none;
            return perform(c_.contention.late(wanted()));
        case type::redrawn:
            if (c_.has(client::passed) && !has(error::deadline_from_redraw))
                return conclude(false);
            if (!wanted())
                return conclude(true);
            return reenter(m.fence, c_.has(client::stale));
        case type::left_granted:
            if (!in_time(m))
                return left(machine::succession::granted, false, true);
            return granted(m, true);
        case type::left_in_queue: return left(machine::succession::queued, true, true);
        default: return left(machine::succession::none, true, true);
        }
    }

    bool in_time(const message& m) const noexcept
    {
        return !m.has(message::passed) || has(error::deadline_from_answer);
    }

    // Performs the action of the state machine.

    void perform(machine::action next)
    {
        using kind = machine::action::kind;
        switch (next.what) {
        case kind::none:
        case kind::sleep:
            if (c_.phase() == phase::idle)
                ended();
            break;
        case kind::send:
            // A repeated request never uses the fast path, which would not extend the lock.
            c_.under_way = next.again ? task::slow_path : first_way_;
            if (has(error::deadline_from_repetition) && c_.has(client::uncovered))
                c_.under_way = task::fast_path;
            send(c_.under_way == task::fast_path ? type::set : type::acquire,
                 c_.has(client::once) ? message::once : 0);
            break;
        case kind::leave:
            c_.under_way = task::release;
            forget_lease();
            if (c_.has(client::connected))
                send(type::release, next.joins ? message::joins : 0);
            else
                c_.set(client::unsent);
            break;
        case kind::release_ended: break; // performed where the notification arrives
        }
    }

    void send(type kind, int bits = 0) { s_.send({kind, owner_of(i_, c_.asking()), byte(bits)}); }

    void forget_lease() noexcept
    {
        c_.unset(client::believes | client::stale | client::stale_entry | client::passed |
                 client::uncovered | client::renewing | client::confirming);
        c_.last = 0;
        c_.left = 0;
    }

    /// The end of the owner was reported.
    void ended() noexcept
    {
        forget_lease();
        c_.unset(client::cancelled | client::once);
        c_.under_way = task::none;
        ++c_.number;
    }

    void left(machine::succession next, bool in_time, bool online)
    {
        const bool alone = c_.has(client::alone);
        const bool waits = alone || c_.contention.joins();
        forget_lease();
        c_.unset(client::cancelled | client::once | client::alone);
        c_.under_way = task::none;
        const auto action = c_.contention.left(next, in_time, waits, online);
        if (alone && action.again)
            throw violation{"unheard: an owner that was never sent is not sent as new"};
        if (waits || c_.phase() != phase::idle)
            ++c_.number;
        perform(action);
    }

    void lose_request()
    {
        if (!g_.kill && c_.under_way == task::slow_path)
            c_.owed |= byte(1 << c_.number);
        if (has(error::deadline_from_repetition) && c_.under_way == task::fast_path)
            c_.set(client::uncovered); // the deadline, counted from the repetition, is wrong
        c_.unset(client::passed | client::stale | client::stale_entry);
        c_.under_way = task::none;
        if (has(error::lost_request_forgotten))
            return perform(c_.contention.failed(false, wanted()));
        if (has(error::new_owner_for_repetition)) {
            c_.contention = machine();
            return ended();
        }
        perform(c_.contention.failed(true, wanted()));
    }

    // Grants.

    void granted(const message& m, bool in_time)
    {
        if (!in_time || (!wanted() && !has(error::cancelled_grant_kept)))
            return conclude(false);
        if (!wanted()) { // the error: there is no waiter, and the lock is not released
            c_.contention = machine();
            return ended();
        }
        const fence first = byte(m.fence - (g_.fences() - 1));
        if (g_.loss && !has(error::no_floor) && first <= c_.floor) {
            // The deadline stays that of the grant.
            c_.under_way = task::redraw;
            if (m.has(message::stale))
                c_.set(client::stale);
            send(type::redraw_raise);
            return;
        }
        reenter(m.fence, m.has(message::stale));
    }

    void reenter(fence end, bool stale)
    {
        const fence first = byte(end - (g_.fences() - 1));
        if (g_.loss && !has(error::no_floor) && first <= c_.floor)
            return send(type::redraw_raise); // it was lost again
        c_.floor = std::max(c_.floor, end);
        const bool uncovered = c_.has(client::uncovered);
        conclude(true);
        if (c_.phase() != phase::holding)
            return;
        c_.set(client::believes | (uncovered ? client::uncovered : 0) |
               (stale ? client::stale | client::stale_entry : 0));
        c_.last = first;
        c_.left = byte(g_.fences() - 1);
        if (has(error::fence_beyond_block))
            ++c_.left;
        believed(s_, i_);
        fence_used(s_, g_, i_, false);
    }

    /// The state machine is informed of the grant.
    void conclude(bool in_time)
    {
        if (c_.phase() == phase::releasing)
            return left(machine::succession::granted, in_time, true);
        c_.under_way = task::none;
        forget_lease();
        perform(c_.contention.granted(in_time, wanted()));
    }

    // Notifications.

    void turn(const message& m)
    {
        const int number = number_of(m.who);
        const auto named = c_.contention.joins() && number == c_.number + 1 ? machine::whose::next
                           : number == c_.number && c_.phase() != phase::idle
                               ? machine::whose::current
                               : machine::whose::ended;
        if (named == machine::whose::current && c_.phase() == phase::queued) {
            if (has(error::notification_grants)) {
                c_.contention.due(true);
                c_.set(client::uncovered); // the claim may end before the lease
                return reenter(m.fence, false);
            }
            if (has(error::renewal_confirms))
                return confirm(m);
            if (has(error::claim_from_notification)) {
                c_.set(client::believes | client::uncovered); // until its acquire has a reply
                believed(s_, i_);
            }
        }
        const auto next = c_.contention.notified(named);
        if (next.what != machine::action::kind::release_ended)
            return perform(next);
        if (c_.has(client::connected))
            s_.send({type::release, m.who});
    }

    void confirm(const message& m)
    {
        if (c_.has(client::confirming))
            return;
        c_.set(client::confirming | client::renewing);
        c_.last = m.fence;
        send(type::renew);
    }

    void renewal(const message& m)
    {
        c_.unset(client::renewing);
        if (c_.has(client::confirming)) {
            c_.unset(client::confirming);
            const fence named = std::exchange(c_.last, fence{0});
            perform(c_.contention.due(true)); // as for a poll
            if (m.what == type::renewed && in_time(m) && wanted()) {
                s_.take_if([&](const message& each) {
                    return each.what == type::acquire && each.client() == i_ &&
                           !each.has(message::orphan);
                });
                reenter(named, false);
            }
            return;
        }
        if (c_.phase() == phase::holding && m.what == type::gone)
            leave(false);
    }

    void deliver_to_entry(const message& m)
    {
        if (number_of(m.who) != c_.entry_number)
            return;
        if (c_.entry == client::inner::leaving)
            c_.entry = client::inner::none;
        else if (c_.entry == client::inner::asked) {
            if (m.what == type::not_reentered)
                c_.entry = client::inner::none;
            else if (m.has(message::passed | message::stale))
                leave_entry();
            else
                c_.entry = client::inner::in;
        }
        if (c_.entry == client::inner::none)
            c_.entry_number = 0;
    }

    state& s_;
    const setting& g_;
    const int i_;
    client& c_;
    task first_way_ = task::slow_path;
};

} // namespace

void start(state& s, const setting& g, int client, client::task way, bool once)
{
    party(s, g, client).start(way, once);
}

void poll(state& s, const setting& g, int client)
{
    party(s, g, client).poll();
}

void cancel(state& s, const setting& g, int client)
{
    party(s, g, client).cancel();
}

void leave(state& s, const setting& g, int client, bool joins)
{
    party(s, g, client).leave(joins);
}

void leave_alone(state& s, const setting& g, int client)
{
    party(s, g, client).leave_alone();
}

void renew(state& s, int i)
{
    s.at(i).set(client::renewing);
    s.send({type::renew, owner_of(i, s.at(i).number)});
}

void hand_on(state& s, const setting& g, int client)
{
    party(s, g, client).hand_on();
}

void reenter(state& s, int i)
{
    client& c = s.at(i);
    c.entry = client::inner::asked;
    c.entry_number = c.number;
    s.send({type::reenter, owner_of(i, c.number), message::second});
}

void leave_entry(state& s, const setting& g, int client)
{
    party(s, g, client).leave_entry();
}

void reconnect(state& s, const setting& g, int client)
{
    party(s, g, client).reconnect();
}

void listen(state& s, const setting& g, int i)
{
    s.at(i).set(client::listens);
    party(s, g, i).listening();
}

void release_owed(state& s, int i, int number)
{
    s.send({type::release, owner_of(i, number), message::over});
}

void disconnected(state& s, const setting& g, int client)
{
    party(s, g, client).disconnected();
}

void deliver(state& s, const setting& g, const message& reply)
{
    party(s, g, reply.client()).deliver(reply);
}

} // namespace leasehold::test::model
