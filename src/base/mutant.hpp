#ifndef LEASEHOLD_SRC_BASE_MUTANT_HPP
#define LEASEHOLD_SRC_BASE_MUTANT_HPP

namespace leasehold {

/// Deliberate errors, each of which the simulator has to find. They exist in its own build only.
enum class mutant
{
    none,
    deadline_from_reply,     ///< The lease time counts from the answer.
    no_margin,               ///< The deadline is as late as the store's.
    validity_without_clock,  ///< A lease is valid until somebody says otherwise.
    deadline_not_watched,    ///< While a renewal is under way nobody looks at the deadline.
    late_grant_accepted,     ///< A grant whose time has passed is given out.
    late_renewal_revives,    ///< A confirmation counts after the deadline.
    unknown_is_lost,         ///< One failed renewal ends the lease.
    renewal_not_repeated,    ///< One failed renewal is the last.
    gone_ignored,            ///< A renewal that finds nothing is taken for a success.
    renewal_creates,         ///< The store makes the missing lock again.
    renewal_goes_on,         ///< The renewal is not stopped before the release.
    release_of_another,      ///< The store does not compare the owner.
    owner_reused,            ///< One id for all acquisitions of a client.
    release_not_repeated,    ///< A release whose answer is lost is forgotten.
    orphan_kept,             ///< What an acquire without an answer took is not given back.
    orphan_given_up_early,   ///< "Not owner" is believed while the acquire may still run.
    cancelled_grant_kept,    ///< A grant that nobody waits for any more is not given back.
    abandoned_entry_kept,    ///< A cancelled entry forgets its request.
    late_acquire_runs,       ///< The store grants to those who have given up.
    repeated_acquire_adds,   ///< An acquire that runs twice counts twice.
    repeated_entry_adds,     ///< An entry that runs twice counts twice.
    fence_without_clock,     ///< The fence is a counter and no more.
    fences_not_reserved,     ///< Local handoffs take fences that nobody reserved.
    handoff_near_the_end,    ///< A lease that is about to end is handed on.
    handoff_of_entered,      ///< A lock that others are in is handed on.
    handoff_without_end,     ///< Local waiters always come first.
    hint_ignored,            ///< Nobody wakes up when a release is told.
    only_hints,              ///< Nobody looks again unless told.
    no_backoff,              ///< Waiters look again at once.
    waiter_forgotten,        ///< Whoever waits when a lease ends is not served.
    shutdown_keeps,          ///< What is held at the shutdown stays.
    waiters_not_refused,     ///< Whoever waits at the shutdown waits on.
    doubt_forgotten,         ///< A renewal without an answer is taken to have ended with its lease.
    expired_entry_kept,      ///< What expired beside others under the same owner stays in.
    hold_limit_kept,         ///< What was held for as long as it may be is not given back.
    entry_renewed_as_owner,  ///< A renewal does not name the entry that it prolongs.
    readiness_not_repeated,  ///< A server that does not serve yet is not asked again.
    loading_is_up,           ///< A server that loads its data is taken for one that serves.
    commands_outlive,        ///< What a lost connection left unanswered is sent over the next one.
    one_channel_again,       ///< After a reconnect one name is watched again, not all.
    text_sent_once,          ///< A script that is missing is sent on the first repetition only.
    clock_not_learned,       ///< A new connection does not say what time it is at the server.
    read_only_kept,          ///< The connection to a server that became a replica is kept.
    replicas_not_asked,      ///< What is granted counts before replicas have confirmed it.
    renewals_not_replicated, ///< So does what is renewed.
    marker_not_written,      ///< Replicas are asked for what nobody has written.
    // Of the layout `native`.
    short_fence_unchecked,   ///< A fence of the short way is not compared with the largest seen.
    counter_not_raised,      ///< A new connection leaves the counter of the fences as it is.
    refused_raise_forgotten, ///< So does one whose raise the server had no memory for.
    floor_not_raised,        ///< What a script draws may be smaller than what was drawn before.
    blocks_beyond_clock,     ///< A block is as large as was asked for, whatever the time.
    blocks_overlap,          ///< A block of fences begins with the last one of the block before.
    fence_before_lock,       ///< The short way draws its fences before it takes the lock.
    shares_alike,            ///< Whose fences are drawn together get the same ones.
    turn_ignored,            ///< Whoever is told of its turn does nothing.
    connections_not_ended,   ///< What a lost connection carried may run whenever it likes.
    listening_claimed, ///< Whoever joins a line says that it hears of its turn, though it may not.
    listening_not_looked, ///< Whoever begins to hear of turns does not look whether one was missed.
    line_not_left,        ///< Whoever does not want the lock any more stays in line.
    line_without_looks,   ///< Whoever is in line does not look again unless told.
    waiter_not_marked,    ///< Nobody tells the holder that somebody waits.
    foreign_value_marked, ///< The value of another library is marked like one of ours.
    marked_renewal_refused, ///< A waiter's mark ends the lease of the holder.
    marked_value_released, ///< The short release takes away what others wait for, and tells nobody.
    owner_by_prefix,       ///< An owner is whoever's name begins with its own.
    claim_without_end,     ///< What is given to the first in line is kept for it for ever.
    promise_not_kept,      ///< Whoever promised to be alive counts its lease time alone.
    sign_from_answer,      ///< A sign of life counts from its answer.
    sign_not_recorded,     ///< The server confirms a sign of life and keeps nothing.
    grant_without_record,  ///< A grant with the promise makes no record.
    half_grace,            ///< Whoever waits counts half of the grace.
    unrecorded_is_dead,    ///< A missing record is taken for an old one.
    entry_keeps_promise,   ///< Whoever enters leaves the mark of the promise in the value.
    promise_inherited,     ///< Whoever asks again without the promise is held to the one before.
    late_promise_forgotten, ///< What asked with the promise may run after what asks without it.
    superseded_in_two,      ///< A look finds that the holder is gone, the next takes what is there.
    looks_renew,            ///< A look makes the record new.
    no_record_by_look,      ///< A look that finds no record makes none.
    claim_not_prolonged,    ///< Who takes what it was given has it for no longer than that.
    mark_forgotten,         ///< What the line gives is not marked, though others wait still.
    assigned_stays_in_line, ///< Whoever is given the lock is in line still.
    absent_not_passed,      ///< Whoever is not there has its turn like anybody.
    presence_not_renewed,   ///< A look does not say that who looks is there.
    join_not_idempotent,    ///< A look joins the line once more.
    repeated_release_joins, ///< A release that leaves nothing brings the next owner all the same.
    try_overtakes,          ///< Whoever does not wait takes a free lock past the line.
    first_entry_forgotten,  ///< Who is in first has no entry of its own when others enter.
    entries_not_prolonged,  ///< A renewal prolongs the lock and not who is in it.
    entries_overlooked,     ///< The brief renewal takes a lock with entries for one without.
    foreign_turn_not_left,  ///< Those who do not know the line never find the lock free.
    foreign_turn_cut_short, ///< Whoever looks takes the lock that is left free for them.
    foreign_turn_left_short, ///< Whoever gives up in line ends the turn of those who are not in it.
    foreign_turn_not_told,   ///< The first in line does not hear that it is left free.
    foreign_turn_without_end, ///< It stays free until somebody takes it who is not in line.
    foreign_turn_drops_first, ///< Who is first in line when it is left free has lost its place.
    line_not_seen,      ///< Whoever asks takes what is free, and does not look whether others wait.
    line_not_served,    ///< Whoever leaves does not look whether others wait.
    turn_without_fence, ///< Who takes what it was given has the fence of the one before.
    strangers_not_heard, ///< Whoever waits for a stranger does not listen to where it says it left.
    // Of a quorum.
    fewer_grant,          ///< One member less than a quorum makes a lock.
    outbid_accepted,      ///< A member that has seen a larger fence counts as one that accepts.
    fence_of_minority,    ///< One member that accepts the fence of the second round is enough.
    equal_fence_accepted, ///< A member accepts a fence once more.
    partial_grant_kept,   ///< What members granted to an acquire that failed stays.
    partial_grant_not_completed, ///< A grant is not remembered where members lack it.
    unanswered_not_told,         ///< A member that does not answer a release is not told again.
    minority_renews,             ///< One member less than a majority renews a lease.
    not_written_back,            ///< A member that has lost a hold is never told of it again.
    entry_not_written_back,  ///< A member that has the lock is not told of an entry that it missed.
    silence_ignored,         ///< A member grants again as soon as it is one.
    longest_lease_forgotten, ///< A member that forgot does not know the longest lease afterwards.
    stranger_left_out,       ///< Nobody makes a server a member that has forgotten.
    // Of a cluster.
    asking_left_out,        ///< What is asked where a slot is going to does not say so.
    redirect_not_charged,   ///< Whoever is sent elsewhere has all its time again.
    try_again_is_final,     ///< What is between two nodes is not tried again.
    renewals_share_command, ///< Renewals of several slots are asked of one node.
    map_asked_once,         ///< Who serves what is never asked again.
    map_without_pause,      ///< It is asked again as soon as it was answered.
    same_node_asked,        ///< It is asked of the same node each time, which may be behind.
    down_not_followed,      ///< A node that cannot be reached is no reason to ask.
    channels_stay,          ///< Whoever waits listens where the slot was.
    marker_only_there,      ///< A marker goes to the slot of its lock or nowhere.
    let_go_unseen,          ///< Whoever waits for a node that is given up waits for ever.
    half_moved_is_gone,     ///< Where a slot is going to, a lock that is not there yet is gone.
    new_node_not_told,      ///< Whoever waits for a node that is down waits though its slot moved.
    one_window_for_all,     ///< What waits for one shard holds up what is asked of others.
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
