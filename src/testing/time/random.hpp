#ifndef LEASEHOLD_SRC_TESTING_TIME_RANDOM_HPP
#define LEASEHOLD_SRC_TESTING_TIME_RANDOM_HPP

#include <cstdint>

namespace leasehold::testing::impl {

/// Mixes a number so that neighbours have nothing in common (the finaliser of MurmurHash3 with
/// better constants).
constexpr std::uint64_t mix(std::uint64_t x) noexcept
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9;
    x ^= x >> 27;
    x *= 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

/// A small generator: a counter, mixed. Each user has its own, so that one more draw here changes
/// nothing there.
class generator
{
public:
    explicit constexpr generator(std::uint64_t seed) noexcept : state_(mix(seed + golden)) {}

    constexpr std::uint64_t next() noexcept { return mix(state_ += golden); }

    /// Below `bound`; 0 for 0.
    constexpr std::uint64_t below(std::uint64_t bound) noexcept
    {
        return bound < 2 ? 0 : next() % bound;
    }

    constexpr bool chance(std::uint32_t per_million) noexcept
    {
        return per_million != 0 && below(1'000'000) < per_million;
    }

    /// Both ends included.
    template <class Number>
    constexpr Number between(Number low, Number high) noexcept
    {
        return low >= high
                   ? low
                   : low + static_cast<Number>(below(static_cast<std::uint64_t>(high - low) + 1));
    }

private:
    static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
    std::uint64_t state_;
};

} // namespace leasehold::testing::impl

#endif
