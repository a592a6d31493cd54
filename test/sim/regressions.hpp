#ifndef LEASEHOLD_TEST_SIM_REGRESSIONS_HPP
#define LEASEHOLD_TEST_SIM_REGRESSIONS_HPP

#include "sim/plan.hpp"

#include "base/mutant.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace leasehold::test::sim {

/// A plan that once found a defect. A file contains it as text (see plan_text.hpp), so that it
/// means the same when the generation of plans changes.
struct regression
{
    std::string file;
    plan scenario;
    mutant finds = mutant::none; ///< The deliberate error that is the defect: `finds MUTANT`.

    /// The plan in another world, or 0: the world in which it was found.
    [[nodiscard]] plan in_world(std::uint64_t number) const;
};

/// Reads a file of `--plan` or of the regressions.
[[nodiscard]] regression read_regression(const std::string& file);

/// Reads all regressions of a directory.
[[nodiscard]] std::vector<regression> read_regressions(const std::string& directory);

/// Runs each in several worlds. If its deliberate error is known, also checks that the plan still
/// finds it, because a change of the simulator may make a plan useless.
/// @return The number of failures.
[[nodiscard]] int run_regressions(const std::vector<regression>& all);

} // namespace leasehold::test::sim

#endif
