#include "sim/mutants.hpp"

#include <array>
#include <cstddef>

namespace leasehold::test::sim {
namespace {

constexpr std::array<const char*, static_cast<std::size_t>(mutant::count_)> names = {
    "none",
    "deadline_from_reply",
    "no_margin",
    "validity_without_clock",
    "deadline_not_watched",
    "late_grant_accepted",
    "late_renewal_revives",
    "unknown_is_lost",
    "renewal_not_repeated",
    "gone_ignored",
    "renewal_creates",
    "renewal_goes_on",
    "release_of_another",
    "owner_reused",
    "release_not_repeated",
    "orphan_kept",
    "orphan_given_up_early",
    "cancelled_grant_kept",
    "abandoned_entry_kept",
    "late_acquire_runs",
    "repeated_acquire_adds",
    "repeated_entry_adds",
    "fence_without_clock",
    "fences_not_reserved",
    "handoff_near_the_end",
    "handoff_of_reentered",
    "handoff_without_end",
    "wakeup_ignored",
    "only_wakeups",
    "no_backoff",
    "waiter_forgotten",
    "shutdown_keeps",
    "waiters_not_refused",
    "doubt_forgotten",
    "expired_entry_kept",
    "hold_limit_kept",
    "entry_renewed_as_owner",
    "readiness_not_repeated",
    "loading_is_up",
    "commands_outlive",
    "one_channel_again",
    "text_sent_once",
    "clock_not_learned",
    "read_only_kept",
    "replicas_not_asked",
    "renewals_not_replicated",
    "marker_not_written",
    "short_fence_unchecked",
    "counter_not_raised",
    "refused_raise_forgotten",
    "floor_not_raised",
    "blocks_beyond_clock",
    "blocks_overlap",
    "fence_before_lock",
    "shares_alike",
    "group_drops_name",
    "turn_ignored",
    "connections_not_ended",
    "listening_claimed",
    "listening_not_checked",
    "queue_not_left",
    "queue_without_polls",
    "waiter_not_marked",
    "external_value_marked",
    "marked_renewal_refused",
    "marked_value_released",
    "owner_by_prefix",
    "claim_without_end",
    "promise_not_kept",
    "sign_from_answer",
    "sign_not_recorded",
    "grant_without_record",
    "half_grace",
    "unrecorded_is_dead",
    "entry_keeps_promise",
    "promise_inherited",
    "late_promise_forgotten",
    "superseded_in_two",
    "polls_renew",
    "no_record_by_poll",
    "claim_not_extended",
    "mark_forgotten",
    "assigned_stays_in_queue",
    "absent_not_passed",
    "presence_not_renewed",
    "join_not_idempotent",
    "repeated_release_joins",
    "try_overtakes",
    "first_entry_forgotten",
    "entries_not_extended",
    "entries_overlooked",
    "external_turn_not_left",
    "external_turn_cut_short",
    "external_turn_left_short",
    "external_turn_not_published",
    "external_turn_without_end",
    "external_turn_drops_first",
    "queue_not_seen",
    "queue_not_served",
    "turn_without_fence",
    "external_releases_ignored",
    "fewer_grant",
    "outbid_accepted",
    "fence_of_minority",
    "equal_fence_accepted",
    "partial_grant_kept",
    "partial_grant_not_completed",
    "unanswered_not_reported",
    "minority_renews",
    "not_written_back",
    "entry_not_written_back",
    "silence_ignored",
    "longest_lease_forgotten",
    "lost_member_left_out",
    "given_lease_ignored",
    "expired_lock_kept",
    "detached_lock_kept",
    "session_release_given_up",
    "asking_left_out",
    "redirect_not_charged",
    "try_again_is_final",
    "renewals_share_command",
    "map_asked_once",
    "map_without_pause",
    "same_node_asked",
    "down_not_followed",
    "channels_stay",
    "marker_only_there",
    "let_go_unseen",
    "half_moved_is_gone",
    "new_node_not_notified",
    "one_window_for_all"};

} // namespace

const char* name_of(mutant m) noexcept
{
    return names[static_cast<std::size_t>(m)];
}

bool is_of_quorum(mutant m) noexcept
{
    // These have an effect only without a queue, where waiters back off.
    return m == mutant::cancelled_grant_kept || m == mutant::only_wakeups ||
           m == mutant::no_backoff || m == mutant::waiter_forgotten ||
           (m >= mutant::fewer_grant && m <= mutant::lost_member_left_out);
}

bool is_of_session(mutant m) noexcept
{
    return m >= mutant::given_lease_ignored && m <= mutant::session_release_given_up;
}

bool is_of_cluster(mutant m) noexcept
{
    return m >= mutant::asking_left_out && m < mutant::count_;
}

std::optional<mutant> mutant_of(std::string_view name) noexcept
{
    for (std::size_t i = 0; i < names.size(); ++i)
        if (name == names[i])
            return static_cast<mutant>(i);
    return std::nullopt;
}

} // namespace leasehold::test::sim
