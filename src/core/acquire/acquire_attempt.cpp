#include "core/acquire/acquire_attempt.hpp"

#include "mutant.hpp"

#include <boost/assert.hpp>

#include <algorithm>
#include <utility>

namespace leasehold::detail {
namespace {

/// Errors that say for certain that the request was not executed and will not be.
bool not_executed(error_code failed) noexcept
{
    return failed == errc::store_unavailable || failed == errc::store_refused ||
           failed == condition::bad_request;
}

} // namespace

void acquire_attempt::send(const terms& asked)
{
    const auto lease = spec->options.lease_time;
    goes_on_ = asked.goes_on;
    sent_ = context_.turn_time();
    // A grant that comes when the lease time has passed is worth nothing.
    const auto budget = std::min(
        std::chrono::duration_cast<std::chrono::milliseconds>(turn_context::request_limit), lease);
    runs_until_ = sent_ + budget;
    context_.timers.schedule(*this, runs_until_);
    ++context_.counts.acquires_sent;
    window_.sent();
    context_.locks().async_acquire(
        {.name = spec->name,
         .owner = owner,
         .entry = entry,
         .lease = lease,
         .fences = asked.fences,
         .budget = budget,
         .asks_holder = asked.asks_holder,
         .again = asked.again,
         .waits = asked.waits,
         .presence = asked.presence,
         .claim = asked.claim},
        [client = context_.shared_from_this(),
         self = acquire_attempt_ptr(this)](error_code failed, const acquire_reply& reply) {
            client->turn([&] {
                self->window_.done();
                self->answered(failed, reply);
            });
        });
}

ownership_ptr acquire_attempt::hold(const acquire_reply& reply) const
{
    ownership_ptr taken(new ownership(
        spec, owner, entry, has(mutant::deadline_from_reply) ? context_.turn_time() : sent_));
    taken->first_fence = reply.first_fence;
    taken->fences = reply.fences;
    return taken;
}

ownership_ptr acquire_attempt::take(const acquire_reply& reply)
{
    const auto now = context_.turn_time();
    ownership_ptr taken = hold(reply);
    if (now < taken->valid_until() || has(mutant::late_grant_accepted))
        return taken;
    releases_.leave(*taken, {});
    return nullptr;
}

clock::time_point acquire_attempt::runs_until() const noexcept
{
    // A store that does not refuse what comes too late may run it until a lease time later.
    return context_.traits().refuses_late ? runs_until_
                                          : runs_until_ + clock::duration(spec->options.lease_time);
}

pending_release_ptr acquire_attempt::orphan()
{
    return goes_on_ ? nullptr : releases_.orphan({spec, owner, entry}, runs_until());
}

void acquire_attempt::abandon()
{
    if (std::exchange(listener_, nullptr) == nullptr)
        return;
    timer_queue::cancel(*this);
    if (!has(mutant::abandoned_entry_kept) || entry.empty())
        orphan_ = orphan();
}

void acquire_attempt::forget() noexcept
{
    listener_ = nullptr;
    timer_queue::cancel(*this);
}

void acquire_attempt::answered(error_code failed, const acquire_reply& reply)
{
    if (orphan_) {
        // Too late for the caller, but it spares the store the doubt.
        if (!failed || not_executed(failed))
            std::exchange(orphan_, nullptr)
                ->settle(!failed && reply.result == acquire_reply::outcome::granted);
        return;
    }
    if (listener_ == nullptr)
        return;
    if (failed && !not_executed(failed)) {
        failed = errc::outcome_unknown;
        orphan();
    }
    timer_queue::cancel(*this);
    std::exchange(listener_, nullptr)->on_answer(*this, failed, reply);
}

void acquire_attempt::expired()
{
    BOOST_ASSERT(listener_ != nullptr && !orphan_);
    orphan_ = orphan();
    std::exchange(listener_, nullptr)->on_answer(*this, errc::outcome_unknown, {});
}

} // namespace leasehold::detail
