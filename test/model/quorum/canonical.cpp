#include "model/quorum/state.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace leasehold::test::quorum_model {
namespace {

using order = std::array<unsigned char, members>;

constexpr std::array<order, 6> orders{order{0, 1, 2}, order{0, 2, 1}, order{1, 0, 2},
                                      order{1, 2, 0}, order{2, 0, 1}, order{2, 1, 0}};

std::uint8_t moved(std::uint8_t of, const order& by, unsigned from) noexcept
{
    unsigned out = 0;
    for (unsigned n = 0; n < members; ++n)
        out |= (of >> (from + by[n]) & 1U) << (from + n);
    return static_cast<std::uint8_t>(out);
}

template <class T>
std::array<T, members> moved(const std::array<T, members>& of, const order& by) noexcept
{
    return {of[by[0]], of[by[1]], of[by[2]]};
}

state renamed(const state& s, const order& by) noexcept
{
    state out = s;
    out.nodes = moved(s.nodes, by);
    out.seeds = moved(s.seeds, by);
    for (client& each : out.who) {
        each.first = moved(each.first, by);
        each.second = moved(each.second, by);
    }
    for (request& each : out.asked)
        each.pending = static_cast<std::uint8_t>(moved(each.pending, by, 0) |
                                                 moved(each.pending, by, members));
    out.maker.looked = moved(s.maker.looked, by, 0);
    out.maker.answered = moved(s.maker.answered, by, 0);
    out.maker.member = moved(s.maker.member, by);
    out.maker.epoch = moved(s.maker.epoch, by);
    out.maker.nonce = moved(s.maker.nonce, by);
    out.maker.largest = moved(s.maker.largest, by);
    out.maker.began = moved(s.maker.began, by);
    return out;
}

state swapped(const state& s) noexcept
{
    static_assert(clients == 2);
    state out = s;
    std::swap(out.who[0], out.who[1]);
    for (unsigned a = 0; a < attempts; ++a)
        std::swap(out.asked[a], out.asked[attempts + a]);
    for (node& each : out.nodes) {
        if (each.holder != 0)
            each.holder = static_cast<std::uint8_t>((each.holder - 1U + attempts) % owners + 1U);
        each.waits = static_cast<std::uint8_t>(
            (unsigned{each.waits} >> attempts | unsigned{each.waits} << attempts) &
            ((1U << owners) - 1));
    }
    return out;
}

/// Removes values that are not read any more.
void tidy(state& s, const setting& g)
{
    for (unsigned o = 0; o < owners; ++o) {
        request& r = s.asked[o];
        const client& of = s.who[o / attempts];
        const bool current = of.attempt == o % attempts && of.at != client::phase::finished;
        const bool ended = r.given_up != 0 || (r.first != 0 && !current);
        if (!ended)
            continue;
        r.above = 0;
        const bool holds = std::any_of(s.nodes.begin(), s.nodes.end(),
                                       [&](const node& each) { return each.holder == o + 1; });
        if (r.pending == 0) {
            r.epoch = 0;
            r.second = 0;
            r.first = 1;
        }
        const bool awaited = std::any_of(s.nodes.begin(), s.nodes.end(), [&](const node& each) {
            return (each.waits >> o & 1) != 0;
        });
        if (r.pending == 0 && !holds && !awaited) {
            r.over = 1;
            r.late_over = 1;
        }
        if (!g.timed)
            r.over = r.late_over = 0;
    }
    // No acquire begins any more whose fence must be larger.
    if (std::all_of(s.who.begin(), s.who.end(),
                    [](const client& each) { return each.at == client::phase::finished; }))
        s.known = 0;
    for (client& each : s.who) {
        if (each.at == client::phase::finished)
            each.seen = each.epoch = 0;
    }
}

bool less(const state& a, const state& b) noexcept
{
    return std::memcmp(&a, &b, sizeof a) < 0;
}

} // namespace

state canonical(const state& s, const setting& g)
{
    state best = s;
    tidy(best, g);
    const bool alike = g.acquires[0] == g.acquires[1];
    std::array<state, 2> both{best, alike ? swapped(best) : best};
    for (const state& each : both) {
        for (const order& by : orders) {
            const state other = renamed(each, by);
            if (less(other, best))
                best = other;
        }
        if (!alike)
            break;
    }
    return best;
}

} // namespace leasehold::test::quorum_model
