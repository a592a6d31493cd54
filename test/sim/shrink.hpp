#ifndef LEASEHOLD_TEST_SIM_SHRINK_HPP
#define LEASEHOLD_TEST_SIM_SHRINK_HPP

#include "sim/plan.hpp"
#include "sim/run.hpp"

namespace leasehold::test::sim {

/// Returns the plan with as few faults, operations and clients as still fail in the same way.
[[nodiscard]] plan shrink(plan failing, const verdict& how);

} // namespace leasehold::test::sim

#endif
