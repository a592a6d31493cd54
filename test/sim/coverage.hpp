#ifndef LEASEHOLD_TEST_SIM_COVERAGE_HPP
#define LEASEHOLD_TEST_SIM_COVERAGE_HPP

#include "sim/plan.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace leasehold::test::sim {

/// The activity of a client when a fault came.
enum class phase : std::uint8_t
{
    idle,
    acquire_sent,
    acquire_answered, ///< The server has executed the acquire, and the reply is on its way.
    holding,
    renewal_in_flight,
    release_in_flight,
    waiting,
    closing,
    count_,
};

inline constexpr auto phases = static_cast<std::size_t>(phase::count_);
inline constexpr auto fault_kinds = static_cast<std::size_t>(fault_kind::count_);

[[nodiscard]] const char* name_of(phase of) noexcept;

/// The reason why a fault cannot affect a client in that phase. Null: it can.
[[nodiscard]] const char* impossible(fault_kind kind, phase in) noexcept;

/// Whether a fault almost never affects a client in that phase. It is counted, but not required.
[[nodiscard]] bool rare(fault_kind kind, phase in) noexcept;

/// The number of times each fault affected a client in each phase, and other counts.
struct coverage
{
    using row = std::array<std::uint64_t, phases>;
    std::array<row, fault_kinds> met{};
    std::uint64_t operations = 0;
    std::uint64_t leases = 0;
    std::uint64_t handed_off = 0;
    std::uint64_t losses = 0;
    std::uint64_t overlaps_excused = 0;
    std::uint64_t commands = 0;
    std::uint64_t events = 0;
    clock::duration simulated{};
};

} // namespace leasehold::test::sim

#endif
