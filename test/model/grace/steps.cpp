#include "model/grace/state.hpp"

#include <algorithm>
#include <utility>

namespace leasehold::test::grace_model {
namespace {

using phase = client::phase;
using kind = exchange::kind;
using answer = exchange::answer;

constexpr std::uint8_t byte(unsigned value) noexcept
{
    return static_cast<std::uint8_t>(value);
}

constexpr unsigned client_of(std::uint8_t owner) noexcept
{
    return owner / 4U;
}

/// Makes one step.
class making
{
public:
    making(const state& from, const setting& g, std::vector<step>& out) : s(from), g_(g), out_(out)
    {}

    state s;

    void done(int by, const char* what, const char* about = "")
    {
        out_.push_back({s, by, what, about, wrong_ != nullptr ? wrong_ : broken()});
    }

    client& who(unsigned i) noexcept { return s.who[i]; }

    [[nodiscard]] bool is(mistake m) const noexcept { return g_.wrong == m; }

    // The server.

    void free() noexcept { s.data.owner = s.data.promised = s.data.reentered = s.data.expires = 0; }

    void make_record(unsigned of) noexcept { s.data.alive[of] = {1, s.run, now}; }

    void run_sign(unsigned of) noexcept
    {
        if (!is(mistake::sign_not_recorded))
            make_record(record_of(of));
    }

    void run_request(unsigned by)
    {
        exchange& asked = who(by).asked;
        keys& k = s.data;
        switch (asked.what) {
        case kind::acquire: run_acquire(by, asked); break;
        case kind::reenter:
            asked.said = answer::held;
            if (k.owner == asked.owner + 1) {
                asked.said = answer::granted;
                if (!is(mistake::entry_keeps_promise))
                    k.promised = 0;
                k.reentered = 1;
                k.expires = std::max(k.expires, byte(now + g_.lease));
            }
            break;
        case kind::release:
            if (k.owner == asked.owner + 1 && k.reentered == 0)
                free();
            asked.said = answer::done;
            break;
        case kind::remove:
            if (is(mistake::superseded_in_two) ||
                (k.owner != 0 && client_of(byte(k.owner - 1U)) == client_of(asked.owner)))
                free();
            asked.said = answer::done;
            break;
        case kind::none: break;
        }
    }

    // Clients.

    [[nodiscard]] bool valid(const client& c) const noexcept
    {
        if (c.at != phase::holding || now >= c.deadline)
            return false;
        return c.promised == 0 || is(mistake::promise_not_kept) ||
               (c.alive != never && now < c.alive + g_.grace);
    }

    void alive_since(client& c, std::uint8_t sent) noexcept
    {
        if (c.alive == never || sent > c.alive)
            c.alive = sent;
        if (is(mistake::lapse_revived) && c.at == phase::lapsed && now < c.deadline)
            c.at = phase::holding;
    }

    void read_answer(unsigned of)
    {
        client& c = who(of);
        const exchange told = std::exchange(c.asked, exchange{});
        switch (told.said) {
        case answer::granted: {
            const std::uint8_t alive = is(mistake::grant_from_answer) ? now : told.sent;
            c.owner = told.owner;
            c.promised = told.what != kind::reenter && told.plain == 0;
            c.deadline = byte(told.sent + g_.lease);
            c.at = phase::holding;
            // A lapsed lease may have been superseded, whatever has been confirmed since.
            const bool in_time = now < alive + g_.grace;
            if (c.promised != 0 && (in_time || is(mistake::late_sign_for_grant)))
                alive_since(c, alive);
            if (c.promised != 0 && !in_time && !is(mistake::late_sign_for_grant) &&
                !is(mistake::promise_not_kept))
                c.at = phase::lapsed;
            lapse();
            break;
        }
        case answer::over: c.asked = {kind::remove, answer::none, now, told.owner, 0}; break;
        case answer::done:
            c.at = phase::idle;
            c.owner = c.promised = c.excused = c.deadline = 0;
            if (std::exchange(c.renounced, byte(0)) != 0)
                ask_next(of, 1);
            break;
        default: c.at = phase::idle; break;
        }
    }

    /// Asks under a new owner.
    void ask_next(unsigned of, std::uint8_t plain) noexcept
    {
        client& c = who(of);
        ++c.attempt;
        c.at = phase::asking;
        c.excused = 0;
        c.asked = {kind::acquire, answer::none, now, byte(of * 4 + c.attempt), plain};
    }

    /// The outstanding acquire is lost and may still be executed. Another waiter, with the grace or
    /// without it, waits for its grant.
    void lose_request(unsigned of, std::uint8_t plain) noexcept
    {
        client& c = who(of);
        const exchange lost = c.asked;
        c.late = byte(lost.owner + 1U);
        c.late_plain = lost.plain;
        if (plain != 0 && lost.plain == 0 && !is(mistake::late_promise_forgotten)) {
            c.asked = {kind::release, answer::none, now, lost.owner, 0};
            c.at = phase::leaving;
            c.renounced = 1;
        }
        else {
            c.asked = {kind::acquire, answer::none, now, lost.owner, plain};
        }
    }

    void run_late(unsigned by)
    {
        client& c = who(by);
        exchange late{kind::acquire, answer::none, now, byte(c.late - 1U), c.late_plain};
        c.late = c.late_plain = 0;
        run_acquire(by, late);
    }

    void pass() noexcept
    {
        const auto ago = [](std::uint8_t& time, unsigned most) {
            if (time != never)
                time = std::max(byte(time - 1U), byte(now - most));
        };
        for (keys* const each : {&s.data, &s.snapshot}) {
            if (each->owner != 0 && --each->expires <= now)
                each->owner = each->promised = each->reentered = each->expires = 0;
            for (record& r : each->alive) {
                if (r.there != 0)
                    ago(r.seen, g_.grace);
            }
        }
        ago(s.looked, g_.grace);
        for (unsigned i = 0; i < g_.clients; ++i) {
            client& c = who(i);
            if (c.asked.what != kind::none)
                ago(c.asked.sent, g_.lease);
            if (c.sign != 0)
                ago(c.sign_sent, g_.grace);
            ago(c.alive, g_.grace);
            if (c.deadline > now)
                --c.deadline;
        }
        lapse();
    }

    void lapse() noexcept
    {
        for (unsigned i = 0; i < g_.clients; ++i) {
            client& c = who(i);
            if (c.at == phase::holding && !valid(c)) {
                c.at = phase::lapsed;
                if (!is(mistake::lapse_revived))
                    c.deadline = 0;
            }
        }
    }

    void restart() noexcept
    {
        s.data = s.snapshot;
        ++s.run;
        s.looked = never;
        for (unsigned i = 0; i < g_.clients; ++i) {
            client& c = who(i);
            if (c.asked.what != kind::none && c.asked.said == answer::none) // with its connection
                give_up(c);
            if (c.sign == 1)
                c.sign = c.sign_sent = 0;
            c.late_sign = c.late = c.late_plain = 0;
            const bool owns = c.at == phase::holding || c.asked.said == answer::granted;
            const std::uint8_t owner = c.at == phase::holding ? c.owner : c.asked.owner;
            if (owns &&
                (s.data.owner != owner + 1 || (client_of(owner) != i && s.data.reentered == 0)))
                c.excused = 1;
        }
    }

    static void give_up(client& c) noexcept
    {
        if (c.at == phase::asking)
            c.at = phase::idle;
        if (c.at == phase::leaving)
            c.at = phase::lapsed; // the release is sent again
        c.asked = {};
    }

private:
    [[nodiscard]] unsigned record_of(unsigned of) const noexcept
    {
        return is(mistake::one_record_for_all) ? 0 : of;
    }

    void grant(unsigned by, exchange& asked) noexcept
    {
        s.data.owner = byte(asked.owner + 1U);
        s.data.promised = asked.plain == 0;
        s.data.reentered = 0;
        s.data.expires = byte(now + g_.lease);
        s.looked = never;
        if (asked.plain == 0 && !is(mistake::acquire_not_recorded))
            run_sign(by);
        asked.said = answer::granted;
    }

    /// The option of the last request counts, except if there are other entries.
    void grant_again(unsigned by, exchange& asked) noexcept
    {
        keys& k = s.data;
        if (k.reentered != 0)
            asked.plain = 1;
        else if (asked.plain == 0 || !is(mistake::promise_inherited))
            k.promised = asked.plain == 0;
        k.expires = std::max(k.expires, byte(now + g_.lease));
        s.looked = never;
        if (asked.plain == 0)
            run_sign(by);
        asked.said = answer::granted;
    }

    /// Checks whether the client of the holder is alive. True: it is not, and the holder may be
    /// superseded.
    bool over()
    {
        keys& k = s.data;
        const unsigned holder = client_of(byte(k.owner - 1U));
        if (k.promised == 0 && !is(mistake::plain_superseded))
            return false;
        // The promise about the grace.
        bool found = false;
        if (s.who[holder].at == phase::dead && k.promised != 0 && s.who[holder].late_sign == 0) {
            if (s.looked == never)
                s.looked = now;
            found = now >= s.looked + g_.grace;
        }
        record& r = k.alive[record_of(holder)];
        const bool known = r.there != 0 && (r.run == s.run || is(mistake::other_run_believed));
        const unsigned grace = is(mistake::half_grace) ? g_.grace / 2U : g_.grace;
        bool gone = false;
        if (known)
            gone = now >= r.seen + grace;
        else if (is(mistake::absent_is_dead))
            gone = true;
        else if (!is(mistake::no_record_by_poll))
            make_record(record_of(holder));
        if (is(mistake::polls_renew))
            make_record(record_of(holder));
        if (found && !gone)
            wrong_ = "a dead holder is not found";
        return gone;
    }

    void run_acquire(unsigned by, exchange& asked)
    {
        keys& k = s.data;
        if (k.owner == asked.owner + 1)
            return grant_again(by, asked);
        if (k.owner == 0)
            return grant(by, asked);
        asked.said = answer::held;
        if (!over())
            return;
        if (is(mistake::superseded_in_two) || is(mistake::removed_by_prefix)) {
            asked.said = answer::over;
            asked.owner = byte(k.owner - 1U);
            return;
        }
        grant(by, asked);
    }

    [[nodiscard]] const char* broken() const noexcept
    {
        for (unsigned a = 0; a < g_.clients; ++a) {
            for (unsigned b = a + 1; b < g_.clients; ++b) {
                const client& one = s.who[a];
                const client& two = s.who[b];
                if (valid(one) && valid(two) && one.owner != two.owner && one.excused == 0 &&
                    two.excused == 0)
                    return "two owners are valid";
            }
        }
        return nullptr;
    }

    const setting& g_;
    std::vector<step>& out_;
    const char* wrong_ = nullptr;
};

const char* name_of(kind what) noexcept
{
    switch (what) {
    case kind::acquire: return "acquire";
    case kind::reenter: return "re-entry";
    case kind::release: return "release";
    case kind::remove: return "removal";
    case kind::none: break;
    }
    return "";
}

const char* about_acquire(std::uint8_t plain) noexcept
{
    return plain == 0 ? "acquire" : "acquire without the promise";
}

const char* name_of(answer said) noexcept
{
    switch (said) {
    case answer::granted: return "granted";
    case answer::held: return "held";
    case answer::over: return "over";
    case answer::done: return "done";
    case answer::none: break;
    }
    return "";
}

} // namespace

state first_state(const setting& g)
{
    state s{};
    s.faults = g.faults;
    s.looked = never;
    for (client& each : s.who)
        each.alive = never;
    return s;
}

void steps_from(const state& s, const setting& g, std::vector<step>& out)
{
    out.clear();
    const auto begin = [&] { return making(s, g, out); };
    {
        making m = begin();
        m.pass();
        m.done(-1, "time passes");
    }
    if (g.restarts && s.has_snapshot == 0 && s.data.owner != 0) {
        making m = begin();
        m.s.has_snapshot = 1;
        m.s.snapshot = s.data;
        m.done(-1, "snapshot");
    }
    if (g.restarts && s.has_snapshot == 1 && s.faults > 0) {
        making m = begin();
        --m.s.faults;
        m.restart();
        m.done(-1, "the server starts again with the snapshot");
    }
    for (unsigned i = 0; i < g.clients; ++i) {
        const client& c = s.who[i];
        const int by = static_cast<int>(i);
        const auto ask = [&](kind what, std::uint8_t owner, phase next) {
            making m = begin();
            m.who(i).asked = {what, answer::none, now, owner, 0};
            m.who(i).at = next;
            m.done(by, "sends", name_of(what));
        };
        if (c.asked.what != kind::none && c.asked.said == answer::none) {
            making m = begin();
            m.run_request(i);
            m.done(by, name_of(c.asked.what), name_of(m.who(i).asked.said));
        }
        if (c.sign == 1) {
            making m = begin();
            m.run_sign(i);
            m.who(i).sign = 2;
            m.done(by, "heartbeat runs");
        }
        if (c.late_sign != 0) {
            making m = begin();
            m.run_sign(i);
            m.who(i).late_sign = 0;
            m.done(by, "late heartbeat runs");
        }
        if (c.late != 0) {
            making m = begin();
            m.run_late(i);
            m.done(by, "late request runs", about_acquire(c.late_plain));
        }
        if (s.faults > 0 && s.data.alive[i].there != 0) {
            making m = begin();
            --m.s.faults;
            m.s.looked = never;
            m.s.data.alive[i] = {};
            m.done(by, "its record is lost");
        }
        if (c.at == phase::dead)
            continue;
        if (s.faults > 0) {
            making m = begin();
            --m.s.faults;
            client& dying = m.who(i);
            client last{};
            last.at = phase::dead;
            last.alive = never;
            last.late_sign = dying.late_sign;
            last.late = dying.late;
            last.late_plain = dying.late_plain;
            if (c.sign == 1) // its waiter has ended
                last.late_sign = 1;
            if (c.asked.said == answer::none)
                last.asked = c.asked;
            dying = last;
            m.done(by, "dies");
        }
        if (c.asked.said != answer::none) {
            making m = begin();
            m.read_answer(i);
            m.done(by, "reads", name_of(c.asked.said));
        }
        // The request was executed. Otherwise it ends with its connection.
        if (g.mixed && s.faults > 0 && c.asked.what == kind::acquire &&
            c.asked.said != answer::none) {
            for (const std::uint8_t plain : {byte(0), byte(1)}) {
                making m = begin();
                --m.s.faults;
                m.who(i).asked = {kind::acquire, answer::none, now, c.asked.owner, plain};
                m.done(by, "loses the answer, and sends again", about_acquire(plain));
            }
        }
        if (g.late && s.faults > 0 && c.asked.what == kind::acquire && c.late == 0 &&
            c.asked.said == answer::none) {
            for (const std::uint8_t plain : {byte(0), byte(1)}) {
                making m = begin();
                --m.s.faults;
                m.lose_request(i, plain);
                const bool leaves = m.who(i).renounced != 0;
                m.done(by, "loses its request, and sends",
                       leaves ? name_of(kind::release) : about_acquire(plain));
            }
        }
        if (c.sign == 2) {
            making m = begin();
            m.who(i).sign = 0;
            m.who(i).sign_sent = 0;
            m.alive_since(m.who(i), g.wrong == mistake::sign_from_answer ? now : c.sign_sent);
            m.done(by, "reads that it is alive");
        }
        if (c.sign == 1 && c.late_sign == 0 && s.faults > 0) {
            making m = begin();
            --m.s.faults;
            m.who(i).sign = m.who(i).sign_sent = 0;
            m.who(i).late_sign = 1;
            m.done(by, "gives its heartbeat up");
        }
        if (c.sign == 0 && (c.at == phase::holding || (c.at == phase::asking && g.others) ||
                            g.wrong == mistake::lapse_revived)) {
            making m = begin();
            m.who(i).sign = 1;
            m.who(i).sign_sent = now;
            m.done(by, "sends a heartbeat");
        }
        if (c.asked.what != kind::none)
            continue;
        if (c.owner != 0 && client_of(c.owner) == i &&
            (c.at == phase::holding || c.at == phase::lapsed))
            ask(kind::release, c.owner, phase::leaving);
        if (c.at == phase::idle) {
            if (c.attempt < g.acquires) {
                for (std::uint8_t plain = 0; plain <= byte(g.mixed); ++plain) {
                    making m = begin();
                    m.ask_next(i, plain);
                    m.done(by, "sends", about_acquire(plain));
                }
            }
            if (g.entries && s.data.owner != 0 && client_of(byte(s.data.owner - 1U)) != i)
                ask(kind::reenter, byte(s.data.owner - 1U), phase::asking);
        }
    }
}

} // namespace leasehold::test::grace_model
