#ifndef LEASEHOLD_TEST_CHAOS_TABLE_HPP
#define LEASEHOLD_TEST_CHAOS_TABLE_HPP

#include "chaos/report.hpp"

#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace leasehold::test::chaos {

/// Prints the results of the deployments, one column for each.
void print_table(std::ostream& to, const std::vector<std::pair<std::string, report>>& deployments);

} // namespace leasehold::test::chaos

#endif
