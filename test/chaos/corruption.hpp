#ifndef LEASEHOLD_TEST_CHAOS_CORRUPTION_HPP
#define LEASEHOLD_TEST_CHAOS_CORRUPTION_HPP

#include "chaos/record.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace leasehold::test::chaos {

/// The ways to falsify a record that the checker must notice, each at any place.
enum class corruption : std::uint8_t
{
    second_holder, ///< Another holder gets a lease while one is valid, without a loss of data.
    fence_repeated,
    fences_swapped, ///< Of two successive leases.
    deadline_further,
    deadline_back,
    valid_too_long, ///< A lease reports to be valid after its deadline.
    loss_untold,
    loss_late,
    loss_early,   ///< A loss before the deadline without a loss of data.
    loss_revived, ///< A renewal after the loss.
    release_missing,
    answer_missing, ///< An operation never ends.
    time_backwards,
    write_moved, ///< A write in the register is moved before the previous one.
    write_missing,
    write_doubled,
    write_invented,
    refusal_ignored, ///< The client records a rejection of a write that was accepted.
    no_entry,        ///< A client gets no lock after the last fault.
    slow_entry,
    excuse_missing, ///< The fault that excuses a double grant is missing.
    key_left,
    hold_left, ///< The client still holds or waits after its shutdown.
    bad_exit,
    count_,
};

[[nodiscard]] const char* name_of(corruption how) noexcept;

/// Corrupts a copy, at a place that the seed selects; empty: the record has no such place.
[[nodiscard]] std::optional<record> corrupted(const record& run, corruption how,
                                              std::uint64_t seed);

/// The part of a record that concerns one name.
[[nodiscard]] record only(const record& of, const std::string& name);

struct rejections
{
    int tried = 0;
    int rejected = 0;
    std::string accepted{}; ///< The kinds that were not noticed.
};

/// Corrupts a good record so often, with every possible kind in turn, and runs the checker.
[[nodiscard]] rejections reject_corrupted(const record& good, int times, std::uint64_t seed);

} // namespace leasehold::test::chaos

#endif
