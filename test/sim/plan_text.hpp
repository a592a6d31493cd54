#ifndef LEASEHOLD_TEST_SIM_PLAN_TEXT_HPP
#define LEASEHOLD_TEST_SIM_PLAN_TEXT_HPP

#include "sim/plan.hpp"

#include <iosfwd>
#include <string>

namespace leasehold::test::sim {

/// A plan as text. A seed means another plan when the generation of plans changes; a text does not.
///
///   seed 7
///   clients 2
///   names 1
///   heals 40000
///   ends 60000
///   options lease_time=2000 renew=1 ...
///   operation at=120 client=0 name=0 hold=30 ... verb=lock
///   fault at=300 client=0 name=0 for=500 ... kind=cut both ways
[[nodiscard]] std::string to_text(const plan& scenario);

/// Reads the output of `to_text`. Empty lines and lines that begin with # are skipped.
/// @throws std::invalid_argument for anything else.
[[nodiscard]] plan plan_from_text(std::istream& text);

} // namespace leasehold::test::sim

#endif
