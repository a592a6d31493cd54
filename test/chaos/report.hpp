#ifndef LEASEHOLD_TEST_CHAOS_REPORT_HPP
#define LEASEHOLD_TEST_CHAOS_REPORT_HPP

#include "chaos/history.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace leasehold::test::chaos {

/// A promise that was not kept.
enum class rule : std::uint8_t
{
    well_formed, ///< The histories contain only valid events, in a possible order.
    exclusion,   ///< At most one lease is valid at a time, unless data was lost in between.
    fence_unique,
    fence_order, ///< Fences increase in the order of the grants.
    /// A deadline counts from before the request was sent and never decreases, and no lease is
    /// valid after it.
    deadline,
    loss_reported,   ///< Every loss is reported, at the latest when the deadline has passed.
    loss_caused,     ///< No lease is lost before its deadline without a cause.
    loss_final,      ///< A lost lease stays lost.
    outcome,         ///< Every operation ends, with a documented result.
    liveness,        ///< All clients get the lock within a limit after the last fault.
    register_order,  ///< The register accepts writes only in the order of fences.
    no_lost_update,  ///< Each write continues from the previous one.
    register_agrees, ///< The register has exactly the writes that clients report as accepted.
    left_over,       ///< At the end no lock is held or waited for, and the store keeps no key.
    exit,            ///< Clients end on request, and without an error.
    count_,
};

[[nodiscard]] const char* name_of(rule broken) noexcept;

struct violation
{
    rule broken;
    std::string name; ///< Of the lock; empty: it concerns no lock.
    stamp at;
    std::string text;
};

/// The result of a run.
struct report
{
    using counts = std::map<std::string, std::uint64_t>;

    std::uint64_t operations = 0;
    std::uint64_t grants = 0;
    std::uint64_t handed_off = 0; ///< The part of these without the store.
    std::uint64_t not_acquired = 0;
    std::uint64_t cancelled = 0;
    std::uint64_t renewals = 0;
    std::uint64_t writes = 0;
    std::uint64_t refused =
        0;           ///< Reads and writes that the register rejected because of a newer fence.
    counts losses;   ///< For each reason.
    counts faults;   ///< For each kind.
    counts excused;  ///< Double grants, for each fault that lost the data.
    stamp slowest{}; ///< The slowest acquire after the repair.
    std::vector<violation> violations;

    [[nodiscard]] bool has(rule broken) const noexcept;
    report& operator+=(const report& other);
};

[[nodiscard]] std::uint64_t total(const report::counts& of) noexcept;

} // namespace leasehold::test::chaos

#endif
