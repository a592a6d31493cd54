#ifndef LEASEHOLD_SRC_BASE_MUTANT_HPP
#define LEASEHOLD_SRC_BASE_MUTANT_HPP

namespace leasehold {

/// Deliberate errors, each of which the simulator has to find. They exist only in its own build.
enum class mutant
{
    none,
    deadline_from_reply,     ///< The lease time counts from the reply.
    no_margin,               ///< The deadline is as late as the store's.
    validity_without_clock,  ///< A lease is valid until a loss is reported.
    deadline_not_watched,    ///< The deadline is not checked while a renewal is outstanding.
    late_grant_accepted,     ///< A grant whose lease time has passed is accepted.
    late_renewal_revives,    ///< A confirmation counts after the deadline.
    unknown_is_lost,         ///< One failed renewal ends the lease.
    renewal_not_repeated,    ///< A failed renewal is not retried.
    gone_ignored,            ///< A renewal that finds no lock counts as a success.
    renewal_creates,         ///< The store creates the missing lock again.
    renewal_goes_on,         ///< The renewal is not stopped before the release.
    release_of_another,      ///< The store does not compare the owner.
    owner_reused,            ///< One id for all acquisitions of a client.
    release_not_repeated,    ///< A release whose reply is lost is not repeated.
    orphan_kept,             ///< An acquire without a reply is not released.
    orphan_given_up_early,   ///< "Not owner" is final while the acquire may still be executed.
    cancelled_grant_kept,    ///< A grant without a waiter is not released.
    abandoned_entry_kept,    ///< The request of a cancelled entry is not released.
    late_acquire_runs,       ///< The store grants to waiters that have given up.
    repeated_acquire_adds,   ///< An acquire that is executed twice counts twice.
    repeated_entry_adds,     ///< An entry that is executed twice counts twice.
    fence_without_clock,     ///< The fence is a counter without the clock.
    fences_not_reserved,     ///< Local handoffs use fences that were not reserved.
    handoff_near_the_end,    ///< A lease that is about to end is handed off.
    handoff_of_reentered,    ///< A lock with other entries is handed off.
    handoff_without_end,     ///< Local waiters always come first.
    wakeup_ignored,          ///< A wake-up after a release is ignored.
    only_wakeups,            ///< Waiters poll only after a wake-up.
    no_backoff,              ///< Waiters poll again at once.
    waiter_forgotten,        ///< A waiter is not served when a lease ends.
    shutdown_keeps,          ///< Locks held at the shutdown are not released.
    waiters_not_refused,     ///< Waiters continue to wait after the shutdown.
    doubt_forgotten,         ///< A renewal without a reply counts as ended with its lease.
    expired_entry_kept,      ///< An expired entry stays if the owner has others.
    hold_limit_kept,         ///< A lock at its longest hold is not released.
    entry_renewed_as_owner,  ///< A renewal does not name the entry that it extends.
    readiness_not_repeated,  ///< A server that is not ready is not checked again.
    loading_is_up,           ///< A server that loads its data counts as ready.
    commands_outlive,        ///< Requests left by a lost connection are sent over the next one.
    one_channel_again,       ///< After a reconnect one name is watched again, not all.
    text_sent_once,          ///< A missing script is sent on the first repetition only.
    clock_not_learned,       ///< A new connection does not report the server's time.
    read_only_kept,          ///< The connection to a server that became a replica is kept.
    replicas_not_asked,      ///< A grant counts before replicas have confirmed it.
    renewals_not_replicated, ///< So does a renewal.
    marker_not_written,      ///< Replicas have to confirm a marker that was not written.
    // Of the layout `native`.
    short_fence_unchecked,    ///< A fence of the fast path is not compared with the largest seen.
    counter_not_raised,       ///< A new connection does not raise the counter of the fences.
    refused_raise_forgotten,  ///< A raise for which the server had no memory is not repeated.
    floor_not_raised,         ///< A script may draw a smaller fence than an earlier one.
    blocks_beyond_clock,      ///< A block is as large as requested, beyond the clock.
    blocks_overlap,           ///< A block of fences begins with the last one of the block before.
    fence_before_lock,        ///< The fast path draws its fences before it takes the lock.
    shares_alike,             ///< Acquires that draw their fences together get the same ones.
    group_drops_name,         ///< A group reports a release that it did not execute.
    turn_ignored,             ///< A notification of a grant is ignored.
    connections_not_ended,    ///< The requests of a lost connection have no time limit.
    listening_claimed,        ///< A waiter reports that it listens, though it may not.
    listening_not_checked,    ///< A waiter that begins to listen does not check for a missed grant.
    queue_not_left,           ///< A waiter that gives up stays in the queue.
    queue_without_polls,      ///< A waiter in the queue polls only after a notification.
    waiter_not_marked,        ///< The holder does not learn that others wait.
    external_value_marked,    ///< The value of another library is marked like one of ours.
    marked_renewal_refused,   ///< A waiter's mark ends the lease of the holder.
    marked_value_released,    ///< The fast release deletes a marked value and notifies no waiter.
    owner_by_prefix,          ///< An owner is any owner whose name begins with its own.
    claim_without_end,        ///< A lock assigned to the first waiter never expires.
    promise_not_kept,         ///< A holder with heartbeats is limited by its lease time alone.
    sign_from_answer,         ///< A heartbeat counts from its reply.
    sign_not_recorded,        ///< The server confirms a heartbeat and stores nothing.
    grant_without_record,     ///< A grant with heartbeats makes no record.
    half_grace,               ///< A waiter counts half of the grace.
    unrecorded_is_dead,       ///< A missing record counts as an old one.
    entry_keeps_promise,      ///< A reentrant acquisition keeps the heartbeat mark of the value.
    promise_inherited,        ///< An acquire without the grace inherits the earlier one's.
    late_promise_forgotten,   ///< An acquire with the grace may be executed after one without.
    superseded_in_two,        ///< One poll finds the holder gone, the next takes any lock there.
    polls_renew,              ///< A poll renews the record.
    no_record_by_poll,        ///< A poll that finds no record makes none.
    claim_not_extended,       ///< A confirmed grant is not extended beyond its claim.
    mark_forgotten,           ///< A grant from the queue has no mark while others wait.
    assigned_stays_in_queue,  ///< A granted owner stays in the queue.
    absent_not_passed,        ///< An absent waiter gets a grant like any other.
    presence_not_renewed,     ///< A poll does not extend the presence.
    join_not_idempotent,      ///< A poll joins the queue once more.
    repeated_release_joins,   ///< A release without effect still lets the next owner join.
    try_overtakes,            ///< A try takes a free lock past the queue.
    first_entry_forgotten,    ///< The first acquisition gets no entry when others are added.
    entries_not_extended,     ///< A renewal extends the lock and not its entries.
    entries_overlooked,       ///< The short renewal ignores the entries of a lock.
    external_turn_not_left,   ///< External clients never find the lock free.
    external_turn_cut_short,  ///< A poll takes the lock during the free time.
    external_turn_left_short, ///< A waiter that gives up ends the free time.
    external_turn_not_published, ///< The first waiter is not notified of the free time.
    external_turn_without_end,   ///< The free time ends only when an external client acquires.
    external_turn_drops_first,   ///< The first waiter loses its position in the free time.
    queue_not_seen,              ///< An acquire takes a free lock without a check for waiters.
    queue_not_served,            ///< A release does not check for waiters.
    turn_without_fence,          ///< A grant from the queue keeps the previous fence.
    external_releases_ignored,   ///< A waiter ignores the releases of external clients.
    // Of a quorum.
    fewer_grant,          ///< One member less than a quorum makes a lock.
    outbid_accepted,      ///< A member that has seen a larger fence counts as accepting.
    fence_of_minority,    ///< One member that accepts the fence of the second round is enough.
    equal_fence_accepted, ///< A member accepts a fence once more.
    partial_grant_kept,   ///< A failed acquire is not released at the members.
    partial_grant_not_completed, ///< A grant is not recorded for members that lack it.
    unanswered_not_reported,     ///< A release is not repeated at a member that did not answer.
    minority_renews,             ///< One member less than a majority renews a lease.
    not_written_back,            ///< A lock is not created again at a member that lost it.
    entry_not_written_back,      ///< A missing entry is not added at a member with the lock.
    silence_ignored,             ///< A new member grants at once.
    longest_lease_forgotten,     ///< A member that lost its data does not learn the longest lease.
    lost_member_left_out,        ///< A server that lost its data is not made a member again.
    // Of a store whose locks live in sessions.
    given_lease_ignored,      ///< A shorter TTL than requested is not used.
    expired_lock_kept,        ///< A lock whose lease ended stays with the session.
    detached_lock_kept,       ///< So does the lock of a detached lease.
    session_release_given_up, ///< A release is not repeated after the TTL.
    // Of a cluster.
    asking_left_out,        ///< A request to the target of a migration is sent without ASKING.
    redirect_not_charged,   ///< A redirected request starts its time limit again.
    try_again_is_final,     ///< A request between two nodes is not retried.
    renewals_share_command, ///< Renewals of several slots are sent to one node.
    map_asked_once,         ///< The topology is never read again.
    map_without_pause,      ///< It is read again without a pause.
    same_node_asked,        ///< It is always read from the same node, which may be outdated.
    down_not_followed,      ///< An unreachable node is no reason to read it.
    channels_stay,          ///< The channels of a moved slot stay at the old node.
    marker_only_there,      ///< A marker uses the slot of its lock or none.
    let_go_unseen,          ///< Requests for a node that was closed wait forever.
    half_moved_is_gone,     ///< A lock that has not migrated yet counts as gone.
    new_node_not_notified,  ///< Waiters at an unreachable node miss the move of their slot.
    one_window_for_all,     ///< Requests that wait for one shard delay those for others.
    count_
};

#ifdef LEASEHOLD_MUTANTS
inline mutant active_mutant = mutant::none;
inline bool has(mutant which) noexcept
{
    return active_mutant == which;
}
#else
consteval bool has(mutant) noexcept
{
    return false;
}
#endif

} // namespace leasehold

#endif
