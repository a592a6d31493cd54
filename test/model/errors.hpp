#ifndef LEASEHOLD_TEST_MODEL_ERRORS_HPP
#define LEASEHOLD_TEST_MODEL_ERRORS_HPP

#include <cstdint>

namespace leasehold::test::model {

/// Deliberate errors, each of which a search must find. `errors.cpp` names them.
enum class error : std::uint8_t
{
    none,
    // Errors of the store.
    fence_before_set,
    mark_not_set,
    mark_on_external,
    assigned_unmarked,
    confirming_drops_mark,
    entering_drops_mark,
    release_of_another,
    release_skips_queue,
    release_by_prefix,
    acquire_by_prefix,
    own_keeps_entry,
    renewal_exact,
    renewal_creates,
    entries_not_renewed,
    release_ignores_entries,
    join_not_idempotent,
    barging,
    try_barges,
    assigned_stays_in_queue,
    claim_without_end,
    leave_blind,
    late_release_assigns,
    repeated_release_joins,
    presence_ignored,
    late_acquire_runs,
    late_release_joins,
    kill_after_requests,
    kill_last_only,
    no_raise_on_connect,
    raise_without_clock,
    external_turn_taken,
    external_turn_drops_first,
    external_turn_without_end,
    // Errors of the client.
    deadline_from_answer,
    deadline_from_repetition,
    deadline_from_redraw,
    no_floor,
    floor_without_raise,
    fence_beyond_block,
    notification_grants,
    claim_from_notification,
    renewal_confirms,
    no_look,
    refused_fence_kept,
    new_owner_for_repetition,
    cancelled_in_silence,
    cancelled_grant_kept,
    lost_request_forgotten,
    absent_next_believed,
    listening_ignored,
    listening_forgotten_sending,
    listening_forgotten_releasing,
    count_
};

} // namespace leasehold::test::model

#endif
