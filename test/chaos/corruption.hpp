#ifndef LEASEHOLD_TEST_CHAOS_CORRUPTION_HPP
#define LEASEHOLD_TEST_CHAOS_CORRUPTION_HPP

#include "chaos/record.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace leasehold::test::chaos {

/// The ways to make a record untrue that the checker must notice, each of them wherever it is done.
enum class corruption : std::uint8_t
{
    second_holder, ///< Somebody else is given a lease while one is valid, and no data was lost.
    fence_repeated,
    fences_swapped, ///< Of two leases one after the other.
    deadline_further,
    deadline_back,
    valid_too_long, ///< A lease says that it is valid after its deadline.
    loss_untold,
    loss_late,
    loss_early,   ///< Lost before the deadline although no data was.
    loss_revived, ///< Renewed after the loss.
    release_missing,
    answer_missing, ///< An operation never ends.
    time_backwards,
    write_moved, ///< In the register, before the one before.
    write_missing,
    write_doubled,
    write_invented,
    refusal_ignored, ///< A client was told that the register refused what it took.
    no_entry,        ///< Somebody does not get in after the last fault.
    slow_entry,
    excuse_missing, ///< The fault that excuses a double grant.
    key_left,
    hold_left, ///< The client has something when it has shut down.
    bad_exit,
    count_,
};

[[nodiscard]] const char* name_of(corruption how) noexcept;

/// Does that to a copy, at a place that the seed chooses; empty when the record has no such place.
[[nodiscard]] std::optional<record> corrupted(const record& run, corruption how,
                                              std::uint64_t seed);

/// What a record says of one name.
[[nodiscard]] record only(const record& of, const std::string& name);

struct rejections
{
    int tried = 0;
    int rejected = 0;
    std::string accepted{}; ///< The kinds that were not noticed.
};

/// Corrupts a good record this often, every kind in turn where it can be done, and lets the checker
/// judge.
[[nodiscard]] rejections reject_corrupted(const record& good, int times, std::uint64_t seed);

} // namespace leasehold::test::chaos

#endif
