#include "model/steps.hpp"

#include "model/client.hpp"
#include "model/faults.hpp"
#include "model/properties.hpp"
#include "model/server.hpp"
#include "model/standing.hpp"

#include <utility>

namespace leasehold::test::model {
namespace {

using phase = fsm::queued_contention::state;
using task = client::task;

class enumeration
{
public:
    enumeration(const state& from, const setting& g, std::vector<successor>& out)
        : s_(from), g_(g), out_(out)
    {}

    void all()
    {
        for (int i = 0; i < g_.clients; ++i)
            if (!s_.at(i).has(client::dead))
                of_client(i);
        for (int i = 0; i < s_.messages; ++i)
            if (i == 0 || s_.on_the_way[byte(i)] != s_.on_the_way[byte(i - 1)])
                of_message(i);
        of_keys();
        of_external_client();
        of_data();
    }

private:
    template <class Effect>
    void add(step by, Effect effect)
    {
        out_.push_back({by, s_, nullptr});
        successor& next = out_.back();
        if (by.fault())
            --next.to.faults;
        try {
            effect(next.to);
        }
        catch (const violation& each) {
            next.wrong = each.what;
        }
    }

    [[nodiscard]] bool faults() const noexcept { return s_.faults > 0 && !g_.calm && !g_.told; }

    void of_client(int i)
    {
        const client& c = s_.at(i);
        const auto by = [&](step::type kind, int number = 0) {
            return step{kind, byte(i), {message::type::none, owner_of(i, number)}};
        };
        if (c.has(client::connected))
            of_connected(i, c, by);
        else
            add(by(step::type::reconnect), [&](state& to) { reconnect(to, g_, i); });
        if (!c.has(client::listens) && c.has(client::connected))
            add(by(step::type::listen), [&](state& to) { listen(to, g_, i); });
        if (c.phase() == phase::holding && c.left > 0 && c.has(client::believes))
            add(by(step::type::hand_on), [&](state& to) { hand_on(to, g_, i); });
        const bool hears = c.has(client::connected) && c.has(client::listens);
        if (hears && s_.faults > 0 && !g_.calm)
            add(by(step::type::deafen), [&](state& to) { deafen(to, i); });
        if (!faults())
            return;
        add(by(step::type::crash), [&](state& to) { crash(to, i, true); });
        add(by(step::type::crash_unnoticed), [&](state& to) { crash(to, i, false); });
        if (c.has(client::connected))
            add(by(step::type::disconnect), [&](state& to) { disconnect(to, g_, i); });
    }

    template <class By>
    void of_connected(int i, const client& c, By by)
    {
        const auto begin = [&](step::type kind, task way, bool once) {
            add(by(kind), [&](state& to) { start(to, g_, i, way, once); });
        };
        switch (c.phase()) {
        case phase::idle:
            if (c.number >= g_.attempts)
                break;
            if (g_.fast_path)
                begin(step::type::start_short, task::fast_path, false);
            if (g_.slow_path)
                begin(step::type::start_long, task::slow_path, false);
            if (g_.tries && g_.fast_path)
                begin(step::type::try_short, task::fast_path, true);
            if (g_.tries)
                begin(step::type::try_long, task::slow_path, true);
            break;
        case phase::queued:
            if (polls(i, c))
                add(by(step::type::poll), [&](state& to) { poll(to, g_, i); });
            break;
        case phase::pausing: add(by(step::type::poll), [&](state& to) { poll(to, g_, i); }); break;
        case phase::holding:
            add(by(step::type::leave), [&](state& to) { leave(to, g_, i, false); });
            if (g_.joins && c.number + 1 < g_.attempts)
                add(by(step::type::leave_and_join), [&](state& to) { leave(to, g_, i, true); });
            if (g_.alone && c.number + 1 < g_.attempts)
                add(by(step::type::leave_alone), [&](state& to) { leave_alone(to, g_, i); });
            if (g_.renewals && c.has(client::believes) && !c.has(client::renewing))
                add(by(step::type::renew), [&](state& to) { renew(to, i); });
            if (g_.entries && c.has(client::believes) && c.entry == client::inner::none)
                add(by(step::type::reenter), [&](state& to) { reenter(to, i); });
            break;
        case phase::sending:
        case phase::releasing: break;
        }
        if (c.entry == client::inner::in || c.entry == client::inner::in_expired)
            add(by(step::type::leave_entry), [&](state& to) { leave_entry(to, g_, i); });
        const bool waits = c.phase() == phase::sending || c.contention.waits();
        if (s_.cancels > 0 && waits && !c.has(client::cancelled | client::once))
            add(by(step::type::cancel), [&](state& to) {
                --to.cancels;
                cancel(to, g_, i);
            });
        if (s_.elsewhere > 0)
            add(by(step::type::elsewhere), [&](state& to) {
                --to.elsewhere;
                to.send({message::type::draw_elsewhere, owner_of(i, 0)});
            });
        for (int n = 0; n < g_.attempts; ++n)
            if ((c.owed >> n & 1) != 0 && owed(owner_of(i, n)))
                add(by(step::type::release_owed, n), [&](state& to) { release_owed(to, i, n); });
    }

    /// Polls that change nothing lead back to their state, and are left out unless requested.
    bool polls(int i, const client& c) const noexcept
    {
        if (g_.has(error::no_look) || g_.told)
            return false;
        const owner o = owner_of(i, c.number);
        const int place = s_.data.place(o);
        return g_.every_poll || s_.data.lock == no_owner || s_.data.lock == o || place < 0 ||
               (s_.data.queue.at[byte(place)] & keys::absent) != 0 || (place == 0 && s_.open != 0);
    }

    /// The end was reported, and the time limit of requests that may still be executed has passed.
    bool owed(owner o) const noexcept
    {
        if (current(s_, o))
            return false;
        for (int i = 0; i < s_.messages; ++i) {
            const message& m = s_.on_the_way[byte(i)];
            const bool in_time = !m.has(message::over);
            if (m.has(message::joins) && m.who + 1 == o && in_time)
                return false;
            const bool may_still_run = m.what == message::type::acquire && in_time;
            const bool under_way = m.what == message::type::release || m.reply();
            if (m.who == o && (may_still_run || under_way) && !m.has(message::second))
                return false;
        }
        return true;
    }

    void of_message(int i)
    {
        const message& m = s_.on_the_way[byte(i)];
        const auto by = [&](step::type kind) { return step{kind, byte(m.client()), m}; };
        if (m.reply()) {
            add(by(step::type::deliver), [&](state& to) {
                to.take(i);
                deliver(to, g_, m);
            });
            if (m.what == message::type::turn && faults()) {
                add(by(step::type::turn_lost), [&](state& to) {
                    to.take(i);
                    to.disturb(m.who);
                });
                add(by(step::type::turn_doubled), [&](state& to) { to.send(m); });
            }
            return;
        }
        if (may_run(s_, g_, m))
            add(by(step::type::run), [&](state& to) {
                to.take(i);
                run(to, g_, m);
            });
        const bool leaves = m.what == message::type::release && s_.data.lock == m.who;
        if (g_.turns && leaves && may_run(s_, g_, m))
            add(by(step::type::run_leaving_free), [&](state& to) {
                to.take(i);
                run(to, g_, m, true);
            });
        const bool orphan = m.has(message::orphan);
        if (orphan)
            add(by(step::type::never_runs), [&](state& to) { to.take(i); });
        const bool limited = m.what == message::type::acquire || m.has(message::joins);
        if (limited && !m.has(message::over) && (orphan ? !g_.kill : faults()))
            add(orphan ? by(step::type::limit_passed) : by(step::type::too_late), [&](state& to) {
                to.on_the_way[byte(i)].bits |= message::over;
                if (!orphan) {
                    to.disturb(m.who);
                    if (m.has(message::joins))
                        to.disturb(byte(m.who + 1));
                }
            });
        if (m.what == message::type::incr_granted && !orphan && faults())
            add(by(step::type::fence_refused), [&](state& to) {
                message& reply = to.on_the_way[byte(i)];
                reply.what = message::type::short_refused;
            });
    }

    void of_keys()
    {
        const keys& d = s_.data;
        if (d.lock != no_owner) {
            const bool endless = g_.has(error::claim_without_end) && ours(d.lock);
            if (runs_out(s_)) {
                if (!endless)
                    add({step::type::expire, d.lock}, [](state& to) { expire(to); });
            }
            else if (s_.faults > 0 && !g_.told)
                add({step::type::key_lost, d.lock}, [](state& to) { expire(to); });
        }
        if (d.lock == no_owner && d.has(keys::left_free) &&
            !g_.has(error::external_turn_without_end))
            add({step::type::turn_over, 0},
                [](state& to) { to.data.flags &= byte(~keys::left_free); });
        if (d.has(keys::entries_shorter))
            add({step::type::entries_over, d.lock}, [](state& to) {
                to.data.flags &= byte(
                    ~(keys::entries_shorter | keys::first_entry | keys::second_entry));
            });
        bool deserted = d.queue.size > 0;
        for (int i = 0; i < d.queue.size; ++i) {
            const owner o = d.queue.at[byte(i)] & byte(~keys::absent);
            const bool absent = (d.queue.at[byte(i)] & keys::absent) != 0;
            const bool waits = waiting(s_, o);
            deserted = deserted && absent && !waits;
            if (absent)
                continue;
            const auto over = [&](state& to) { to.data.queue.at[byte(i)] |= keys::absent; };
            if (!waits)
                add({step::type::presence_over, o}, over);
            else if (faults())
                add({step::type::presence_lost, o}, [&](state& to) {
                    over(to);
                    to.disturb(o);
                });
        }
        if (deserted)
            add({step::type::queue_over}, [](state& to) {
                to.data.queue.clear();
                to.order.clear();
            });
    }

    void of_external_client()
    {
        using hold = state::external_hold;
        if (s_.external > 0 && s_.external_client == hold::none && s_.data.lock == no_owner)
            add({step::type::external_takes}, [](state& to) {
                --to.external;
                to.data.lock = external_owner;
                to.data.flags = keys::whole_lease;
                to.external_client = hold::valid;
                to.open = 1;
                believed_by_external_client(to);
            });
        if (s_.external_client != hold::none)
            add({step::type::external_leaves}, [](state& to) {
                const bool its_value = to.data.lock == external_owner &&
                                       !to.data.has(keys::waited_for);
                if (to.external_client == hold::valid && !its_value)
                    throw violation{"external: its release does not find its value"};
                if (its_value) {
                    to.data.lock = no_owner;
                    to.data.flags = 0;
                    to.open = 1;
                }
                to.external_client = hold::none;
            });
        if (s_.external_client == hold::valid && s_.faults > 0)
            add({step::type::external_crash}, [](state& to) { to.external_client = hold::gone; });
    }

    void of_data()
    {
        if (!g_.loss || s_.faults == 0)
            return;
        if (s_.has_snapshot == 0)
            add({step::type::snapshot}, [](state& to) {
                to.has_snapshot = 1;
                to.snapshot = to.data;
            });
        else
            add({step::type::restart}, [&](state& to) { restart(to, g_); });
        add({step::type::flush}, [](state& to) { flush(to); });
    }

    const state& s_;
    const setting& g_;
    std::vector<successor>& out_;
};

} // namespace

void successors(const state& from, const setting& g, std::vector<successor>& out)
{
    out.clear();
    enumeration(from, g, out).all();
}

state first_state(const setting& g)
{
    state s;
    s.data.counter = clock_fence;
    s.faults = byte(g.faults);
    s.cancels = byte(g.cancels);
    s.external = byte(g.external);
    s.elsewhere = byte(g.elsewhere);
    for (int i = 0; i < most_clients; ++i) {
        if (i >= g.clients)
            s.at(i).bits = client::dead;
        if (g.has(error::floor_without_raise))
            s.at(i).floor = 0;
    }
    return s;
}

} // namespace leasehold::test::model
