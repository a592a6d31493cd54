#include "model/lease/state.hpp"

#include "fsm/quorum/member_leases.hpp"
#include "fsm/quorum/renewal_vote.hpp"

#include <leasehold/clock.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>

namespace leasehold::test::lease_model {
namespace {

using result = fsm::renewal_vote::result;

constexpr auto u8 = [](auto value) { return static_cast<std::uint8_t>(value); };
constexpr auto bit = [](unsigned i) { return u8(1U << i); };
constexpr auto has = [](std::uint8_t of, unsigned i) { return (of >> i & 1) != 0; };
constexpr std::uint8_t all = bit(members) - 1;

constexpr fsm::quorum_size size{members, 2};

clock::time_point at(std::uint8_t tick)
{
    return clock::time_point(std::chrono::seconds(tick));
}

bool holds(const state& s) noexcept
{
    return s.now < s.deadline;
}

class walker
{
public:
    walker(const state& s, const setting& g, std::vector<step>& out) : from_(s), g_(g), out_(out)
    {
        out_.clear();
    }

    void walk()
    {
        if (!holds(from_)) // no promise can be broken any more
            return;
        if (from_.now < last_time)
            add("time passes", -1, [&](state& s) { return pass(s); });
        if (from_.began == 0 && holds(from_))
            add("a renewal begins", -1, [&](state& s) { return begin(s); });
        if (from_.pending != 0 || from_.creating != 0)
            add("the renewal waits no longer", -1, [&](state& s) { return wait_no_longer(s); });
        for (unsigned n = 0; n < members; ++n)
            steps_of(n);
    }

private:
    [[nodiscard]] bool wrong(mistake which) const noexcept { return g_.wrong == which; }

    template <class Change>
    void add(const char* what, int where, Change change)
    {
        step made{.to = from_, .what = what, .where = where};
        made.wrong = change(made.to);
        if (made.wrong == nullptr && holds(made.to) && others(made.to) >= size.majority())
            made.wrong = "two hold the lock";
        out_.push_back(made);
    }

    static unsigned others(const state& s)
    {
        return static_cast<unsigned>(std::count_if(s.nodes.begin(), s.nodes.end(),
                                                   [](const node& n) { return n.holder == 2; }));
    }

    void steps_of(unsigned n)
    {
        const node& here = from_.nodes[n];
        const int m = static_cast<int>(n);
        if (here.renews != 0)
            add("renews", m, [&](state& s) { return renew(s, n, true); });
        if (here.renews != 0 && from_.losses > 0)
            add("renews, and the answer is lost", m, [&](state& s) {
                --s.losses;
                return renew(s, n, false);
            });
        if (here.creates != 0)
            add("creates the lock", m, [&](state& s) { return create(s, n, true); });
        if (here.creates != 0 && from_.losses > 0)
            add("creates the lock, and the answer is lost", m, [&](state& s) {
                --s.losses;
                return create(s, n, false);
            });
        const bool any_down = std::any_of(from_.nodes.begin(), from_.nodes.end(),
                                          [](const node& each) { return each.down != 0; });
        if (!any_down && from_.failures > 0)
            add("cannot be reached", m, [&](state& s) {
                --s.failures;
                s.nodes[n].down = 1;
                return not_heard(s, bit(n));
            });
        if (here.down)
            add("can be reached again", m, [&](state& s) {
                s.nodes[n].down = 0;
                s.disturbed = s.began != 0;
                // A request that does not arrive has no other effect.
                s.nodes[n].renews = s.nodes[n].creates = 0;
                if (s.nodes[n].known == 0)
                    send_creation(s, n);
                return nullptr;
            });
        if (from_.forgets > 0)
            add("forgets all it has", m, [&](state& s) {
                --s.forgets;
                node& at_member = s.nodes[n];
                at_member.holder = at_member.until = 0;
                at_member.silent = wrong(mistake::no_silence) ? u8(0) : u8(s.now + lease_time);
                return nullptr;
            });
        if (here.holder == 0 && here.silent == 0)
            add("grants the lock to another owner", m, [&](state& s) {
                s.nodes[n].holder = 2;
                s.nodes[n].until = last_time;
                return nullptr;
            });
    }

    static const char* pass(state& s)
    {
        ++s.now;
        s.disturbed = s.began != 0;
        for (node& each : s.nodes) {
            if (each.silent < s.now)
                each.silent = 0;
            if (each.known <= s.now)
                each.known = 0;
            if (each.holder == 1 && each.until < s.now)
                each.holder = each.until = 0;
        }
        return nullptr;
    }

    const char* begin(state& s) const
    {
        s.began = u8(s.now + 1);
        s.has = s.lacks = s.free = s.creating = s.created = s.settled = s.disturbed = 0;
        for (unsigned n = 0; n < members; ++n) {
            if (s.nodes[n].down)
                continue;
            s.pending |= bit(n);
            s.nodes[n].renews = s.began;
        }
        return nullptr;
    }

    // As quorum_renew.lua.
    const char* renew(state& s, unsigned n, bool is_heard) const
    {
        node& here = s.nodes[n];
        const bool is_current = here.renews == s.began;
        here.renews = 0;
        if (here.holder == 1)
            here.until = std::max(here.until, u8(s.now + lease_time));
        if (here.down || !is_current || s.began == 0)
            return nullptr;
        if (!is_heard)
            return not_heard(s, bit(n));
        if (here.holder == 1) {
            s.has |= bit(n);
            here.known = std::max(here.known, u8(s.began - 1 + lease_time));
        }
        else {
            s.lacks |= bit(n);
            s.free |= here.holder == 0 ? bit(n) : u8(0);
            here.known = 0;
        }
        if (s.settled) { // the reply came too late to count
            if (has(s.free, n))
                send_creation(s, n);
            return nullptr;
        }
        s.pending &= u8(~bit(n));
        return go_on(s);
    }

    /// These members do not answer. If one of them can be reached, its reply was lost.
    const char* not_heard(state& s, std::uint8_t which) const
    {
        for (unsigned n = 0; n < members; ++n) {
            if (has(which & (s.pending | s.creating), n) && !s.nodes[n].down)
                s.disturbed = 1;
        }
        if (((s.pending | s.creating) & which) == 0)
            return nullptr;
        s.pending &= u8(~which);
        s.creating &= u8(~which);
        return go_on(s);
    }

    const char* wait_no_longer(state& s) const { return not_heard(s, all); }

    const char* go_on(state& s) const
    {
        if (s.began != 0 && s.pending == 0 && !s.settled)
            settle(s);
        return decide(s);
    }

    void settle(state& s) const
    {
        s.settled = 1;
        const bool counts = vote_of(s).decide(0) == result::failed;
        for (unsigned n = 0; s.has != 0 && n < members; ++n) {
            if (has(s.free, n) && send_creation(s, n) && counts &&
                !wrong(mistake::creation_not_counted))
                s.creating |= bit(n);
        }
    }

    [[nodiscard]] fsm::renewal_vote vote_of(const state& s) const
    {
        fsm::renewal_vote vote(size);
        for (unsigned n = 0; n < members; ++n) {
            if (has(s.has, n))
                vote.renewed();
            if (has(s.lacks, n))
                vote.gone();
            if (has(s.created, n))
                vote.created();
        }
        return vote;
    }

    const char* decide(state& s) const
    {
        if (s.began == 0)
            return nullptr;
        const unsigned pending = static_cast<unsigned>(__builtin_popcount(s.pending | s.creating));
        switch (vote_of(s).decide(pending)) {
        case result::open: return nullptr;
        case result::renewed:
            s.deadline = u8((wrong(mistake::deadline_from_answer) ? s.now : s.began - 1) +
                            lease_time);
            break;
        case result::gone:
            if (is_promised(s))
                return "the lease was lost although a majority lives";
            s.deadline = 0;
            return nullptr;
        case result::failed:
            if (is_promised(s))
                return "the renewal failed although a majority lives";
            break;
        }
        if (s.pending != 0 && !s.settled)
            settle(s); // the members that have answered; the others follow later
        s.began = s.pending = s.has = s.lacks = s.free = 0;
        s.creating = s.created = s.settled = s.disturbed = 0;
        return nullptr;
    }

    /// No member has lost its data or granted the lock to another owner, and all members that can
    /// be reached answered at once.
    [[nodiscard]] bool is_promised(const state& s) const
    {
        return g_.forgets == 0 && !s.disturbed && others(s) == 0;
    }

    bool send_creation(state& s, unsigned n) const
    {
        fsm::member_leases known(size);
        for (unsigned i = 0; i < members; ++i) {
            if (s.nodes[i].known != 0)
                known.confirmed(i, at(s.nodes[i].known));
        }
        node& to = s.nodes[n];
        if (to.down || known.limit() <= at(s.now))
            return false;
        to.creates = u8(s.now + 1);
        to.limit = u8(known.limit().time_since_epoch() / std::chrono::seconds(1));
        return true;
    }

    const char* create(state& s, unsigned n, bool is_heard) const
    {
        node& here = s.nodes[n];
        const std::uint8_t sent = u8(here.creates - 1);
        if (here.holder == 0 && s.now <= here.limit)
            here.holder = 1;
        here.creates = here.limit = 0;
        if (here.holder == 1)
            here.until = std::max(here.until, u8(s.now + lease_time));
        if (here.down || !holds(s))
            return nullptr;
        if (!is_heard)
            return not_heard(s, bit(n));
        if (here.holder == 1)
            here.known = std::max(here.known, u8(sent + lease_time));
        if (!has(s.creating, n))
            return nullptr;
        s.creating &= u8(~bit(n));
        s.created |= here.holder == 1 ? bit(n) : u8(0);
        return go_on(s);
    }

    const state& from_;
    const setting& g_;
    std::vector<step>& out_;
};

} // namespace

state canonical(const state& s, const setting&)
{
    constexpr std::array<std::array<unsigned, members>, 6> orders{
        {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
    const auto less = [](const state& a, const state& b) {
        return std::memcmp(&a, &b, sizeof a) < 0;
    };
    if (!holds(s))
        return {};
    state best = s;
    for (const auto& by : orders) {
        state other = s;
        for (const auto mask : {&state::pending, &state::has, &state::lacks, &state::free,
                                &state::creating, &state::created}) {
            other.*mask = 0;
            for (unsigned n = 0; n < members; ++n)
                other.*mask |= has(s.*mask, by[n]) ? bit(n) : u8(0);
        }
        for (unsigned n = 0; n < members; ++n)
            other.nodes[n] = s.nodes[by[n]];
        if (less(other, best))
            best = other;
    }
    return best;
}

/// Two members have granted the lock. The third could not be reached, or was not asked yet.
state first_state(const setting& g)
{
    state s{};
    s.deadline = lease_time;
    for (unsigned n = 0; n < 2; ++n) {
        s.nodes[n].holder = 1;
        s.nodes[n].until = lease_time;
        s.nodes[n].known = g.wrong == mistake::grant_not_remembered ? u8(0) : lease_time;
    }
    s.nodes[2].down = 1;
    s.failures = g.failures;
    s.forgets = g.forgets;
    s.losses = g.losses;
    return s;
}

void steps_from(const state& s, const setting& g, std::vector<step>& out)
{
    walker(s, g, out).walk();
}

} // namespace leasehold::test::lease_model
