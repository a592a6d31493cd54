#ifndef LEASEHOLD_TEST_SIM_SESSION_SESSION_TRIAL_HPP
#define LEASEHOLD_TEST_SIM_SESSION_SESSION_TRIAL_HPP

#include "sim/session/session_link.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace leasehold::test::sessions {

/// Counts of events in runs, for the statistics.
struct tally
{
    std::uint64_t leases = 0;
    std::uint64_t losses = 0;
    std::uint64_t short_leases = 0; ///< Whose session would have ended earlier.
    std::uint64_t removals = 0;
};

struct verdict
{
    std::string wrong; ///< The first broken promise; empty: none.
    std::uint64_t hash;
};

/// Runs the plan of a seed: some clients of one service lock, wait, enter again and release for a
/// minute, under faults of the first half of it. Then checks what is left.
[[nodiscard]] verdict run(std::uint64_t seed, link_error error, tally& counted,
                          const std::function<void(std::string_view)>& trace = {});

} // namespace leasehold::test::sessions

#endif
