#include "model/quorum/state.hpp"

#include "fsm/quorum/acquire_vote.hpp"
#include "fsm/quorum/rejoin.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace leasehold::test::quorum_model {
namespace {

using fsm::acquire_vote;
using fsm::rejoin;
using action = acquire_vote::action;
using answer = acquire_vote::answer;
using phase = client::phase;

constexpr auto u8 = [](auto value) { return static_cast<std::uint8_t>(value); };
constexpr auto bit = [](unsigned i) { return u8(1U << i); };
constexpr auto has = [](std::uint8_t of, unsigned i) { return (of >> i & 1) != 0; };

class walker
{
public:
    walker(const state& s, const setting& g, std::vector<step>& out) : from_(s), g_(g), out_(out)
    {
        out_.clear();
    }

    void all()
    {
        for (unsigned c = 0; c < clients; ++c)
            steps_of_client(c);
        for (unsigned o = 0; o < owners; ++o)
            steps_of_request(o);
        for (unsigned n = 0; n < members; ++n)
            steps_of_node(n);
        steps_of_assembler();
    }

private:
    [[nodiscard]] bool wrong(mistake which) const noexcept { return g_.wrong == which; }

    [[nodiscard]] fsm::quorum_size size() const noexcept
    {
        return {members, wrong(mistake::minority_grants) ? 1U : 2U};
    }

    static unsigned owner_of(const state& s, unsigned c) noexcept
    {
        return c * attempts + s.who[c].attempt;
    }

    template <class Change>
    void add(const char* what, int who, int where, Change change)
    {
        step made{.to = from_, .what = what, .who = who, .where = where};
        made.wrong = change(made.to);
        out_.push_back(made);
    }

    // The vote of an acquire with the present replies, as the library counts it.
    acquire_vote vote_of(const state& s, unsigned c) const
    {
        const client& me = s.who[c];
        const request& asked = s.asked[owner_of(s, c)];
        acquire_vote made(size(), asked.first, 1);
        for (unsigned n = 0; n < members; ++n)
            made.ask(n);
        const std::uint64_t largest = me.round == 2 ? asked.second - 1U : me.seen;
        for (unsigned n = 0; n < members; ++n) {
            if (me.first[n] != 0)
                static_cast<void>(
                    made.answered(n, 1, static_cast<answer>(me.first[n] - 1), largest));
        }
        if (me.round == 2 && made.round() == 1)
            static_cast<void>(made.late());
        for (unsigned n = 0; me.round == 2 && n < members; ++n) {
            if (me.second[n] != 0)
                static_cast<void>(
                    made.answered(n, 2, static_cast<answer>(me.second[n] - 1), largest));
        }
        return made;
    }

    void steps_of_client(unsigned c)
    {
        const client& me = from_.who[c];
        if (me.at == phase::idle)
            add("sends to all members", int(c), -1, [&](state& s) { return begin(s, c); });
        if (me.at == phase::voting) {
            add("stops waiting", int(c), -1, [&](state& s) {
                acquire_vote vote = vote_of(s, c);
                return perform(s, c, vote, vote.late());
            });
            add("gives up", int(c), -1, [&](state& s) { return end(s, c); });
        }
        if (me.at == phase::holding)
            add("releases", int(c), -1, [&](state& s) { return end(s, c); });
        // The knowledge of other clients spreads.
        for (unsigned n = 0; n < members; ++n) {
            if (me.at == phase::idle && from_.nodes[n].is_member && from_.nodes[n].epoch > me.epoch)
                add("learns of a later epoch", int(c), int(n), [&](state& s) {
                    s.who[c].epoch = s.nodes[n].epoch;
                    return nullptr;
                });
        }
    }

    const char* begin(state& s, unsigned c)
    {
        client& me = s.who[c];
        request& mine = s.asked[owner_of(s, c)];
        me.at = phase::voting;
        me.round = 1;
        me.first = {};
        me.second = {};
        me.counted = 0;
        mine.epoch = me.epoch;
        mine.first = u8(me.seen + 1);
        mine.above = s.known;
        mine.pending = bit(members) - 1;
        return nullptr;
    }

    const char* end(state& s, unsigned c)
    {
        client& me = s.who[c];
        s.asked[owner_of(s, c)].given_up = 1;
        me.round = 0;
        me.first = {};
        me.second = {};
        me.counted = 0;
        me.at = me.attempt + 1U < g_.acquires[c] ? phase::idle : phase::finished;
        if (me.at == phase::idle)
            ++me.attempt;
        return nullptr;
    }

    const char* perform(state& s, unsigned c, const acquire_vote& vote, action next)
    {
        client& me = s.who[c];
        request& mine = s.asked[owner_of(s, c)];
        switch (next) {
        case action::wait: return nullptr;
        case action::failed: return end(s, c);
        case action::granted: return granted(s, c, u8(vote.offer()));
        case action::raise: break;
        }
        if (wrong(mistake::largest_is_taken))
            return granted(s, c, u8(vote.offer()));
        if (wrong(mistake::each_counts))
            return granted(s, c, me.counted);
        me.round = 2;
        mine.second = u8(vote.offer());
        for (unsigned n = 0; n < members; ++n) {
            if (vote.is_asked(n))
                mine.pending |= bit(members + n);
        }
        return nullptr;
    }

    const char* granted(state& s, unsigned c, std::uint8_t fence)
    {
        const unsigned o = owner_of(s, c);
        client& me = s.who[c];
        request& mine = s.asked[o];
        // The lease counts from before the first request was sent.
        if (g_.timed && mine.over && !wrong(mistake::deadline_from_reply))
            return end(s, c);
        for (const request& each : s.asked) {
            if (each.fence == fence)
                return "a fence was given out twice";
        }
        if (fence <= mine.above)
            return "a fence is not larger than one that was known before";
        mine.fence = fence;
        me.at = phase::holding;
        me.round = 0;
        me.first = {};
        me.second = {};
        me.seen = std::max(me.seen, fence);
        s.known = std::max(s.known, fence);
        for (unsigned other = 0; g_.timed && other < clients; ++other) {
            if (other != c && believes(s, other))
                return "two hold the lock";
        }
        return nullptr;
    }

    [[nodiscard]] bool believes(const state& s, unsigned c) const
    {
        const request& mine = s.asked[owner_of(s, c)];
        return s.who[c].at == phase::holding &&
               !(wrong(mistake::deadline_from_reply) ? mine.late_over : mine.over);
    }

    void steps_of_request(unsigned o)
    {
        const request& r = from_.asked[o];
        for (unsigned round = 1; round <= 2; ++round) {
            for (unsigned n = 0; n < members; ++n) {
                const unsigned place = (round - 1) * members + n;
                if (!has(r.pending, place))
                    continue;
                add(round == 1 ? "is asked" : "is asked again", int(o), int(n),
                    [&](state& s) { return run(s, o, n, round, true); });
                add(round == 1 ? "is asked, and the answer is lost"
                               : "is asked again, and the answer is lost",
                    int(o), int(n), [&](state& s) { return run(s, o, n, round, false); });
            }
        }
        if (g_.timed && r.first != 0 && !r.over)
            add("its lease time has passed", int(o), -1, [&](state& s) {
                s.asked[o].over = 1;
                return nullptr;
            });
        if (wrong(mistake::deadline_from_reply) && r.fence != 0 && r.over && !r.late_over)
            add("assumes that its lease time has passed", int(o), -1, [&](state& s) {
                s.asked[o].late_over = 1;
                return nullptr;
            });
    }

    // As quorum_acquire.lua.
    answer at_node(state& s, unsigned o, unsigned n, unsigned round) const
    {
        const request& r = s.asked[o];
        node& at = s.nodes[n];
        if (!at.is_member && !wrong(mistake::blank_servers_grant))
            return answer::refused;
        if (g_.timed && !wrong(mistake::no_silence)) {
            for (unsigned other = 0; other < owners; ++other) {
                if (has(at.waits, other) && !s.asked[other].over)
                    return answer::refused;
            }
        }
        at.waits = 0;
        if (r.epoch < at.epoch && !wrong(mistake::older_epochs_served))
            return answer::refused;
        const bool ours = at.holder == o + 1;
        const bool only_ours = round == 2 && !wrong(mistake::raised_for_others);
        if (!ours && (only_ours || (at.holder != 0 && !wrong(mistake::holds_not_looked_at) &&
                                    !(round == 2 && wrong(mistake::raised_for_others)))))
            return answer::held;
        at.epoch = std::max(at.epoch, r.epoch);
        if (!(round == 2 && wrong(mistake::raised_for_others)))
            at.holder = u8(o + 1);
        const std::uint8_t last = std::max(at.largest, at.floor);
        if (wrong(mistake::each_counts)) {
            at.largest = u8(last + 1);
            return answer::outbid;
        }
        const std::uint8_t offer = round == 1 ? r.first : r.second;
        if (offer > last || (offer == last && wrong(mistake::equal_is_accepted))) {
            at.largest = offer;
            return answer::accepted;
        }
        return answer::outbid;
    }

    const char* run(state& s, unsigned o, unsigned n, unsigned round, bool told)
    {
        const unsigned c = o / attempts;
        request& r = s.asked[o];
        r.pending &= u8(~bit((round - 1) * members + n));
        const answer said = at_node(s, o, n, round);
        client& me = s.who[c];
        const bool current = owner_of(s, c) == o || wrong(mistake::earlier_answers);
        if (told && (said == answer::accepted || said == answer::outbid || said == answer::held)) {
            const node& at = s.nodes[n];
            me.seen = std::max(me.seen, std::max(at.largest, at.floor));
            if (said == answer::outbid)
                me.counted = std::max(me.counted, at.largest);
        }
        if (told && said == answer::refused && s.nodes[n].is_member)
            me.epoch = std::max(me.epoch, s.nodes[n].epoch);
        if (!current || me.at != phase::voting || round != me.round)
            return nullptr;
        auto& answers = round == 1 ? me.first : me.second;
        if (answers[n] != 0)
            return nullptr;
        acquire_vote vote = vote_of(s, c);
        const answer heard = told ? said : answer::unknown;
        answers[n] = u8(static_cast<unsigned>(heard) + 1);
        return perform(s, c, vote, vote.answered(n, round, heard, told ? s.who[c].seen : 0));
    }

    void steps_of_node(unsigned n)
    {
        const node& at = from_.nodes[n];
        if (at.holder != 0) {
            const request& r = from_.asked[at.holder - 1U];
            const unsigned c = (at.holder - 1U) / attempts;
            const bool ended = r.given_up || owner_of(from_, c) != at.holder - 1U;
            if (!g_.timed || r.over || ended)
                add("forgets the holder of the lock", -1, int(n), [&](state& s) {
                    s.nodes[n].holder = 0;
                    return nullptr;
                });
        }
        if (from_.forgets > 0)
            add("loses all data", -1, int(n), [&](state& s) {
                --s.forgets;
                become_blank(s, n, true);
                return nullptr;
            });
        if (from_.restarts > 0)
            add("restarts", -1, int(n), [&](state& s) {
                --s.restarts;
                become_blank(s, n, false);
                return nullptr;
            });
        if (from_.seeds[n].pending != 0) {
            add("is made a member", -1, int(n), [&](state& s) {
                take_seed(s, n);
                return nullptr;
            });
        }
    }

    void become_blank(state& s, unsigned n, bool forgets) const
    {
        node& at = s.nodes[n];
        // All requested locks may have been granted and have not ended.
        std::uint8_t waits = 0;
        for (unsigned o = 0; g_.timed && o < owners; ++o) {
            if (s.asked[o].first != 0 && !s.asked[o].over)
                waits |= bit(o);
        }
        if (forgets)
            at = {};
        at.is_member = 0;
        at.waits = waits;
        at.nonce = ++s.nonces;
    }

    // As quorum_seed.lua.
    void take_seed(state& s, unsigned n) const
    {
        const seed given = s.seeds[n];
        s.seeds[n] = {};
        node& at = s.nodes[n];
        if (at.is_member || (given.nonce != at.nonce && !wrong(mistake::nonce_ignored)))
            return;
        at.is_member = 1;
        at.epoch = std::max(at.epoch, given.epoch);
        at.floor = std::max({at.floor, at.largest, given.floor});
        at.began = given.began;
    }

    [[nodiscard]] rejoin rejoin_of(const state& s) const
    {
        const assembler& a = s.maker;
        std::array<fsm::member_view, members> views{};
        for (unsigned n = 0; n < members; ++n) {
            views[n].reachable = has(a.looked, n);
            views[n].is_member = a.member[n] != 0;
            views[n].epoch = a.epoch[n];
            views[n].largest = a.largest[n];
            views[n].nonce = a.nonce[n];
            views[n].began = wrong(mistake::beginning_ignored)
                                 ? std::accumulate(a.nonce.begin(), a.nonce.end(), 0U)
                                 : a.began[n];
        }
        rejoin made({members, 2}, views);
        for (unsigned n = 0; n < members; ++n) {
            if (!has(a.answered, n))
                continue;
            if (made.next() == rejoin::step::adopt)
                made.adopted(n, a.floor, {});
            else {
                fsm::member_view again = views[n];
                again.largest = a.floor;
                made.confirmed(n, again);
            }
        }
        return made;
    }

    void steps_of_assembler()
    {
        const assembler& a = from_.maker;
        const bool blank_servers = std::any_of(from_.nodes.begin(), from_.nodes.end(),
                                               [](const node& each) { return !each.is_member; });
        if (a.at == 0 && blank_servers)
            add("a client reads the members", -1, -1, [&](state& s) {
                s.maker.at = 1;
                // If all members are blank in turn, more is required.
                for (unsigned n = 0; n < members && !g_.anew; ++n)
                    inspect(s, n);
                return nullptr;
            });
        if (a.at == 2 || (a.at == 1 && a.looked == bit(members) - 1))
            add("no client continues making members", -1, -1, [&](state& s) {
                s.maker = {};
                return nullptr;
            });
        for (unsigned n = 0; n < members; ++n) {
            if (a.at == 1 && !has(a.looked, n))
                add("is read", -1, int(n), [&](state& s) {
                    inspect(s, n);
                    return nullptr;
                });
            if (a.at == 2 && !has(a.answered, n))
                add("is read by the client that makes members", -1, int(n), [&](state& s) {
                    ask(s, n);
                    return nullptr;
                });
        }
        if (a.at == 1 && a.looked != 0) {
            const rejoin::step next = rejoin_of(from_).next();
            if (next == rejoin::step::finish)
                add("the other blank servers become members, too", -1, -1, [&](state& s) {
                    send_seeds(s, false);
                    return nullptr;
                });
            // No member has lost its data.
            if (next == rejoin::step::stuck && a.looked == bit(members) - 1 && !can_forget())
                add("cannot be made members", -1, -1,
                    [](state&) { return "the members are stuck"; });
            if (next == rejoin::step::adopt || next == rejoin::step::confirm)
                add("all were read", -1, -1, [&](state& s) {
                    s.maker.at = 2;
                    if (next == rejoin::step::confirm && wrong(mistake::one_poll_is_enough))
                        send_seeds(s, true);
                    return nullptr;
                });
        }
        if (a.at == 2 && rejoin_of(from_).ready())
            add("blank servers become members", -1, -1, [&](state& s) {
                send_seeds(s, false);
                return nullptr;
            });
    }

    [[nodiscard]] bool can_forget() const noexcept { return g_.forgets != 0 || g_.restarts != 0; }

    void inspect(state& s, unsigned n) const
    {
        const node& at = s.nodes[n];
        assembler& a = s.maker;
        a.looked |= bit(n);
        a.member[n] = at.is_member;
        a.epoch[n] = at.epoch;
        // The value of a member counts only if the others may have begun again with it.
        const bool counts = !at.is_member || at.began != 0 || wrong(mistake::beginning_ignored);
        a.nonce[n] = counts ? at.nonce : std::uint8_t{0};
        a.largest[n] = counts ? std::max(at.largest, at.floor) : std::uint8_t{0};
        a.began[n] = at.is_member ? at.began : std::uint8_t{0};
    }

    // As quorum_adopt.lua, or as a second read.
    void ask(state& s, unsigned n) const
    {
        assembler& a = s.maker;
        node& at = s.nodes[n];
        const rejoin r = rejoin_of(s);
        if (r.next() == rejoin::step::adopt) {
            if (!at.is_member || r.is_blank(n))
                return;
            if (!wrong(mistake::no_epoch))
                at.epoch = std::max(at.epoch, u8(r.epoch()));
        }
        else if (at.is_member || at.nonce != a.nonce[n]) {
            return;
        }
        a.answered |= bit(n);
        a.floor = std::max({a.floor, at.largest, at.floor});
    }

    void send_seeds(state& s, bool at_once) const
    {
        const rejoin r = rejoin_of(s);
        const std::uint64_t began = wrong(mistake::beginning_not_kept) ? 0 : r.beginning();
        for (unsigned n = 0; n < members; ++n) {
            if (!r.is_blank(n) || s.seeds[n].pending != 0)
                continue;
            s.seeds[n] = {.pending = 1,
                          .nonce = u8(r.nonce(n)),
                          .epoch = u8(wrong(mistake::no_epoch) ? r.epoch() - 1 : r.epoch()),
                          .floor = u8(wrong(mistake::nothing_read) || at_once ? 0 : r.floor()),
                          .began = u8(began)};
        }
        s.maker = {};
    }

    const state& from_;
    const setting& g_;
    std::vector<step>& out_;
};

} // namespace

state first_state(const setting& g)
{
    state s{};
    for (unsigned n = 0; n < members; ++n) {
        s.nodes[n].is_member = g.anew ? 0 : 1;
        s.nodes[n].epoch = g.anew ? 0 : 1;
        if (g.anew)
            s.nodes[n].nonce = ++s.nonces;
    }
    for (client& each : s.who)
        each.epoch = 1;
    s.forgets = g.forgets;
    s.restarts = g.restarts;
    return s;
}

void steps_from(const state& s, const setting& g, std::vector<step>& out)
{
    walker(s, g, out).all();
}

} // namespace leasehold::test::quorum_model
