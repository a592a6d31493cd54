#ifndef LEASEHOLD_TEST_SIM_SESSION_SESSION_RUNS_HPP
#define LEASEHOLD_TEST_SIM_SESSION_SESSION_RUNS_HPP

#include "base/mutant.hpp"

#include <cstdint>
#include <optional>

namespace leasehold::test::sessions {

/// The runs that the options of `sim` select.
struct selection
{
    std::uint64_t seeds;
    std::uint64_t from;
    std::uint64_t limit; ///< Seeds for each error.
    std::optional<std::uint64_t> seed;
    bool trace;
    mutant only;
};

/// Runs one seed, or many. Returns the exit status of the program.
[[nodiscard]] int run_selected(const selection& which);

/// Switches each deliberate error on in turn, and counts the seeds until it is found.
[[nodiscard]] int find_errors(const selection& which);

} // namespace leasehold::test::sessions

#endif
