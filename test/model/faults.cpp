#include "model/faults.hpp"

#include "model/client.hpp"
#include "model/standing.hpp"

#include <algorithm>
#include <span>

namespace leasehold::test::model {
namespace {

using type = message::type;
using phase = fsm::queued_contention::state;

std::span<message> on_the_way(state& s)
{
    return {s.on_the_way.data(), s.messages};
}

/// The owner to which a request or its reply grants the lock, or none.
owner grants(const message& m) noexcept
{
    switch (m.what) {
    case type::incr_granted:
    case type::incr_own:
    case type::short_granted:
    case type::short_own:
    case type::short_refused:
    case type::granted:
    case type::reentered:
    case type::renewed: return m.who;
    case type::left_granted: return byte(m.who + 1);
    default: return no_owner;
    }
}

void mark(message& m, int bits) noexcept
{
    m.bits |= byte(bits);
}

/// The data is replaced.
void lose(state& s, const keys& instead)
{
    s.data = instead;
    s.order.clear();
    for (const std::uint8_t each : instead.queue)
        s.order.push_back(each & byte(~keys::absent));
    s.open = 1;
    s.disturbed = 0xffff;
    for (int i = 0; i < most_clients; ++i) {
        client& c = s.at(i);
        const bool holds = c.phase() == phase::holding || c.under_way == client::task::redraw;
        if (holds && s.data.lock != owner_of(i, c.asking()))
            c.set(client::stale);
        if (c.entry == client::inner::in && s.data.lock != owner_of(i, c.entry_number))
            c.entry = client::inner::in_expired;
    }
    for (message& m : on_the_way(s))
        if (grants(m) != no_owner)
            mark(m, message::stale);
    if (s.external_client == state::external_hold::valid && s.data.lock != external_owner)
        s.external_client = state::external_hold::gone;
}

/// The messages of the client when its connection is lost.
void orphan_messages(state& s, int client)
{
    s.take_if(
        [&](const message& m) { return m.client() == client && (m.reply() || m.greeting()); });
    for (message& m : on_the_way(s))
        if (m.client() == client)
            mark(m, m.has(message::orphan) ? message::old : message::orphan);
}

} // namespace

bool runs_out(const state& s) noexcept
{
    const owner o = s.data.lock;
    if (o == external_owner)
        return s.external_client != state::external_hold::valid;
    if (!current(s, o))
        return true;
    const client& c = s.of(o);
    if (c.entry != client::inner::none && number_of(o) == c.entry_number)
        return c.entry == client::inner::in_expired;
    if (number_of(o) != c.number)
        return false;
    if (c.phase() == phase::holding)
        return !c.has(client::believes);
    return c.phase() == phase::queued && !pending(s, o); // the client does not know of its claim
}

void expire(state& s)
{
    const owner o = s.data.lock;
    s.data.lock = no_owner;
    s.data.flags = 0;
    s.open = 1;
    if (o == external_owner) {
        if (s.external_client == state::external_hold::valid)
            s.external_client = state::external_hold::gone;
        return;
    }
    for (message& m : on_the_way(s))
        if (grants(m) == o)
            mark(m, message::passed);
    client& c = s.of(o);
    if (number_of(o) == c.asking()) {
        if (c.phase() == phase::holding && !c.has(client::uncovered))
            c.unset(client::believes);
        if (c.under_way == client::task::redraw)
            c.set(client::passed);
    }
    if (c.entry == client::inner::in && number_of(o) == c.entry_number)
        c.entry = client::inner::in_expired;
    s.disturb(o);
    // A late request had added the owner unnoticed, past the queue, and it still waits there.
    if (s.data.place(o) >= 0 && std::find(s.order.begin(), s.order.end(), o) == s.order.end()) {
        s.order.push_back(o);
        std::rotate(s.order.begin(), s.order.end() - 1, s.order.end());
    }
}

void disconnect(state& s, const setting& g, int i)
{
    orphan_messages(s, i);
    for (int n = 0; n <= most_attempts; ++n)
        s.disturb(owner_of(i, n));
    disconnected(s, g, i);
}

void crash(state& s, int i, bool noticed)
{
    orphan_messages(s, i);
    for (int n = 0; n <= most_attempts; ++n)
        s.disturb(owner_of(i, n));
    const int heard = noticed ? 0 : s.at(i).bits & client::listens;
    s.at(i) = {};
    s.at(i).bits = static_cast<std::uint16_t>(client::dead | heard);
}

void deafen(state& s, int i)
{
    s.take_if([&](const message& m) { return m.what == type::turn && m.client() == i; });
    s.at(i).unset(client::listens);
    for (int n = 0; n <= most_attempts; ++n)
        s.disturb(owner_of(i, n));
}

void flush(state& s)
{
    lose(s, {});
}

void restart(state& s, const setting& g)
{
    for (int i = 0; i < g.clients; ++i)
        if (!s.at(i).has(client::dead) && s.at(i).has(client::connected))
            disconnect(s, g, i);
    // Requests that a stopped server had not read are lost.
    s.take_if([](const message&) { return true; });
    const keys kept = s.snapshot;
    s.snapshot = {};
    s.has_snapshot = 0;
    lose(s, kept);
}

} // namespace leasehold::test::model
