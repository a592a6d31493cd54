#ifndef LEASEHOLD_TEST_CHAOS_CONTROLS_HPP
#define LEASEHOLD_TEST_CHAOS_CONTROLS_HPP

#include "chaos/round.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace leasehold::test::chaos {

/// Whether an instrument can see what it looks for.
struct control
{
    bool passed = false;
    std::string text; ///< What was tried, and what came of it.
};

/// A client is stopped between looking at its lease and writing, until somebody else has written:
/// the register must refuse it, and with the fence check left out updates must be lost, or the runs
/// prove nothing.
[[nodiscard]] std::vector<control> control_fences(const deployment_kind& on, std::uint64_t seed,
                                                  const progress_function& progress);

/// Locks that no replica has to confirm, and masters that are cut off from their replicas and
/// replaced: locks must be lost or held twice, or confirmation proves nothing. Empty where no
/// replicas confirm anyway.
[[nodiscard]] std::vector<control> control_confirmation(const deployment_kind& on,
                                                        std::uint64_t seed,
                                                        const progress_function& progress);

/// The checker must reject all of `times` corrupted copies of these records, which are good.
[[nodiscard]] control control_checker(const std::vector<record>& good, int times,
                                      std::uint64_t seed);

} // namespace leasehold::test::chaos

#endif
