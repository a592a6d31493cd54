#include "model/session/state.hpp"

#include <utility>

namespace leasehold::test::session_model {
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
        if (from_.belief.until() <= from_.now) // no promise can be broken any more
            return;
        if (from_.heard + moment{timeout} <= from_.now) {
            add(
                "the leader ends the session", [](state&) {},
                "another client has the lock, and the holder does not know");
            return;
        }
        if (from_.now.value < last_time)
            add("time passes", [&](state& s) {
                s.now = s.now + moment{1};
                if (s.now.value % half_tick == g_.phase)
                    ++(s.reply == message::none ? s.pings_before : s.pings_after);
            });
        pings();
        requests();
        follower();
        leader();
    }

private:
    void pings()
    {
        const bool connects = from_.request == message::connection ||
                              from_.reply == message::connection;
        if (from_.ping == 0 && from_.pinged < from_.now && !connects)
            add("the client pings", [](state& s) {
                s.ping = 1;
                s.pinged = s.now;
            });
        if (from_.ping == 1)
            add("the follower answers the ping", [](state& s) {
                s.ping = 2;
                s.touched = 1;
            });
        if (from_.ping == 2)
            add("the client gets the answer to its ping", [&](state& s) {
                s.ping = 0;
                if (g_.wrong == mistake::pings_believed)
                    s.belief.answered({{}, s.pinged}, true);
                const bool late = g_.wrong == mistake::counted_from_answer;
                s.belief.pinged(late ? s.now : s.pinged, s.now);
            });
    }

    void requests()
    {
        if (from_.reconnects < g_.reconnects)
            add("the client connects to another follower", [](state& s) {
                // In the worst case, the pings that the old follower passed on are lost.
                s.ping = s.touched = s.touches_before = s.touches_after = 0;
                s.pings_before = s.pings_after = 0;
                s.request = message::connection;
                s.reply = message::none;
                s.proof = {};
                s.sent = s.now;
                ++s.reconnects;
            });
        if (from_.request != message::none || from_.reply != message::none)
            return;
        for (const message each : {message::question, message::write})
            add(each == message::write ? "the client writes" : "the client asks the leader",
                [&](state& s) {
                    s.request = each;
                    s.proof = s.belief.sending(s.now);
                    s.sent = s.now;
                });
    }

    void follower()
    {
        if (from_.pings_before > 0) {
            add("the follower answers the leader's ping", [](state& s) {
                --s.pings_before;
                if (std::exchange(s.touched, std::uint8_t{0}) != 0)
                    ++(s.request == message::none ? s.touches_before : s.touches_after);
            });
        }
        else if (from_.reply != message::none) {
            add("the client gets the reply", [&](state& s) {
                const message said = std::exchange(s.reply, message::none);
                const bool write = said == message::write;
                s.pings_before = std::exchange(s.pings_after, std::uint8_t{0});
                if (g_.wrong == mistake::counted_from_write)
                    s.proof.reached = s.sent;
                else if (g_.wrong == mistake::one_step)
                    s.proof.reached = s.proof.passed_on;
                if (said == message::connection)
                    s.belief.reconnected(s.sent);
                else
                    s.belief.answered(std::exchange(s.proof, {}), write);
                s.sent = {};
            });
        }
    }

    void leader()
    {
        if (from_.touches_before > 0) {
            add("the leader hears of the session", [](state& s) {
                --s.touches_before;
                s.heard = s.now;
            });
        }
        else if (from_.request != message::none) {
            add("the leader executes the request", [](state& s) {
                s.reply = std::exchange(s.request, message::none);
                if (s.reply == message::connection)
                    s.heard = s.now;
                s.touches_before = std::exchange(s.touches_after, std::uint8_t{0});
            });
        }
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

state first_state(const setting& g)
{
    state s{};
    s.belief = lease({}, {timeout}, {g.wrong == mistake::no_delay ? std::uint8_t{0} : half_tick});
    return s;
}

void steps_from(const state& s, const setting& g, std::vector<step>& out)
{
    walker(s, g, out).walk();
}

} // namespace leasehold::test::session_model
