#ifndef LEASEHOLD_TEST_SIM_HUNT_HPP
#define LEASEHOLD_TEST_SIM_HUNT_HPP

#include "sim/plan.hpp"

#include "base/mutant.hpp"

#include <cstdint>
#include <functional>

namespace leasehold::test::sim {

struct catch_of_mutant
{
    std::uint64_t seeds; ///< The number of plans that were run.
    bool found;
    bool crashed; ///< Its process crashed, which depends on the content of its memory.
    char how[160];
};

/// Runs plans with a deliberate error until one fails. In a separate process, because some errors
/// do more than break promises.
[[nodiscard]] catch_of_mutant hunt(mutant active, std::uint64_t limit,
                                   const std::function<plan(std::uint64_t)>& make);

} // namespace leasehold::test::sim

#endif
