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
    fence_order,     ///< Fences rise in the order of the grants.
    deadline,        ///< Counts from before the request was sent, never goes back, and there is no
                     ///< validity after it.
    loss_told,       ///< Every loss is reported, when the deadline passes at the latest.
    loss_caused,     ///< No lease is lost before its deadline without a reason.
    loss_final,      ///< A lost lease stays lost.
    outcome,         ///< Every operation ends, with a documented result.
    liveness,        ///< All clients get the lock within a limit after the last fault.
    register_order,  ///< The register accepts writes in the order of fences only.
    no_lost_update,  ///< Each write builds on the one before.
    register_agrees, ///< The register has the writes that clients report as accepted, and no other.
    left_over,       ///< At the end nothing is held, waited for, or kept in the store.
    exit,            ///< Clients end on request, and without an error.
    count_,
};

[[nodiscard]] const char* name_of(rule broken) noexcept;

struct violation
{
    rule broken;
    std::string name; ///< Of the lock; empty if it concerns none.
    stamp at;
    std::string text;
};

/// The result of a run.
struct report
{
    using counts = std::map<std::string, std::uint64_t>;

    std::uint64_t operations = 0;
    std::uint64_t grants = 0;
    std::uint64_t handed_over = 0; ///< Of these, without the store.
    std::uint64_t not_acquired = 0;
    std::uint64_t cancelled = 0;
    std::uint64_t renewals = 0;
    std::uint64_t writes = 0;
    std::uint64_t refused =
        0;           ///< Reads and writes that the register rejected because of a newer fence.
    counts losses;   ///< By reason.
    counts faults;   ///< By kind.
    counts excused;  ///< Double grants, by the fault that lost the data.
    stamp slowest{}; ///< Of the acquires after healing.
    std::vector<violation> violations;

    [[nodiscard]] bool has(rule broken) const noexcept;
    report& operator+=(const report& other);
};

[[nodiscard]] std::uint64_t total(const report::counts& of) noexcept;

} // namespace leasehold::test::chaos

#endif
