#include "model/canonical.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace leasehold::test::model {
namespace {

using type = message::type;
using phase = fsm::queued_contention::state;

void forget_what_is_over(state& s, const setting& g)
{
    if (s.data.lock == no_owner)
        s.data.flags &= keys::left_free;
    if (s.data.queue.size == 0) {
        s.open = 0;
        s.data.flags &= byte(~keys::left_free);
    }
    if (!g.loss)
        s.ever = s.data.counter;
    // After its time limit an acquire is executed without effect, and a release does not let an
    // owner join.
    if (!g.has(error::late_acquire_runs))
        s.take_if([](const message& m) {
            return m.what == type::acquire && m.has(message::orphan) && m.has(message::over);
        });
    if (!g.has(error::late_release_joins))
        for (int i = 0; i < s.messages; ++i)
            if (message& m = s.on_the_way[byte(i)];
                m.has(message::joins) && m.has(message::orphan) && m.has(message::over))
                m.bits &= byte(~(message::joins | message::over));
    for (client& c : s.clients) {
        const bool draws = c.under_way == client::task::redraw;
        if (c.phase() != phase::holding && !c.has(client::confirming)) {
            c.last = 0;
            c.left = 0;
        }
        if (c.phase() == phase::holding && c.left == 0)
            c.last = clock_fence;
        if (c.has(client::dead) || !g.loss)
            c.floor = clock_fence;
        if (!draws)
            c.unset(client::passed);
        if (!draws && !c.has(client::believes))
            c.unset(client::stale | client::stale_entry);
    }
}

/// Numbers the fences by their order, below the clock and above it.
class fence_order
{
public:
    void see(fence f) noexcept { seen_[half(f)] |= std::uint64_t{1} << (f % clock_fence); }
    /// Sees a fence and the fences before it in its block.
    void see_block(fence end, int fences) noexcept
    {
        see(end);
        if (end >= fences)
            see(byte(end - fences + 1));
    }
    void renumber(fence& f) const
    {
        const std::uint64_t below = (std::uint64_t{1} << (f % clock_fence)) - 1;
        f = byte(std::popcount(seen_[half(f)] & below) + (f >= clock_fence ? clock_fence : 0));
    }

private:
    static std::size_t half(fence f)
    {
        if (f >= 2 * clock_fence)
            throw out_of_room("too many fences");
        return f >= clock_fence ? 1 : 0;
    }
    std::uint64_t seen_[2] = {1, 1};
};

template <class Use>
void each_block(state& s, Use use)
{
    use(s.data.counter);
    use(s.ever);
    if (s.has_snapshot != 0)
        use(s.snapshot.counter);
    for (int i = 0; i < s.messages; ++i)
        if (s.on_the_way[byte(i)].fence != 0)
            use(s.on_the_way[byte(i)].fence);
}

void renumber_fences(state& s, const setting& g)
{
    fence_order order;
    each_block(s, [&](fence f) { order.see_block(f, g.fences()); });
    order.see(s.top);
    order.see(s.top_unexcused);
    for (const client& c : s.clients) {
        order.see(c.floor);
        for (int k = 0; k <= c.left; ++k)
            order.see(byte(c.last + k));
    }
    each_block(s, [&](fence& f) { order.renumber(f); });
    order.renumber(s.top);
    order.renumber(s.top_unexcused);
    for (client& c : s.clients) {
        order.renumber(c.floor);
        if (c.last != 0)
            order.renumber(c.last);
    }
}

/// The properties of a client without its name.
std::uint64_t standing_of(const state& s, int i)
{
    const client& c = s.at(i);
    std::uint64_t key = std::uint64_t{c.number} << 8 | hash_value(c.contention);
    const auto mix = [&](std::uint64_t more) {
        key = (key ^ more) * 0x9e3779b97f4a7c15U;
        key ^= key >> 29;
    };
    mix(std::uint64_t{c.bits} << 8 | static_cast<std::uint64_t>(c.under_way));
    mix(std::uint64_t{c.last} << 40 | std::uint64_t{c.left} << 32 | std::uint64_t{c.floor} << 24 |
        static_cast<std::uint64_t>(c.entry) << 16 | std::uint64_t{c.entry_number} << 8 | c.owed);
    const auto mine = [&](owner o) { return ours(o) && client_of(o) == i; };
    if (mine(s.data.lock))
        mix(100 + s.data.lock % 4U);
    if (s.has_snapshot != 0 && mine(s.snapshot.lock))
        mix(110 + s.snapshot.lock % 4U);
    std::uint64_t position = 200;
    const auto line = [&](const auto& entries) {
        for (const std::uint8_t each : entries) {
            ++position;
            if (mine(each & byte(~keys::absent)))
                mix(position << 8 | (each & 0x83U));
        }
        position = (position / 100 + 1) * 100;
    };
    line(s.data.queue);
    line(s.order);
    if (s.has_snapshot != 0)
        line(s.snapshot.queue);
    mix(s.disturbed >> (4 * i) & 15U);
    std::uint64_t all = 0; // messages have no order
    for (int k = 0; k < s.messages; ++k) {
        message m = s.on_the_way[byte(k)];
        if (m.client() == i) {
            m.who %= 4;
            const std::uint64_t text = std::bit_cast<std::uint32_t>(m) + std::uint64_t{1};
            all += (text * 0xbf58476d1ce4e5b9U) ^ (text << 7);
        }
    }
    mix(all);
    return key;
}

void rename_clients(state& s, const setting& g)
{
    std::array<std::uint64_t, most_clients> standing{};
    for (int i = 0; i < g.clients; ++i)
        standing[byte(i)] = standing_of(s, i);
    std::array<int, most_clients> to{}; // the number of clients before it
    for (int i = 0; i < most_clients; ++i)
        for (int j = 0; j < most_clients; ++j) {
            const bool before = i >= g.clients || j >= g.clients
                                    ? j < i
                                    : std::pair(standing[byte(j)], j) <
                                          std::pair(standing[byte(i)], i);
            to[byte(i)] += before ? 1 : 0;
        }
    if (to[0] == 0 && to[1] == 1)
        return;
    const auto old = s.clients;
    for (int i = 0; i < most_clients; ++i)
        s.at(to[byte(i)]) = old[byte(i)];
    const auto rename = [&](std::uint8_t& each) {
        const owner o = each & byte(~keys::absent);
        if (ours(o))
            each = byte((each & keys::absent) | owner_of(to[byte(client_of(o))], number_of(o)));
    };
    for (keys* data : {&s.data, &s.snapshot}) {
        rename(data->lock);
        for (std::uint8_t& each : data->queue)
            rename(each);
    }
    for (std::uint8_t& each : s.order)
        rename(each);
    for (int k = 0; k < s.messages; ++k)
        rename(s.on_the_way[byte(k)].who);
    unsigned disturbed = s.disturbed & 0xf000U;
    for (int i = 0; i < most_clients; ++i)
        disturbed |= (s.disturbed >> (4 * i) & 15U) << (4 * to[byte(i)]);
    s.disturbed = static_cast<std::uint16_t>(disturbed);
}

} // namespace

void make_canonical(state& s, const setting& g)
{
    forget_what_is_over(s, g);
    renumber_fences(s, g);
    rename_clients(s, g);
    std::sort(s.on_the_way.begin(), s.on_the_way.begin() + s.messages);
}

} // namespace leasehold::test::model
