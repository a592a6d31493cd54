#include "core/acquire/queued_contender.hpp"

#include "base/mutant.hpp"
#include "core/acquire/wait_queue.hpp"
#include "fsm/contention/poll_pace.hpp"

#include <boost/assert.hpp>

#include <algorithm>
#include <utility>

namespace leasehold::detail {
namespace {

// The number of waiters, from the front of the queue, that watch the name if its holder does not
// know the queue. If the first one is gone, the second one polls.
constexpr std::uint32_t watching_waiters = 2;

} // namespace

queued_contender::queued_contender(wait_queue& queue) noexcept
    : queue_(queue), context_(queue.context())
{}

bool queued_contender::idle() const noexcept
{
    return machine_.current() == state::idle;
}

bool queued_contender::pausing() const noexcept
{
    return failures_.repeated() && timer::is_linked() && machine_.current() == state::pausing;
}

void queued_contender::resume(state from, const acquire_attempt* sent)
{
    machine_.resume(from);
    if (from == state::sending && sent != nullptr) {
        errand_.emplace(sent->owner);
        errand_->spec = sent->spec;
    }
}

bool queued_contender::dispensable() const noexcept
{
    return machine_.current() == state::holding && !errand_ && !stopped_;
}

queued_contender::errand& queued_contender::current()
{
    if (!errand_)
        errand_.emplace(context_.make_owner());
    return *errand_;
}

void queued_contender::wanted()
{
    begin_wait(queue_.first()->options);
    perform(machine_.wanted(queue_.online()));
}

/// Failures and pauses of an earlier waiter do not count for this one.
void queued_contender::begin_wait(const lock_options& o)
{
    backoff_ = fsm::backoff(o.backoff_floor, o.backoff_ceiling);
    failures_.served();
}

void queued_contender::unwanted()
{
    watch(false);
    if (queue_.waits_for_window()) {
        queue_.withdraw();
        perform(machine_.unsent(false));
    }
    else {
        perform(machine_.unwanted());
    }
    end_errand();
}

void queued_contender::notified(std::string_view owner)
{
    if (errand_ && errand_->owner == owner) {
        // While the store cannot be reached, a request would only count as another failure. The
        // next connection triggers the request, too.
        if (queue_.online() || !machine_.waits())
            perform(machine_.notified(machine::whose::current));
        return;
    }
    if (next_ && next_->self.owner == owner)
        return perform(machine_.notified(machine::whose::next));
    // The owner of a held lock has no errand any more: it has confirmed its grant already.
    if (queue_.holds(owner) || stopped_)
        return;
    // The message may be older than the release: a second one could be executed before the first
    // has ended, and the first would report that the owner does not hold the lock.
    if (queue_.releases().ends(owner))
        return;
    if (owner.size() > owner_id::static_capacity) // not an owner of this client
        return;
    if (machine_.notified(machine::whose::ended).what == machine::action::kind::release_ended)
        queue_.releases().leave_queue({spec_of_name(), owner_id(owner.data(), owner.size()), {}},
                                      {}, {});
}

/// Whether the lock is left free for external clients, so that this client must not acquire it.
bool queued_contender::keeps_out() const noexcept
{
    return open_until_ > context_.turn_time() && timer::is_linked() &&
           machine_.current() == state::pausing;
}

/// A holder that does not know the queue has released the lock, or may have.
void queued_contender::wakeup()
{
    if (!has(mutant::wakeup_ignored))
        listening();
}

/// While the store cannot be reached, the next connection triggers the request instead.
void queued_contender::listening()
{
    if (queue_.online() && !pausing() && !keeps_out())
        perform(machine_.listening());
}

void queued_contender::settled()
{
    const auto now = context_.turn_time();
    if (errand_)
        errand_->runs_until = std::min(errand_->runs_until, now);
    if (next_)
        next_->self.runs_until = std::min(next_->self.runs_until, now);
    end_errand();
}

void queued_contender::connected()
{
    // After one lost connection the request is sent at once. Connections that come and go shorten
    // no pause.
    if (!pausing() && !keeps_out())
        perform(machine_.connected());
}

void queued_contender::disconnected()
{
    if (queue_.waits_for_window()) {
        queue_.withdraw();
        perform(machine_.unsent(true));
    }
}

void queued_contender::perform(machine::action next)
{
    if (stopped_)
        return;
    switch (next.what) {
    case machine::action::kind::none:
    case machine::action::kind::release_ended: break;
    case machine::action::kind::send:
        again_ = next.again;
        timer_queue::cancel(*this);
        queue_.join_window();
        break;
    case machine::action::kind::sleep: sleep(); break;
    case machine::action::kind::leave: leave(); break;
    }
}

void queued_contender::sleep()
{
    const clock::duration lease = queue_.first()->options.lease_time;
    const bool queued = machine_.current() == state::queued;
    if (queued && has(mutant::queue_without_polls))
        return;
    clock::duration pause = clock::duration::max();
    if (queued)
        pause = fsm::poll_pace(acquire_attempt::presence, lease)
                    .next(position_, remaining_, context_.random);
    if (!queued || restless_)
        pause = std::min(pause, backoff_.next(context_.random));
    context_.timers.schedule(*this, context_.turn_time() + pause);
}

void queued_contender::expired()
{
    perform(machine_.due(queue_.online()));
}

void queued_contender::on_room(acquire_window& there)
{
    errand& sent = current();
    const spec_ptr& first = queue_.first();
    if (bound(first->options.dead_holder_grace, context_.turn_time()))
        return perform(machine_.renounced());
    sent.spec = first;
    queue_.send(there, sent.owner, again_);
}

void queued_contender::served()
{
    failures_.served();
    // The reply contains the effect of the requests before it.
    if (errand_ && errand_->runs_until <= context_.turn_time())
        errand_->runs_until = {};
}

void queued_contender::granted(const acquire_attempt& attempt, ownership& taken, bool in_time)
{
    served();
    backoff_.reset();
    // The store may have had no memory to register this grace, but have some when an earlier
    // request with a grace is executed late.
    const auto grace = taken.grace_registered() ? attempt.spec->options.dead_holder_grace
                                                : std::chrono::milliseconds::zero();
    const bool holds = queue_.serves_first(attempt.spec) && !bound(grace, attempt.sent_at());
    hold(taken, machine_.granted(in_time, holds));
}

void queued_contender::held(const acquire_reply& reply)
{
    served();
    held_by_other(reply);
    perform(machine_.held(reply.queued, queue_.wanted()));
    end_errand();
}

void queued_contender::late()
{
    served();
    backoff_.reset();
    perform(machine_.late(queue_.wanted()));
    end_errand();
}

void queued_contender::held_by_other(const acquire_reply& reply)
{
    position_ = reply.position;
    remaining_ = reply.remaining;
    queue_.on_held(reply);
    restless_ = false;
    if (reply.queued && position_ == 0 && queue_.wanted()) {
        // The rest of a grace is no reason for doubt: each heartbeat restarts it, so two polls may
        // find the same value. A session has no TTL.
        const bool doubtful = !reply.grace_registered && !context_.traits().session &&
                              doubt_.of(remaining_, queue_.first()->options.lease_time,
                                        context_.turn_time());
        if (doubtful)
            context_.report_problem(
                [&](observer& o) { o.suspect_expiry(queue_.name(), remaining_); });
        restless_ = doubtful || reply.may_miss_grant;
    }
    watch(reply.queued && reply.published && position_ < watching_waiters && queue_.wanted() &&
          context_.traits().publishes && !has(mutant::external_releases_ignored));
    if (!restless_)
        backoff_.reset();
}

/// A release counts the subscribers of a watched name as external clients, and leaves the lock free
/// for them now and then. So this client watches no longer than needed.
void queued_contender::watch(bool on)
{
    if (std::exchange(watching_, on) == on)
        return;
    if (on) {
        context_.locks().watch(queue_.name());
        ++context_.counts.watched;
    }
    else {
        context_.locks().unwatch(queue_.name());
        --context_.counts.watched;
    }
}

void queued_contender::failed(const acquire_attempt& attempt, request_effect had)
{
    failures_.failed();
    if (had == request_effect::may_run)
        current().may_run_until(attempt.runs_until(), attempt.spec->options.dead_holder_grace);
    perform(machine_.failed(had != request_effect::none, queue_.wanted()));
    end_errand();
}

/// Whether an earlier request of the owner may be executed after one that is sent at `sent`, and
/// register a shorter grace, or a grace that this one does not have. Waiters could then supersede
/// the holder before its deadline, so the owner is released first.
bool queued_contender::bound(std::chrono::milliseconds grace, clock::time_point sent) const noexcept
{
    // The second deliberate error is in a script of the store, and this check would hide it.
    return errand_ && errand_->binds(grace, sent) && !has(mutant::late_promise_forgotten) &&
           !has(mutant::promise_inherited);
}

/// Holds the granted lock, or releases it if the grant is late or cannot be used.
void queued_contender::hold(ownership& taken, machine::action next)
{
    watch(false);
    if (next.what == machine::action::kind::leave)
        return queue_.releases().leave(taken, {.notify = &queue_});
    BOOST_ASSERT(machine_.current() == state::holding);
    end_errand();
    queue_.on_taken(taken);
}

/// Releases what the store may have of the owner: its position in the queue, or the lock. The next
/// owner waits for the reply only. If a request of the owner may still be executed after that,
/// `left` starts a second release.
void queued_contender::leave()
{
    timer_queue::cancel(*this);
    errand& gone = current();
    if (gone.spec == nullptr)
        gone.spec = spec_of_name();
    queue_.releases().leave_queue({gone.spec, gone.owner, {}}, gone.runs_until,
                                  {.notify = &queue_});
}

void queued_contender::leaving() noexcept
{
    static_cast<void>(machine_.leaving(queue_.patient() && !stopped_));
}

const acquire_request* queued_contender::next()
{
    if (!machine_.joins() || stopped_)
        return nullptr;
    if (!next_) {
        // The waiters may have left since. Confirmation by replicas and a grace need a request of
        // their own. A request that is carried without effect would count as one that may still be
        // executed.
        if (!queue_.wanted() || queue_.first()->options.replica_acks > 0 ||
            queue_.first()->options.dead_holder_grace.count() > 0) {
            machine_.joins_no_waiter();
            return nullptr;
        }
        next_ = std::make_unique<successor>(successor{errand(context_.make_owner())});
        next_->self.spec = queue_.first();
    }
    else {
        next_->repeated = true;
    }
    errand& self = next_->self;
    self.runs_until = acquire_attempt::runs_until(context_, self.spec->options,
                                                  context_.turn_time());
    next_->request = acquire_attempt::request(*self.spec, self.owner, {},
                                              {.patient = true, .queues = true});
    return &next_->request;
}

void queued_contender::left(const release_reply* reply, clock::time_point sent,
                            std::chrono::milliseconds open)
{
    if (stopped_)
        return;
    // An earlier request of the released owner may still be executed, although the release was
    // answered.
    if (errand_ && errand_->runs_until > context_.turn_time())
        queue_.releases().leave_queue({errand_->spec, errand_->owner, {}}, errand_->runs_until, {});
    errand_.reset();
    if (next_ && reply != nullptr && !next_->repeated)
        next_->self.runs_until = {}; // the only request of that owner was executed
    if (next_)
        errand_.emplace(next_->self);
    next_.reset();
    if (queue_.wanted())
        begin_wait(queue_.first()->options);

    const acquire_reply* const next_reply = reply != nullptr && reply->next ? &*reply->next
                                                                            : nullptr;
    // The release carried no next owner, or was executed by a request whose reply was lost.
    if (next_reply == nullptr || !errand_) {
        // The store keeps the end of the free time in the record of the first waiter. The queue was
        // empty, so this client keeps it.
        const bool is_free = open.count() > 0 && reply != nullptr &&
                             reply->result == release_reply::outcome::freed;
        perform(machine_.left(machine::succession::none, false, queue_.wanted(),
                              queue_.online() && !is_free));
        if (is_free && machine_.current() == state::pausing) {
            open_until_ = context_.turn_time() + open;
            context_.timers.schedule(*this, open_until_);
        }
        return;
    }
    errand_->runs_until = {};
    if (next_reply->result == acquire_reply::outcome::granted) {
        queue_.on_granted();
        const ownership_ptr taken = acquire_attempt::hold(context_, errand_->spec, errand_->owner,
                                                          {}, sent, *next_reply);
        const bool in_time = acquire_attempt::in_time(context_, *taken);
        return hold(*taken, machine_.left(machine::succession::granted, in_time,
                                          queue_.serves_first(errand_->spec), queue_.online()));
    }
    held_by_other(*next_reply);
    perform(machine_.left(machine::succession::queued, false, queue_.wanted(), queue_.online()));
}

/// Removes the errand of an owner that has ended, or that holds the lock now. Keeps it while a
/// request of the owner may still be executed.
void queued_contender::end_errand()
{
    const bool over = machine_.current() == state::idle || machine_.current() == state::holding;
    if (over && errand_ && errand_->runs_until <= context_.turn_time())
        errand_.reset();
}

void queued_contender::stop()
{
    stopped_ = true;
    watch(false);
    const acquire_attempt_ptr attempt = queue_.forget_request();
    if (attempt)
        current().may_run_until(attempt->runs_until(), attempt->spec->options.dead_holder_grace);
    const auto runs_until = errand_ ? errand_->runs_until : clock::time_point{};
    queue_.withdraw();
    timer_queue::cancel(*this);
    // An outstanding release continues without this object.
    const bool is_leaving = machine_.current() == state::releasing;
    pending_release_ptr gone;
    if (errand_ && errand_->spec && (!is_leaving || runs_until > context_.turn_time()))
        gone = queue_.releases().leave_queue({errand_->spec, errand_->owner, {}}, runs_until, {});
    if (attempt)
        attempt->forget(std::move(gone));
    if (next_)
        queue_.releases().leave_queue({next_->self.spec, next_->self.owner, {}},
                                      next_->self.runs_until, {});
}

spec_ptr queued_contender::spec_of_name() const
{
    return std::make_shared<lock_spec>(nullptr, queue_.name(), lock_options());
}

} // namespace leasehold::detail
