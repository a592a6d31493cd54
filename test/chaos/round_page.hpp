#ifndef LEASEHOLD_TEST_CHAOS_ROUND_PAGE_HPP
#define LEASEHOLD_TEST_CHAOS_ROUND_PAGE_HPP

#include "chaos/record.hpp"
#include "chaos/report.hpp"

#include <string>

namespace leasehold::test::chaos {

/// The events of a round, for `report::write_page`: a lane for each lock in each process and for
/// each fault target. Shows the time around the first violation, or the last seconds if there is
/// none, and no more than a browser can draw.
[[nodiscard]] std::string page_of(const record& all, const report& found, std::string title);

} // namespace leasehold::test::chaos

#endif
