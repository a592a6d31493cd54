#ifndef LEASEHOLD_TEST_SIM_REGRESSIONS_HPP
#define LEASEHOLD_TEST_SIM_REGRESSIONS_HPP

#include "sim/plan.hpp"

#include "base/mutant.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace leasehold::test::sim {

/// A plan that once found a defect. A file holds it as text (see plan_text.hpp), so that it means
/// the same when plans are made in another way.
struct regression
{
    std::string file;
    plan scenario;
    mutant finds = mutant::none; ///< The deliberate error that is the defect: `finds MUTANT`.

    /// The plan in another world; 0 is the one in which it was found.
    [[nodiscard]] plan in_world(std::uint64_t number) const;
};

/// A file of `--plan` or of the regressions.
[[nodiscard]] regression read_regression(const std::string& file);

/// All of a directory.
[[nodiscard]] std::vector<regression> read_regressions(const std::string& directory);

/// Runs each in several worlds. Where its deliberate error is known it is also looked whether the
/// plan finds it still, for a change of the simulator may take a plan its meaning.
/// @return How many failed.
[[nodiscard]] int run_regressions(const std::vector<regression>& all);

} // namespace leasehold::test::sim

#endif
