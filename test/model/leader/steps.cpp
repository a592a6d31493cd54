#include "model/leader/state.hpp"

#include <utility>

namespace leasehold::test::leader_model {
namespace {

class walker
{
public:
    walker(const state& s, const setting& g, std::vector<step>& out) : from_(s), g_(g), out_(out)
    {
        out_.clear();
    }

    void walk()
    {
        const bool moves = from_.grant != place::none || from_.move != place::none;
        const bool believes = from_.belief.until() > from_.now;
        if (!believes && !moves) // no promise can be broken any more
            return;
        if (believes && (from_.gone != 0 || may_end(from_.with_key))) {
            add(
                "a leader ends the lease", [](state&) {},
                "another client has the lock, and the holder does not know");
            return;
        }
        if (from_.gone == 0 && may_end(from_.with_key))
            add("a leader ends the lease", [](state& s) { s.gone = 1; });
        if (from_.now.value < last_time)
            add("time passes", [](state& s) { s.now = s.now + moment{1}; });
        if (from_.term <= g_.elections)
            add("a new leader is elected", [](state& s) {
                ++s.term;
                for (counts* each : {&s.with_key, &s.without_key}) {
                    if (each->granted != 0)
                        each->kept[s.term] = s.now;
                }
            });
        member();
        if (!moves) {
            keep_alive();
            question();
        }
        new_lease();
        if (from_.reconnects < g_.reconnects)
            reconnect();
    }

private:
    /// The count of a leader has ended. It may have been deposed.
    [[nodiscard]] bool may_end(const counts& of) const
    {
        for (std::uint8_t term = of.granted; term <= from_.term; ++term) {
            if (of.kept[term] + moment{ttl} <= from_.now)
                return true;
        }
        return false;
    }

    void member()
    {
        if (from_.follows < from_.term)
            add("the member hears of a later leader", [](state& s) { ++s.follows; });
        if (from_.applied < from_.follows)
            add("the member applies an entry of a later term", [](state& s) { ++s.applied; });
    }

    void keep_alive()
    {
        if (from_.ping == place::none && from_.pinged.sent < from_.now)
            add("the client sends a keep-alive", [&](state& s) {
                s.ping = place::sent;
                s.pinged = s.belief.sending(s.now);
                if (g_.wrong == mistake::asked_too_early)
                    s.belief.kept(s.pinged);
            });
        if (from_.ping == place::sent)
            add("a leader answers the keep-alive", [](state& s) {
                s.ping = place::executed;
                if (s.strayed == 0 && s.follows >= s.with_key.granted)
                    s.with_key.kept[s.follows] = s.now;
            });
        if (from_.ping == place::executed)
            add("the client gets the answer to its keep-alive", [&](state& s) {
                s.ping = place::none;
                lease::keep_alive counted = s.pinged;
                if (g_.wrong == mistake::counted_from_answer)
                    counted.sent = s.now;
                s.belief.kept(counted);
                if (g_.wrong == mistake::not_confirmed_after)
                    s.belief.answered(counted, counted.before);
            });
    }

    void question()
    {
        // The client sends one request after the other, unless it breaks the rule.
        if (from_.question == place::none &&
            (from_.ping == place::none || g_.wrong == mistake::asked_too_early))
            add("the client asks", [](state& s) {
                s.question = place::sent;
                s.asked = s.belief.asking();
            });
        if (from_.question == place::sent && from_.follows == from_.term)
            add("a majority confirms the leader", [](state& s) {
                s.question = place::confirmed;
                s.least_term = s.term;
            });
        if (from_.question == place::confirmed && from_.applied >= from_.least_term)
            add("the member answers", [](state& s) {
                s.question = place::executed;
                s.least_term = 0;
                s.reply = {s.member, s.applied};
            });
        if (from_.question == place::executed)
            add("the client gets the reply", [&](state& s) {
                s.question = place::none;
                const mark at = std::exchange(s.reply, {});
                lease::keep_alive of = std::exchange(s.asked, {});
                if (g_.wrong == mistake::not_confirmed_before && of.sent.value != 0)
                    of.before = at;
                else if (g_.wrong == mistake::other_member && of.before != mark())
                    of.before.member = at.member;
                const bool counts_later = g_.wrong == mistake::kept_in_later_term &&
                                          of.before != mark() && of.before == at &&
                                          s.belief.until() < of.sent + moment{ttl};
                if (counts_later)
                    s.belief = lease(of.sent, {ttl}, at, at);
                else
                    s.belief.answered(of, at);
            });
    }

    void new_lease()
    {
        const bool idle = from_.ping == place::none && from_.question == place::none;
        if (idle && from_.grant == place::none && from_.move == place::none &&
            from_.belief.is_outdated() && g_.wrong != mistake::kept_in_later_term)
            add("the client requests a new lease", [](state& s) {
                s.grant = place::sent;
                s.grant_sent = s.now;
                s.grant_before = s.belief.last();
            });
        if (from_.grant == place::sent && from_.follows == from_.term)
            add("a majority confirms the new lease", [](state& s) {
                s.grant = place::confirmed;
                s.least_term = s.term;
                s.without_key.granted = s.term;
                s.without_key.kept[s.term] = s.now;
            });
        if (from_.grant == place::confirmed && from_.applied >= from_.least_term)
            add("the member answers with the new lease", [](state& s) {
                s.grant = place::executed;
                s.least_term = 0;
                s.reply = {s.member, s.applied};
            });
        if (from_.grant == place::executed)
            add("the client gets the new lease", [&](state& s) {
                s.grant = place::none;
                const mark at = std::exchange(s.reply, {});
                mark before = std::exchange(s.grant_before, {});
                if (g_.wrong == mistake::granted_in_election)
                    before = at;
                s.next = lease(std::exchange(s.grant_sent, {}), {ttl}, before, at);
                s.move = place::sent;
                if (g_.wrong == mistake::not_moved_yet)
                    s.belief = s.next;
            });
        if (from_.move == place::sent && from_.follows == from_.term)
            add("a majority confirms the move", [](state& s) {
                s.move = place::executed;
                s.with_key = std::exchange(s.without_key, {});
                s.gone = s.gone == 0 ? 0 : 2;
            });
        if (from_.move == place::executed)
            add("the client gets the reply to its move", [&](state& s) {
                s.move = place::none;
                s.belief = std::exchange(s.next, {});
                s.strayed = 0;
                if (s.gone == 2 && g_.wrong != mistake::not_moved)
                    s.belief = {}; // the lock is lost
            });
    }

    /// In the worst case, the new member knows less than the old one.
    void reconnect()
    {
        for (std::uint8_t follows = 1; follows <= from_.term; ++follows)
            for (std::uint8_t applied = 1; applied <= follows; ++applied)
                add("the client connects to another member", [&](state& s) {
                    s.strayed = s.move == place::executed ? 1 : s.strayed;
                    s.ping = s.question = s.grant = s.move = place::none;
                    s.grant_sent = {};
                    s.grant_before = {};
                    s.next = {};
                    s.without_key = {};
                    s.asked = {};
                    s.reply = {};
                    s.least_term = 0;
                    ++s.member;
                    ++s.reconnects;
                    s.follows = follows;
                    s.applied = applied;
                    if (g_.wrong != mistake::other_member)
                        s.belief.reconnected();
                });
    }

    template <class Change>
    void add(const char* what, Change change, const char* wrong = nullptr)
    {
        step made{from_, what, wrong};
        change(made.to);
        out_.push_back(made);
    }

    const state from_;
    const setting g_;
    std::vector<step>& out_;
};

} // namespace

state first_state(const setting&)
{
    state s{};
    s.member = s.follows = s.applied = s.term = 1;
    s.belief = lease({}, {ttl}, {1, 1}, {1, 1});
    s.with_key.granted = 1;
    return s;
}

void steps_from(const state& s, const setting& g, std::vector<step>& out)
{
    walker(s, g, out).walk();
}

} // namespace leasehold::test::leader_model
