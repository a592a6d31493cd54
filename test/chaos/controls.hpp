#ifndef LEASEHOLD_TEST_CHAOS_CONTROLS_HPP
#define LEASEHOLD_TEST_CHAOS_CONTROLS_HPP

#include "chaos/round.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace leasehold::test::chaos {

/// Whether a check can detect the fault that it looks for.
struct control
{
    bool passed = false;
    std::string text; ///< The attempt, and its result.
};

/// A client is stopped between checking its lease and writing, until another client has written:
/// the register must reject its write, and without the fence check updates must be lost, otherwise
/// the runs prove nothing.
[[nodiscard]] std::vector<control> control_fences(const deployment_kind& on, std::uint64_t seed,
                                                  const progress_function& progress);

/// Locks that no replica has to confirm, and masters that are cut off from their replicas and
/// replaced: locks must be lost or held twice, otherwise confirmation proves nothing. Empty if no
/// replicas confirm anyway.
[[nodiscard]] std::vector<control> control_confirmation(const deployment_kind& on,
                                                        std::uint64_t seed,
                                                        const progress_function& progress);

/// The checker must reject all of `times` corrupted copies of these records, which are good.
[[nodiscard]] control control_checker(const std::vector<record>& good, int times,
                                      std::uint64_t seed);

} // namespace leasehold::test::chaos

#endif
