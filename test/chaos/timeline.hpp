#ifndef LEASEHOLD_TEST_CHAOS_TIMELINE_HPP
#define LEASEHOLD_TEST_CHAOS_TIMELINE_HPP

#include "chaos/record.hpp"
#include "chaos/report.hpp"

#include <ostream>

namespace leasehold::test::chaos {

/// Prints the events of all clients with the name of a violation, and the faults, in the time
/// around it.
void print_timeline(std::ostream& to, const record& all, const violation& around);

} // namespace leasehold::test::chaos

#endif
