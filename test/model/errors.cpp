#include "model/runs.hpp"

#include <array>

namespace leasehold::test::model {
namespace {

/// The smallest setting: one client, one lock, no fault.
struct least : setting
{
    constexpr least() { clients = 1; }
    constexpr least& of(int of_clients, int of_attempts)
    {
        clients = of_clients;
        attempts = of_attempts;
        return *this;
    }
    constexpr least& with(bool setting::* option)
    {
        this->*option = true;
        return *this;
    }
    constexpr least& without(bool setting::* option)
    {
        this->*option = false;
        return *this;
    }
    constexpr least& with(int setting::* option, int how_many)
    {
        this->*option = how_many;
        return *this;
    }
};

constexpr setting in(error e, setting g)
{
    g.wrong = e;
    return g;
}

constexpr least one()
{
    return {};
}
constexpr least two()
{
    return least().of(2, 1);
}
constexpr least three()
{
    return least().of(3, 1);
}
constexpr least twice()
{
    return least().of(2, 2);
}
constexpr auto faults = &setting::faults;

const std::array errors{
    error_run{"fence_before_set", "the fence is drawn before the key is set",
              in(error::fence_before_set, two()), "fence"},
    error_run{"mark_not_set", "a waiter does not mark the value",
              in(error::mark_not_set, three()), "order"},
    error_run{"mark_on_external", "a waiter marks another library's value",
              in(error::mark_on_external, one().with(&setting::external, 1)), "external"},
    error_run{"assigned_unmarked", "an assignment drops the mark of other waiters",
              in(error::assigned_unmarked, twice().with(&setting::joins)), "order"},
    error_run{"confirming_drops_mark", "a confirmation drops the mark of other waiters",
              in(error::confirming_drops_mark, twice()), "order"},
    error_run{"entering_drops_mark", "a reentrant acquisition drops that mark",
              in(error::entering_drops_mark, three().with(&setting::entries)), "order"},
    error_run{"release_of_another", "a release deletes the value of any owner",
              in(error::release_of_another, two().with(&setting::cancels, 1)), "orphan"},
    error_run{"release_skips_queue", "a release deletes a marked value",
              in(error::release_skips_queue, three()), "order"},
    error_run{"release_by_prefix", "a release confuses lh:c:11 with lh:c:1",
              in(error::release_by_prefix, twice()), "loss"},
    error_run{"acquire_by_prefix", "SET's reply confuses lh:c:11 with lh:c:1",
              in(error::acquire_by_prefix, twice().with(faults, 1).without(&setting::kill)),
              "exclusion"},
    error_run{"own_keeps_entry", "an owner granted past the queue stays in it",
              in(error::own_keeps_entry, twice().with(faults, 2).without(&setting::kill)), "order"},
    error_run{"renewal_exact", "a renewal takes a marked value for that of another owner",
              in(error::renewal_exact, two().with(&setting::renewals)), "renewal"},
    error_run{"renewal_creates", "a renewal makes a missing key again",
              in(error::renewal_creates, one().with(&setting::renewals)), "orphan"},
    error_run{"entries_not_renewed", "a renewal does not extend the reentrant acquisitions",
              in(error::entries_not_renewed,
                 one().with(&setting::entries).with(&setting::renewals)),
              "orphan"},
    error_run{"release_ignores_entries", "a release frees a lock with reentrant acquisitions",
              in(error::release_ignores_entries, one().with(&setting::entries)), "loss"},
    error_run{"join_not_idempotent", "a repeated join moves to the end of the queue",
              in(error::join_not_idempotent, three().with(faults, 1)), "order"},
    error_run{"barging", "an acquire takes a free lock past the queue",
              in(error::barging, three().with(faults, 1)), "order"},
    error_run{"try_barges", "a single try takes a free lock past the queue",
              in(error::try_barges, three().with(faults, 1).with(&setting::tries)), "order"},
    error_run{"assigned_stays_in_queue", "an assignment leaves its entry in the queue",
              in(error::assigned_stays_in_queue, two().with(&setting::cancels, 1)), "orphan"},
    error_run{"claim_without_end", "an assignment has no TTL",
              in(error::claim_without_end, one().with(faults, 1)), "stuck"},
    error_run{"leave_blind", "leaving the queue ignores the assignment",
              in(error::leave_blind, two().with(&setting::cancels, 1)), "orphan"},
    error_run{"late_release_assigns", "a release that is not the holder's assigns",
              in(error::late_release_assigns, three()), "loss"},
    error_run{"repeated_release_joins", "a repeated release joins once more",
              in(error::repeated_release_joins, twice().with(faults, 1).with(&setting::joins)),
              "order"},
    error_run{"late_acquire_runs", "an acquire runs after its limit in server time",
              in(error::late_acquire_runs,
                 one().with(faults, 1).without(&setting::kill).without(&setting::fast_path)),
              "orphan"},
    error_run{"late_release_joins", "a release joins after its limit in server time",
              in(error::late_release_joins, one()
                                                .of(1, 2)
                                                .with(faults, 2)
                                                .with(&setting::joins)
                                                .without(&setting::kill)
                                                .without(&setting::fast_path)),
              "orphan"},
    error_run{"kill_after_requests", "CLIENT KILL comes after other requests",
              in(error::kill_after_requests, one().with(faults, 1)), "orphan"},
    error_run{"kill_last_only", "CLIENT KILL ends only the last connection",
              in(error::kill_last_only, one().with(faults, 2)), "orphan"},
    error_run{"no_raise_on_connect", "a new connection does not raise the counter",
              in(error::no_raise_on_connect, two().with(faults, 1).with(&setting::loss)), "fence"},
    error_run{"raise_without_clock", "the counter is not raised to the server's clock",
              in(error::raise_without_clock, two().with(faults, 1).with(&setting::loss)), "fence"},
    error_run{"external_turn_taken", "a client takes a lock left free for others",
              in(error::external_turn_taken, three().with(&setting::turns)), "order"},
    error_run{"external_turn_drops_first", "the first waiter loses its position",
              in(error::external_turn_drops_first, three().with(&setting::turns)), "order"},
    error_run{"external_turn_without_end", "the lock stays free for external clients",
              in(error::external_turn_without_end, two().with(&setting::turns)), "stuck"},
    error_run{"deadline_from_answer", "a deadline counts from the reply",
              in(error::deadline_from_answer, two().with(faults, 1)), "exclusion"},
    error_run{"deadline_from_repetition", "a deadline counts from a repeated SET NX",
              in(error::deadline_from_repetition, two().with(faults, 2)), "exclusion"},
    error_run{"deadline_from_redraw", "a deadline counts from the second drawing of a fence",
              in(error::deadline_from_redraw, two().with(faults, 2).with(&setting::loss)),
              "exclusion"},
    error_run{"no_floor", "a fence below the largest one seen is given out",
              in(error::no_floor, one().with(faults, 1).with(&setting::loss)), "fence"},
    error_run{"floor_without_raise", "the reply to the raise does not count as seen",
              in(error::floor_without_raise, one().with(faults, 1).with(&setting::loss)), "fence"},
    error_run{"fence_beyond_block", "a local handoff takes an unreserved fence",
              in(error::fence_beyond_block, two()), "fence"},
    error_run{"notification_grants", "a notification is taken for a grant",
              in(error::notification_grants, three().with(faults, 1)), "exclusion"},
    error_run{"claim_from_notification", "a claim counts from its notification",
              in(error::claim_from_notification, twice().with(faults, 1)), "exclusion"},
    error_run{"renewal_confirms", "an assignment is confirmed by a renewal",
              in(error::renewal_confirms, twice().with(faults, 1)), "fence"},
    error_run{"no_look", "no waiter polls without a wake-up",
              in(error::no_look, two().with(faults, 1)),
              "stuck"},
    error_run{"refused_fence_kept", "SET took it, INCRBY failed, no release follows",
              in(error::refused_fence_kept, one().with(faults, 1)), "orphan"},
    error_run{"new_owner_for_repetition", "a lost request is repeated with another owner",
              in(error::new_owner_for_repetition, one().with(faults, 1)), "orphan"},
    error_run{"cancelled_in_silence", "a cancelled waiter stays in the queue",
              in(error::cancelled_in_silence, one().with(&setting::cancels, 1)), "orphan"},
    error_run{"cancelled_grant_kept", "a grant without a waiter is not released",
              in(error::cancelled_grant_kept, one().with(&setting::cancels, 1)), "orphan"},
    error_run{"lost_request_forgotten", "a lost request counts as not executed",
              in(error::lost_request_forgotten, one().with(faults, 1).with(&setting::cancels, 1)),
              "orphan"},
    error_run{"absent_next_believed", "a release is assumed to carry another owner",
              in(error::absent_next_believed, least().of(1, 2).with(&setting::alone)), "unheard"},
    error_run{"listening_ignored", "a waiter does not poll after a new subscription",
              in(error::listening_ignored, two().with(faults, 1).with(&setting::told)), "stuck"},
    error_run{"listening_forgotten_sending", "the same while its request is sent",
              in(error::listening_forgotten_sending, two().with(faults, 1).with(&setting::told)),
              "stuck"},
    error_run{"listening_forgotten_releasing", "the same while its release brings in the next",
              in(error::listening_forgotten_releasing,
                 twice().with(faults, 1).with(&setting::joins).with(&setting::told)),
              "stuck"},
    // The documented exceptions, here without their excuse.
    error_run{"(exception) barging", "SET NX takes an expired lock past the queue",
              [] {
                  setting g = three().with(faults, 1);
                  g.excuse_barging = false;
                  return g;
              }(),
              "order"},
    error_run{"(exception) flushed", "FLUSHALL comes between SET NX and INCRBY",
              [] {
                  setting g = two().with(faults, 1).with(&setting::loss);
                  g.excuse_flushed = false;
                  return g;
              }(),
              "fence"},
};

} // namespace

std::span<const error_run> error_runs()
{
    return errors;
}

} // namespace leasehold::test::model
