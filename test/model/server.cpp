#include "model/server.hpp"

#include "model/properties.hpp"
#include "model/standing.hpp"

#include <algorithm>

namespace leasehold::test::model {
namespace {

using type = message::type;

bool same_client(owner a, owner b) noexcept
{
    return ours(a) && ours(b) && client_of(a) == client_of(b);
}

/// The server while it executes one request.
class server
{
public:
    server(state& s, const setting& g, const message& request, bool leaves_free)
        : s_(s),
          g_(g),
          data_(s.data),
          request_(request),
          who_(request.who),
          leaves_free_(leaves_free)
    {}

    void run()
    {
        switch (request_.what) {
        case type::set: return set();
        case type::incr_granted: return answer_short(type::short_granted);
        case type::incr_own: return answer_short(type::short_own);
        case type::incr_held: return answer_short(type::short_held);
        case type::acquire: return acquire();
        case type::release: return release();
        case type::renew: return renew();
        case type::reenter: return reenter();
        case type::hello: return hello();
        case type::raise: return raise();
        case type::redraw_raise:
            if (!request_.has(message::orphan))
                raise();
            return go_on(type::redraw_incr);
        case type::redraw_incr: return answer(type::redrawn, draw());
        case type::draw_elsewhere: return answer(type::drawn_elsewhere, draw());
        default: break;
        }
    }

private:
    bool has(error e) const noexcept { return g_.has(e); }

    // Replies.

    void answer(type kind, fence drawn = 0, int bits = 0)
    {
        if (request_.has(message::orphan))
            return;
        const int kept = request_.what == type::release ? message::second | message::over
                                                        : message::second;
        s_.send({kind, who_, byte(bits | (request_.bits & kept)), drawn});
    }

    void go_on(type kind, fence drawn = 0)
    {
        s_.send({kind, who_, byte(request_.bits & (message::orphan | message::old)), drawn});
    }

    void answer_short(type kind)
    {
        const fence drawn = has(error::fence_before_set) ? request_.fence : draw();
        answer(kind, drawn, request_.bits & (message::passed | message::stale));
    }

    // The counter.

    fence draw() noexcept
    {
        data_.counter = byte(data_.counter + g_.fences());
        s_.ever = std::max(s_.ever, data_.counter);
        return data_.counter;
    }

    void raise() noexcept
    {
        fence& floor = s_.of(who_).floor;
        const fence clock = has(error::raise_without_clock) ? fence{0} : s_.ever;
        data_.counter = std::max({data_.counter, clock, floor});
        if (!has(error::floor_without_raise))
            floor = std::max(floor, data_.counter);
    }

    // The key.

    void take(owner o, bool whole_lease) noexcept
    {
        data_.lock = o;
        data_.flags = whole_lease ? keys::whole_lease : 0;
    }

    /// Assigns the lock to a waiter, or to an owner that found the queue empty.
    void hand(owner o, bool whole_lease) noexcept
    {
        take(o, whole_lease);
        if (data_.queue.size > 0 && !has(error::assigned_unmarked))
            data_.flags |= keys::waited_for;
        s_.open = 0;
    }

    void free() noexcept { take(no_owner, false); }

    // The queue.

    void leave_queue(owner o) noexcept
    {
        if (const int place = data_.place(o); place >= 0) {
            data_.queue.erase(place);
            forgotten(s_, o);
        }
    }

    void join(owner o)
    {
        if (const int place = data_.place(o); place >= 0) {
            if (!has(error::join_not_idempotent)) {
                data_.queue.at[byte(place)] = o; // it is present again
                return;
            }
            data_.queue.erase(place);
        }
        data_.queue.push_back(o);
        joined(s_, o);
    }

    bool there(std::uint8_t entry) const noexcept
    {
        if ((entry & keys::absent) != 0 && !has(error::presence_ignored))
            return false;
        return s_.of(entry & byte(~keys::absent)).has(client::listens);
    }

    /// The lock is free, and the first present waiter gets it. True: that is `asker`, which then
    /// holds it.
    bool grant_next(owner asker)
    {
        while (data_.queue.size > 0) {
            const std::uint8_t entry = data_.queue.at[0];
            const owner first = entry & byte(~keys::absent);
            if (first == asker) {
                data_.queue.erase(0);
                break;
            }
            if (!there(entry)) {
                if (waiting(s_, first))
                    s_.disturb(first);
                forgotten(s_, first);
                data_.queue.erase(0);
                continue;
            }
            if (!has(error::assigned_stays_in_queue))
                data_.queue.erase(0);
            given(s_, g_, first, false);
            hand(first, has(error::claim_without_end));
            if (alive(s_, first)) {
                // In these errors the fence is drawn by the assignment.
                const bool fenced = has(error::notification_grants) || has(error::renewal_confirms);
                s_.send({type::turn, first, 0, fenced ? draw() : fence{0}});
            }
            return false;
        }
        if (asker == no_owner)
            return false;
        given(s_, g_, asker, false);
        hand(asker, true);
        return true;
    }

    // Requests.

    void set()
    {
        if (has(error::fence_before_set) && request_.fence == 0) {
            s_.send({type::set, who_, request_.bits, draw()});
            return;
        }
        const bool own = data_.lock == who_ ||
                         (has(error::acquire_by_prefix) && same_client(data_.lock, who_));
        type next = own ? type::incr_own : type::incr_held;
        if (data_.lock == no_owner) {
            next = type::incr_granted;
            given(s_, g_, who_, true);
            take(who_, true);
        }
        go_on(next, request_.fence);
    }

    void acquire()
    {
        if (request_.has(message::over) && !has(error::late_acquire_runs))
            return answer(type::refused_late);
        if (data_.lock == who_) {
            // A late SET may have added the owner past the queue.
            if (!has(error::own_keeps_entry))
                leave_queue(who_);
            data_.flags |= keys::whole_lease;
            if (has(error::confirming_drops_mark))
                data_.flags &= byte(~keys::waited_for);
            return answer(type::granted, draw());
        }
        const bool waits = !request_.has(message::once);
        if (is_left_free()) {
            if (has(error::external_turn_taken))
                return barge();
            if (waits)
                join(who_);
            return answer(type::held);
        }
        if (has(error::barging) && data_.lock == no_owner)
            return barge();
        if (has(error::try_barges) && data_.lock == no_owner && !waits)
            return barge();
        if (waits)
            join(who_);
        if (data_.lock == no_owner && grant_next(who_))
            return answer(type::granted, draw());
        if (waits && data_.queue.size > 0 && mine_to_mark()) {
            data_.flags |= keys::waited_for;
            s_.open = 0;
        }
        answer(type::held);
    }

    /// Whether it is left free for external clients, while the first waiter is present.
    bool is_left_free() const noexcept
    {
        return data_.lock == no_owner && data_.has(keys::left_free) && data_.queue.size > 0 &&
               (data_.queue.at[0] & keys::absent) == 0;
    }

    /// The first present waiter gets the lock afterwards. True: there is one.
    bool leave_free()
    {
        while (data_.queue.size > 0) {
            const std::uint8_t entry = data_.queue.at[0];
            const owner first = entry & byte(~keys::absent);
            const bool own_next = first == who_ + 1 && client_of(first) == client_of(who_);
            if (!own_next && !there(entry)) {
                if (waiting(s_, first))
                    s_.disturb(first);
                forgotten(s_, first);
                data_.queue.erase(0);
                continue;
            }
            data_.flags = keys::left_free;
            s_.open = 1;
            if (!own_next && alive(s_, first))
                s_.send({type::turn, first});
            if (has(error::external_turn_drops_first))
                data_.queue.erase(0);
            return true;
        }
        return false;
    }

    void barge()
    {
        leave_queue(who_);
        given(s_, g_, who_, false);
        take(who_, true);
        answer(type::granted, draw());
    }

    /// Another library compares its value byte by byte when it releases.
    bool mine_to_mark() const noexcept
    {
        if (data_.lock == external_owner)
            return has(error::mark_on_external);
        return ours(data_.lock) && !has(error::mark_not_set);
    }

    bool releases_mine() const noexcept
    {
        if (data_.lock == who_)
            return data_.has(keys::whole_lease) || !has(error::leave_blind);
        if (has(error::release_by_prefix))
            return same_client(data_.lock, who_) && data_.lock > who_;
        return has(error::release_of_another) && data_.lock != no_owner;
    }

    /// To join is to acquire, so it has a limit in server time too.
    bool joins() const noexcept
    {
        return request_.has(message::joins) &&
               (!request_.has(message::over) || has(error::late_release_joins));
    }

    void release()
    {
        if (!releases_mine())
            return release_what_is_not_held();
        const bool second = request_.has(message::second);
        if (data_.has(keys::reentered) && !has(error::release_ignores_entries)) {
            const auto entry = second ? keys::second_entry : keys::first_entry;
            if (!data_.has(entry))
                return answer(type::not_in);
            data_.flags &= byte(~entry);
            if (data_.has(keys::first_entry | keys::second_entry))
                return answer(type::left_others_in);
        }
        else if (second)
            return answer(type::not_in);

        const bool next = joins();
        // The short script: the value has no mark.
        const bool unmarked = !data_.has(keys::waited_for);
        free();
        if (leaves_free_) {
            if (next)
                join(byte(who_ + 1));
            if (leave_free() || !next)
                return answer(next ? type::left_in_queue : type::left);
        }
        if ((unmarked && !next) || has(error::release_skips_queue) ||
            (has(error::release_of_another) && !next))
            return answer(type::left);
        if (!next) {
            grant_next(no_owner);
            return answer(type::left);
        }
        const owner next_owner = byte(who_ + 1);
        join(next_owner);
        if (grant_next(next_owner))
            return answer(type::left_granted, draw());
        answer(type::left_in_queue);
    }

    /// The request was cancelled, lost or repeated. It lets no owner join, because the next owner
    /// may have been released.
    void release_what_is_not_held()
    {
        const int place = data_.place(who_);
        const bool queued = place >= 0;
        leave_queue(who_);
        if (place == 0) // and the free time ends with it
            data_.flags &= byte(~keys::left_free);
        if (joins() && has(error::repeated_release_joins) && data_.lock != who_ + 1)
            join(byte(who_ + 1));
        if (has(error::late_release_assigns) && !queued)
            free();
        if (data_.lock == no_owner && !is_left_free())
            grant_next(no_owner);
        answer(type::not_in);
    }

    void renew()
    {
        const bool marked = data_.has(keys::waited_for | keys::reentered);
        if (data_.lock == who_ && !(has(error::renewal_exact) && marked)) {
            data_.flags |= keys::whole_lease;
            if (data_.has(keys::reentered) && has(error::entries_not_renewed))
                data_.flags |= keys::entries_shorter;
            return answer(type::renewed);
        }
        if (has(error::renewal_creates) && data_.lock == no_owner) {
            take(who_, true);
            return answer(type::renewed);
        }
        const client& c = s_.of(who_);
        if (s_.faults == g_.faults && c.has(client::believes) && number_of(who_) == c.number)
            throw violation{"renewal: a holder is refused without a fault"};
        answer(type::gone);
    }

    void reenter()
    {
        if (data_.lock != who_)
            return answer(type::not_reentered);
        if (!data_.has(keys::reentered))
            data_.flags |= keys::first_entry;
        data_.flags |= keys::reentered | keys::second_entry | keys::whole_lease;
        data_.flags &= byte(~keys::entries_shorter);
        if (has(error::entering_drops_mark))
            data_.flags &= byte(~keys::waited_for);
        answer(type::reentered);
    }

    void hello()
    {
        const int client = request_.client();
        if (g_.kill)
            s_.take_if([&](const message& m) {
                return !m.reply() && m.has(message::orphan) && m.client() == client &&
                       !(has(error::kill_last_only) && m.has(message::old));
            });
        if (!has(error::no_raise_on_connect))
            s_.send({type::raise, who_});
    }

    state& s_;
    const setting& g_;
    keys& data_;
    const message request_;
    const owner who_;
    const bool leaves_free_;
};

} // namespace

bool may_run(const state& s, const setting& g, const message& request) noexcept
{
    if (request.has(message::orphan))
        return true;
    const bool first_words = request.greeting();
    if (first_words != g.has(error::kill_after_requests))
        return true;
    for (int i = 0; i < s.messages; ++i) {
        const message& m = s.on_the_way[byte(i)];
        if (m.client() == request.client() && !m.reply() && !m.has(message::orphan) &&
            m.greeting() != first_words)
            return false;
    }
    return true;
}

void run(state& s, const setting& g, const message& request, bool leaves_free)
{
    server(s, g, request, leaves_free).run();
}

} // namespace leasehold::test::model
