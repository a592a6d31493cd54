#include "model/timeline.hpp"

#include <array>
#include <cstdio>

namespace leasehold::test::model {
namespace {

std::string client_name(int i)
{
    return std::string(1, static_cast<char>('A' + i));
}

/// The third owner of client B is B3.
std::string name_of(owner o)
{
    if (o == no_owner)
        return "nobody";
    if (o == external_owner)
        return "external";
    return client_name(client_of(o)) + std::to_string(number_of(o) + 1);
}

std::string fence_name(fence f)
{
    return f >= clock_fence ? "t+" + std::to_string(f - clock_fence) : std::to_string(f);
}

const char* name_of(message::type kind)
{
    using type = message::type;
    switch (kind) {
    case type::none: break;
    case type::set: return "SET NX";
    case type::incr_granted: return "INCRBY (SET took it)";
    case type::incr_own: return "INCRBY (SET found its own)";
    case type::incr_held: return "INCRBY (SET found another's)";
    case type::acquire: return "acquire";
    case type::release: return "release";
    case type::renew: return "renew";
    case type::reenter: return "enter";
    case type::hello: return "CLIENT KILL";
    case type::raise: return "raise";
    case type::redraw_raise: return "raise, to draw again";
    case type::redraw_incr: return "draw again";
    case type::draw_elsewhere: return "draw for another name";
    case type::short_granted: return "\"taken\"";
    case type::short_own: return "\"its own\"";
    case type::short_held: return "\"another's\"";
    case type::short_refused: return "\"taken, but no fence\"";
    case type::granted: return "\"granted\"";
    case type::held: return "\"held\"";
    case type::refused_late: return "\"too late\"";
    case type::left: return "\"left\"";
    case type::left_in_queue: return "\"left, next in the queue\"";
    case type::left_granted: return "\"left, next granted\"";
    case type::left_others_in: return "\"left, others in\"";
    case type::not_in: return "\"not in\"";
    case type::renewed: return "\"renewed\"";
    case type::gone: return "\"gone\"";
    case type::reentered: return "\"entered\"";
    case type::not_reentered: return "\"not entered\"";
    case type::redrawn: return "\"drawn again\"";
    case type::drawn_elsewhere: return "\"drawn for another name\"";
    case type::turn: return "notification";
    }
    return "";
}

std::string text_of(const message& m)
{
    std::string out = name_of(m.what);
    out += " of " + name_of(m.who);
    if (m.fence != 0)
        out += " fence " + fence_name(m.fence);
    constexpr std::array<std::pair<message::bit, const char*>, 7> bits{{
        {message::joins, "and join"},
        {message::second, "entry"},
        {message::once, "try"},
        {message::orphan, "unheard"},
        {message::over, "past its limit"},
        {message::passed, "past its deadline"},
        {message::stale, "of lost data"},
    }};
    for (const auto& [bit, text] : bits)
        if (m.has(bit))
            out += std::string(", ") + text;
    return out;
}

std::string text_of(const step& by)
{
    using type = step::type;
    const std::string who = client_name(by.client);
    switch (by.what) {
    case type::start_short: return who + " starts, by the short way";
    case type::start_long: return who + " starts, in the queue";
    case type::try_short: return who + " tries, by the short way";
    case type::try_long: return who + " tries, by the long way";
    case type::poll: return who + " polls";
    case type::leave: return who + " leaves";
    case type::leave_and_join: return who + " leaves and joins again";
    case type::leave_alone: return who + " leaves, and is to ask again";
    case type::renew: return who + " renews";
    case type::hand_on: return who + " hands over locally";
    case type::reenter: return who + " enters again";
    case type::leave_entry: return who + " leaves its entry";
    case type::reconnect: return who + " connects again";
    case type::listen: return who + " listens again";
    case type::release_owed: return who + " releases " + name_of(by.about.who) + " once more";
    case type::run: return "server: " + text_of(by.about);
    case type::run_leaving_free:
        return "server: " + text_of(by.about) + ", and the lock is left free";
    case type::never_runs: return "never runs: " + text_of(by.about);
    case type::limit_passed: return "its limit passes: " + text_of(by.about);
    case type::deliver: return who + " reads " + text_of(by.about);
    case type::expire: return "the key of " + name_of(by.client) + " expires";
    case type::presence_over: return "presence of " + name_of(by.client) + " is over";
    case type::queue_over: return "the queue expires";
    case type::entries_over: return "the entries of " + name_of(by.client) + " expire";
    case type::turn_over: return "the time of external clients has passed";
    case type::external_takes: return "external: SET NX";
    case type::external_leaves: return "external: compare and delete";
    case type::cancel: return who + " is cancelled";
    case type::elsewhere: return who + " wants a fence for another name";
    case type::snapshot: return "the server saves a snapshot";
    case type::crash: return "! " + who + " dies";
    case type::crash_unnoticed: return "! " + who + " dies unnoticed";
    case type::disconnect: return "! " + who + " loses its connection";
    case type::deafen: return "! " + who + " loses its notifications";
    case type::turn_lost: return "! lost: " + text_of(by.about);
    case type::turn_doubled: return "! doubled: " + text_of(by.about);
    case type::key_lost: return "! the key of " + name_of(by.client) + " expires, and its deadline";
    case type::presence_lost: return "! presence of " + name_of(by.client) + " is over";
    case type::too_late: return "! its limit passes: " + text_of(by.about);
    case type::fence_refused: return "! refused: " + text_of(by.about);
    case type::flush: return "! FLUSHALL";
    case type::restart: return "! restart with the snapshot";
    case type::external_crash: return "! external: dies";
    }
    return "";
}

std::string text_of(const keys& data)
{
    std::string out = name_of(data.lock);
    if (data.lock != no_owner && !data.has(keys::whole_lease))
        out += " claim";
    if (data.has(keys::waited_for))
        out += " w";
    if (data.has(keys::reentered))
        out += " e";
    if (data.has(keys::left_free))
        out += " left free";
    out += " counter " + fence_name(data.counter) + " queue";
    for (const std::uint8_t each : data.queue) {
        out += " " + name_of(each & byte(~keys::absent));
        if ((each & keys::absent) != 0)
            out += "?";
    }
    return out;
}

std::string text_of(const client& c)
{
    constexpr std::array phases{"idle",    "sending", "in the queue",
                                "pausing", "holding", "releasing"};
    std::string out = phases[static_cast<std::size_t>(c.phase())];
    if (c.has(client::dead))
        return "dead";
    if (c.has(client::believes))
        out += " valid " + fence_name(c.last);
    if (c.entry == client::inner::in)
        out += " entry";
    if (c.has(client::cancelled))
        out += " cancelled";
    if (!c.has(client::connected))
        out += " offline";
    return out;
}

std::string text_of(const state& s, const setting& g)
{
    std::string out = text_of(s.data);
    for (int i = 0; i < g.clients; ++i)
        out += " | " + client_name(i) + " " + text_of(s.at(i));
    return out;
}

} // namespace

std::string timeline(const setting& g, const outcome& found)
{
    constexpr std::size_t width = 56;
    std::string out;
    int number = 0;
    const auto line = [&](const std::string& text, const state& after) {
        std::array<char, 8> count{};
        std::snprintf(count.data(), count.size(), "%4d  ", number++);
        out += count.data() + text;
        out.append(text.size() < width ? width - text.size() : 1, ' ');
        out += text_of(after, g) + "\n";
    };
    line("begin", first_state(g));
    for (const successor& each : found.path)
        line(text_of(each.by), each.to);
    return out + "      " + found.what + "\n";
}

} // namespace leasehold::test::model
