#ifndef LEASEHOLD_TEST_SIM_HUNT_HPP
#define LEASEHOLD_TEST_SIM_HUNT_HPP

#include "sim/plan.hpp"

#include "base/mutant.hpp"

#include <cstdint>
#include <functional>

namespace leasehold::test::sim {

struct catch_of_mutant
{
    std::uint64_t seeds; ///< How many plans were run.
    bool found;
    bool crashed; ///< Its process ended of it, which hangs on what its memory looked like.
    char how[160];
};

/// Runs plans with a deliberate error until one fails. In a process of its own: some errors do not
/// only break promises.
[[nodiscard]] catch_of_mutant hunt(mutant active, std::uint64_t limit,
                                   const std::function<plan(std::uint64_t)>& make);

} // namespace leasehold::test::sim

#endif
