#include "model/grace/state.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <unordered_set>

namespace leasehold::test::grace_model {
namespace {

// Of each state 128 bits are kept: two that are not the same would look so once in 10^25 pairs.
struct fingerprint
{
    std::uint64_t low;
    std::uint64_t high;
    bool operator==(const fingerprint&) const = default;
};

struct by_low
{
    std::size_t operator()(const fingerprint& f) const noexcept { return f.low; }
};

std::uint64_t mix(std::uint64_t h) noexcept
{
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93U;
    h ^= h >> 29;
    h *= 0x94d049bb133111ebU;
    return h ^ h >> 32;
}

fingerprint print_of(const state& s) noexcept
{
    static_assert(alignof(state) == 1); // no byte of it is without meaning
    unsigned char raw[(sizeof(state) + 7) / 8 * 8]{};
    std::memcpy(raw, &s, sizeof s);
    fingerprint out{0x9e3779b97f4a7c15U, 0xbf58476d1ce4e5b9U};
    for (std::size_t i = 0; i < sizeof raw; i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, raw + i, 8);
        out.low = mix(out.low ^ word) + 0x9e3779b97f4a7c15U;
        out.high = mix(out.high + word * 0xff51afd7ed558ccdU) ^ (out.high << 7);
    }
    return out;
}

/// A state, and how it was come to.
struct visit
{
    state s;
    std::size_t parent;
    std::size_t number; ///< Of the step from there.
};

} // namespace

outcome search(const setting& g, std::uint64_t most)
{
    outcome out;
    std::unordered_set<fingerprint, by_low> known;
    std::vector<visit> visits{{first_state(g), 0, 0}};
    known.insert(print_of(visits.front().s));
    std::vector<step> next;
    const auto tell_way = [&](std::size_t at, const step& last) {
        out.path.push_back(last);
        for (; at != 0; at = visits[at].parent) {
            std::vector<step> before;
            steps_from(visits[visits[at].parent].s, g, before);
            out.path.push_back(before[visits[at].number]);
        }
        std::reverse(out.path.begin(), out.path.end());
    };
    for (std::size_t at = 0; at < visits.size() && visits.size() <= most; ++at) {
        steps_from(visits[at].s, g, next);
        for (std::size_t i = 0; i < next.size(); ++i) {
            ++out.transitions;
            if (next[i].wrong != nullptr) {
                out.found = next[i].wrong;
                out.states = visits.size();
                tell_way(at, next[i]);
                return out;
            }
            if (known.insert(print_of(next[i].to)).second)
                visits.push_back({next[i].to, at, i});
        }
    }
    out.states = visits.size();
    out.complete = out.states <= most;
    return out;
}

} // namespace leasehold::test::grace_model
