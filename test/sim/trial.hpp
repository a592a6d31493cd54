#ifndef LEASEHOLD_TEST_SIM_TRIAL_HPP
#define LEASEHOLD_TEST_SIM_TRIAL_HPP

#include "sim/plan.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace leasehold::test::sim {

/// Where a client was when a fault came.
enum class phase : std::uint8_t
{
    idle,
    acquire_sent,
    acquire_answered, ///< The server has run it, the answer is under way.
    holding,
    renewal_in_flight,
    release_in_flight,
    waiting,
    closing,
    count_,
};

[[nodiscard]] const char* name_of(phase which) noexcept;

/// How often each fault met each phase, and what else was done.
struct coverage
{
    using row = std::array<std::uint64_t, static_cast<std::size_t>(phase::count_)>;
    std::array<row, static_cast<std::size_t>(fault_kind::count_)> met{};
    std::uint64_t operations = 0;
    std::uint64_t leases = 0;
    std::uint64_t handed_over = 0;
    std::uint64_t losses = 0;
    std::uint64_t overlaps_excused = 0;
    std::uint64_t commands = 0;
    std::uint64_t events = 0;
    clock::duration simulated{};
};

struct verdict
{
    std::string wrong; ///< Empty: nothing.
    std::uint64_t hash = 0;

    /// What kind of thing is wrong: the part before the colon.
    [[nodiscard]] std::string_view kind() const noexcept { return std::string_view(wrong).substr(0, wrong.find(':')); }
};

/// Runs a plan and looks, in true time, whether every promise was kept.
verdict run(const plan& what, coverage& counted, const std::function<void(std::string_view)>& trace = {});

} // namespace leasehold::test::sim

#endif
