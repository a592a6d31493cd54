#ifndef LEASEHOLD_TEST_MODEL_BREADTH_FIRST_HPP
#define LEASEHOLD_TEST_MODEL_BREADTH_FIRST_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

// The search of the smaller models. Of each visited state only a fingerprint is kept.
namespace leasehold::test::model {

/// 128 bits of each state: two different states have the same fingerprint once in 10^25 pairs.
struct fingerprint
{
    std::uint64_t low;
    std::uint64_t high;
    bool operator==(const fingerprint&) const = default;
};

[[nodiscard]] inline std::uint64_t mix(std::uint64_t h) noexcept
{
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93U;
    h ^= h >> 29;
    h *= 0x94d049bb133111ebU;
    return h ^ h >> 32;
}

template <class State>
[[nodiscard]] fingerprint print_of(const State& s) noexcept
{
    static_assert(alignof(State) == 1); // every byte of it has a meaning
    unsigned char raw[(sizeof(State) + 7) / 8 * 8]{};
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

/// An open table with sixteen bytes for each state.
class print_set
{
public:
    print_set() : table_(std::size_t{1} << 16, fingerprint{0, 0}) {}

    bool insert(const fingerprint& f)
    {
        if ((size_ + 1) * 3 > table_.size() * 2)
            grow();
        const bool added = put(table_, f);
        size_ += added ? 1 : 0;
        return added;
    }

    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

private:
    static bool put(std::vector<fingerprint>& table, const fingerprint& f)
    {
        const std::size_t mask = table.size() - 1;
        for (std::size_t slot = f.low & mask;; slot = (slot + 1) & mask) {
            if (table[slot] == fingerprint{0, 0}) {
                table[slot] = f;
                return true;
            }
            if (table[slot] == f)
                return false;
        }
    }

    void grow()
    {
        std::vector<fingerprint> larger(table_.size() * 2, fingerprint{0, 0});
        for (const fingerprint& each : table_) {
            if (!(each == fingerprint{0, 0}))
                put(larger, each);
        }
        table_ = std::move(larger);
    }

    std::vector<fingerprint> table_;
    std::uint64_t size_ = 0;
};

template <class Step>
struct outcome
{
    bool complete = false;
    std::string found; ///< The violated promise.
    std::uint64_t states = 0;
    std::uint64_t transitions = 0;
    std::vector<Step> path;
};

/// Visits every state, so an error is found on a shortest path. The namespace of the model has
/// `first_state`, `steps_from` and `canonical`; a step has `to` and `wrong`.
/// @param tell Called from time to time with the number of states.
template <class Step, class Setting>
[[nodiscard]] outcome<Step> search(const Setting& g, std::uint64_t most,
                                   const std::function<void(std::uint64_t)>& notify)
{
    using state = decltype(Step::to);
    struct entry
    {
        state s;
        std::uint32_t parent; // its position on the path here
    };
    // The origin of a state: its parent, and the step from there.
    struct came
    {
        std::uint32_t parent;
        std::uint8_t number;
    };

    outcome<Step> out;
    print_set visited;
    std::vector<came> way{{0, 0}};
    std::vector<entry> level{{first_state(g), 0}};
    visited.insert(print_of(canonical(level.front().s, g)));
    std::vector<Step> next;
    const auto trace = [&](std::uint32_t at, std::uint8_t last) {
        std::vector<std::uint8_t> numbers{last};
        for (; at != 0; at = way[at].parent)
            numbers.push_back(way[at].number);
        state s = first_state(g);
        for (auto each = numbers.rbegin(); each != numbers.rend(); ++each) {
            steps_from(s, g, next);
            out.path.push_back(next[*each]);
            s = out.path.back().to;
        }
    };
    while (!level.empty()) {
        std::vector<entry> deeper;
        for (const entry& each : level) {
            steps_from(each.s, g, next);
            for (std::size_t i = 0; i < next.size(); ++i) {
                ++out.transitions;
                const auto number = static_cast<std::uint8_t>(i);
                if (next[i].wrong != nullptr) {
                    out.found = next[i].wrong;
                    out.states = visited.size();
                    trace(each.parent, number);
                    return out;
                }
                if (!visited.insert(print_of(canonical(next[i].to, g))))
                    continue;
                way.push_back({each.parent, number});
                deeper.push_back({next[i].to, static_cast<std::uint32_t>(way.size() - 1)});
                if (visited.size() % 1'000'000 == 0)
                    notify(visited.size());
                if (visited.size() > most) {
                    out.states = visited.size();
                    return out;
                }
            }
        }
        level = std::move(deeper);
    }
    out.complete = true;
    out.states = visited.size();
    return out;
}

} // namespace leasehold::test::model

#endif
