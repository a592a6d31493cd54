#include "core/acquire/acquire_attempt.hpp"

#include "base/mutant.hpp"
#include "core/acquire/long_wait.hpp"
#include "core/diagnostics/failure_details.hpp"

#include <boost/assert.hpp>

#include <algorithm>
#include <new>
#include <string_view>
#include <utility>

namespace leasehold::detail {
namespace {

// After a loss of data the counter restarts from the clock, so a block of fences must not reach far
// beyond it.
constexpr std::uint32_t most_fences = 10'000;

// Limit for the request of a holder's record. Short, because the caller waits for it.
constexpr std::chrono::milliseconds describe_limit{100};

/// Whether the request was certainly not executed and never will be. With `no_quorum` some members
/// may have executed it; the store itself undoes it there.
bool not_executed(error_code failed) noexcept
{
    return failed == errc::store_unavailable || failed == errc::store_refused ||
           failed == errc::no_quorum || failed == condition::bad_request;
}

/// The number of fences to reserve: one for each lease of a chain of local handoffs.
std::uint32_t fences(const lock_options& options) noexcept
{
    const bool hands_off = !has(mutant::fences_not_reserved) && options.renew &&
                           options.handoff_count > 0 && options.handoff_time.count() > 0;
    return hands_off ? std::min(options.handoff_count, most_fences - 1) + 1 : 1;
}

} // namespace

acquire_request acquire_attempt::request(const lock_spec& lock, const owner_id& id,
                                         std::string_view reentered, const terms& how)
{
    const lock_options& o = lock.options;
    acquire_request made{.name = lock.name,
                         .owner = id,
                         .entry = reentered,
                         .lease = o.lease_time,
                         .budget = budget(o),
                         .replica_acks = o.replica_acks,
                         .replica_timeout = lock.replica_timeout,
                         .needs_holder = how.needs_holder,
                         .again = how.again};
    if (reentered.empty()) {
        made.fences = fences(o);
        made.dead_holder_grace = o.dead_holder_grace;
    }
    if (how.queues) {
        made.waits = how.patient;
        made.presence = presence;
        made.claim = o.claim_time;
    }
    return made;
}

void acquire_attempt::send(const terms& how)
{
    terms_ = how;
    sent_ = context_.turn_time();
    const clock::duration limit = budget(spec->options);
    context_.timers.schedule(
        *this, sent_ + (context_.informed() ? std::min(limit, long_wait::limit) : limit));
    ++context_.counts.acquires_sent;
    window_.sent();
    context_.locks().async_acquire(
        request(*spec, owner, entry, how),
        [client = context_.shared_from_this(),
         self = acquire_attempt_ptr(this)](error_code failed, const acquire_reply& reply) {
            client->turn([&] {
                self->window_.done();
                client->notify_answered(store_request::acquire, self->sent_, failed);
                self->answered(failed, reply);
            });
        });
}

std::chrono::milliseconds acquire_attempt::budget(const lock_options& options) noexcept
{
    return std::min(
        std::chrono::duration_cast<std::chrono::milliseconds>(turn_context::request_limit),
        options.lease_time);
}

clock::time_point acquire_attempt::runs_until(const turn_context& r, const lock_options& options,
                                              clock::time_point sent) noexcept
{
    const auto limit = sent + budget(options);
    // A store without `rejects_late` may execute a late request, so a lease time is added.
    return r.traits().rejects_late ? limit : limit + clock::duration(options.lease_time);
}

ownership_ptr acquire_attempt::hold(turn_context& r, const spec_ptr& lock, const owner_id& id,
                                    const std::string& reentered, clock::time_point sent,
                                    const acquire_reply& reply)
{
    ownership_ptr taken(new ownership(
        lock, id, reentered, has(mutant::deadline_from_reply) ? r.turn_time() : sent, reply.lease));
    taken->first_fence = reply.first_fence;
    taken->fences = reply.fences;
    if (reply.grace_registered && !has(mutant::promise_not_kept))
        taken->promise(sent);
    return taken;
}

bool acquire_attempt::in_time(turn_context& r, const ownership& taken) noexcept
{
    return r.turn_time() < taken.valid_until() || has(mutant::late_grant_accepted);
}

ownership_ptr acquire_attempt::take(const acquire_reply& reply)
{
    ownership_ptr taken = hold(reply);
    if (in_time(context_, *taken))
        return taken;
    releases_.leave(*taken, {});
    return nullptr;
}

pending_release_ptr acquire_attempt::orphan(clock::time_point until)
{
    return terms_.queues ? nullptr : releases_.orphan({spec, owner, entry}, until);
}

void acquire_attempt::abandon()
{
    if (std::exchange(listener_, nullptr) == nullptr)
        return;
    timer_queue::cancel(*this);
    if (std::exchange(held_, nullptr)) // it was answered, and took nothing
        return;
    if (!has(mutant::abandoned_entry_kept) || entry.empty())
        orphan_ = orphan(runs_until());
}

void acquire_attempt::forget(pending_release_ptr leaving) noexcept
{
    listener_ = nullptr;
    timer_queue::cancel(*this);
    held_.reset();
    orphan_ = std::move(leaving);
}

void acquire_attempt::answered(error_code failed, const acquire_reply& reply)
{
    if (orphan_) {
        // Too late for the caller. But the release of the owner may end now, and no longer has to
        // expect a late execution.
        if (!failed || (not_executed(failed) && !reply.may_hold))
            std::exchange(orphan_, nullptr)
                ->settle(terms_.queues ||
                         (!failed && reply.result == acquire_reply::outcome::granted));
        return;
    }
    if (listener_ == nullptr)
        return;
    if (failed == errc::not_replicated) {
        orphan(context_.turn_time()); // it was executed, and cannot be later
    }
    else if (failed && !not_executed(failed)) {
        failed = errc::outcome_unknown;
        orphan(runs_until());
    }
    timer_queue::cancel(*this);
    if (!failed && describe_holder(reply))
        return;
    std::exchange(listener_, nullptr)->on_answer(*this, failed, reply);
}

/// Requests the record of the holder, if it is unknown. Returns true if the reply is reported
/// later, with that record.
bool acquire_attempt::describe_holder(const acquire_reply& reply) noexcept
try {
    if (!terms_.needs_holder || reply.result != acquire_reply::outcome::held || !reply.details ||
        reply.details->holder.empty() || !context_.traits().describes_holders)
        return false;
    const std::string holder = shown_holder(*reply.details);
    const auto now = context_.turn_time();
    if (!context_.holders.is_new(holder, now))
        return false;
    const bool has_time = now + 2 * describe_limit < sent_ + budget(spec->options);
    auto kept = !terms_.patient && has_time ? std::make_unique<acquire_reply>(reply) : nullptr;
    context_.holders.queried(holder, now);
    context_.locks().async_describe(holder, [client = context_.shared_from_this(),
                                             self = acquire_attempt_ptr(this),
                                             holder](client_info info) mutable {
        client->turn([&] {
            try {
                self->context_.holders.learn(holder, std::move(info));
            }
            catch (const std::bad_alloc&) { // the record stays unknown
            }
            self->notify_held();
        });
    });
    held_ = std::move(kept);
    if (held_)
        context_.timers.schedule(*this, now + describe_limit);
    return held_ != nullptr;
}
catch (const std::bad_alloc&) { // the reply is reported without the record
    return false;
}

void acquire_attempt::notify_held()
{
    const auto reply = std::exchange(held_, nullptr);
    if (!reply)
        return;
    timer_queue::cancel(*this);
    std::exchange(listener_, nullptr)->on_answer(*this, {}, *reply);
}

void acquire_attempt::expired()
{
    if (held_)
        return notify_held();
    BOOST_ASSERT(listener_ != nullptr && !orphan_);
    if (const auto end = sent_ + budget(spec->options); context_.turn_time() < end) {
        context_.timers.schedule(*this, end);
        return listener_->on_slow();
    }
    orphan_ = orphan(runs_until());
    std::exchange(listener_, nullptr)->on_answer(*this, errc::outcome_unknown, {});
}

} // namespace leasehold::detail
