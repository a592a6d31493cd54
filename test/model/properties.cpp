#include "model/properties.hpp"

#include "model/standing.hpp"

#include <algorithm>

namespace leasehold::test::model {
namespace {

using phase = fsm::queued_contention::state;

bool untouched(const state& s, const setting& g) noexcept
{
    return s.faults == g.faults;
}

/// A new connection has not sent its first commands yet.
bool greets(const state& s, int client) noexcept
{
    return std::any_of(s.on_the_way.begin(), s.on_the_way.begin() + s.messages,
                       [&](const message& m) { return m.greeting() && m.client() == client; });
}

/// Whether the owner has ended and no outstanding request could remove its data.
bool abandoned(const state& s, owner o) noexcept
{
    return alive(s, o) && !current(s, o) && !pending(s, o) &&
           (s.of(o).owed >> number_of(o) & 1) == 0;
}

/// After the first commands of a connection, no request of an earlier connection can be executed.
bool settled(const state& s, int client) noexcept
{
    return s.at(client).has(client::connected) && !greets(s, client);
}

const char* wrong_orphan(const state& s, const setting& g) noexcept
{
    const owner o = s.data.lock;
    if (ours(o) && abandoned(s, o)) {
        if (untouched(s, g))
            return "orphan: an owner that has ended has the lock, without a fault";
        // If CLIENT KILL is not permitted, only the slow path has a limit in server time.
        const bool ends_requests = g.kill ? settled(s, client_of(o)) : !g.fast_path;
        if (ends_requests && !g.loss && s.data.has(keys::whole_lease))
            return "orphan: an owner that has ended has the lock for longer than a claim";
    }
    if (g.kill && !g.loss)
        for (const std::uint8_t each : s.data.queue) {
            const owner queued = each & byte(~keys::absent);
            if (abandoned(s, queued) && settled(s, client_of(queued)))
                return "orphan: an owner that has ended stays in the queue";
        }
    return nullptr;
}

} // namespace

void joined(state& s, owner o)
{
    if (std::find(s.order.begin(), s.order.end(), o) == s.order.end())
        s.order.push_back(o);
}

void forgotten(state& s, owner o) noexcept
{
    for (int i = 0; i < s.order.size; ++i)
        if (s.order.at[byte(i)] == o)
            return s.order.erase(i);
}

void given(state& s, const setting& g, owner o, bool by_fast_path)
{
    for (const owner before : s.order) {
        if (before == o)
            break;
        if ((s.disturbed >> before & 1) != 0 || !waiting(s, before))
            continue;
        if (!by_fast_path || s.open == 0 || !g.excuse_barging)
            throw violation{"order: the lock is granted past a waiter"};
        s.disturb(before);
    }
    forgotten(s, o);
}

void believed(const state& s, int i)
{
    if (s.at(i).has(client::stale))
        return;
    for (int j = 0; j < most_clients; ++j)
        if (j != i && s.at(j).has(client::believes) && !s.at(j).has(client::stale))
            throw violation{"exclusion: two clients believe that they hold the lock"};
    for (int j = 0; j < most_clients; ++j)
        if (s.at(j).entry == client::inner::in && !s.at(j).has(client::stale) &&
            (j != i || s.at(j).entry_number != s.at(j).number))
            throw violation{"exclusion: one believes that it holds the lock, another has entered"};
    if (s.external_client == state::external_hold::valid)
        throw violation{"exclusion: a client and an external one hold the lock"};
}

void believed_by_external_client(const state& s)
{
    for (const client& each : s.clients)
        if (!each.has(client::stale) &&
            (each.has(client::believes) || each.entry == client::inner::in))
            throw violation{"exclusion: a client and an external one hold the lock"};
}

void fence_used(state& s, const setting& g, int i, bool handed_on)
{
    const client& c = s.at(i);
    if (c.has(client::stale_entry) && g.excuse_flushed)
        return;
    if (!c.has(client::stale)) {
        if (c.last <= (handed_on ? s.top_unexcused : s.top))
            throw violation{"fence: it is not larger than all in use before"};
        s.top_unexcused = std::max(s.top_unexcused, c.last);
    }
    s.top = std::max(s.top, c.last);
}

const char* wrong_in(const state& s, const setting& g) noexcept
{
    if (const char* const wrong = wrong_orphan(s, g))
        return wrong;
    if (!untouched(s, g))
        return nullptr;
    for (int i = 0; i < g.clients; ++i) {
        const client& c = s.at(i);
        if (c.has(client::believes) && s.data.lock != owner_of(i, c.number))
            return "loss: a holder has lost the lock without a fault";
        if (c.entry == client::inner::in && s.data.lock != owner_of(i, c.entry_number))
            return "loss: a reentrant acquisition has lost the lock without a fault";
    }
    return nullptr;
}

bool finished(const state& s, const setting& g) noexcept
{
    for (int i = 0; i < g.clients; ++i) {
        const client& c = s.at(i);
        if (!c.has(client::dead) && (c.number < g.attempts || c.phase() != phase::idle ||
                                     c.entry != client::inner::none || c.owed != 0))
            return false;
    }
    return s.data.lock == no_owner && s.data.queue.size == 0 && s.messages == 0 &&
           s.external == 0 && s.external_client == state::external_hold::none;
}

} // namespace leasehold::test::model
