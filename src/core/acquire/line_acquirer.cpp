#include "core/acquire/line_acquirer.hpp"

#include "base/mutant.hpp"
#include "fsm/contention/look_pace.hpp"

#include <boost/assert.hpp>

#include <algorithm>
#include <utility>

namespace leasehold::detail {
namespace {

// How long the store may count on it that a client is there, after each of its looks.
constexpr std::chrono::milliseconds presence = std::chrono::seconds(10);

// How many in line look when they hear of a release that is announced to everybody: should the
// first be gone, the second is there.
constexpr std::uint32_t who_watch = 2;

} // namespace

bool line_acquirer::idle() const noexcept
{
    return machine_.current() == machine::state::idle;
}

bool line_acquirer::pausing() const noexcept
{
    return failures_.repeated() && timer::is_linked() &&
           machine_.current() == machine::state::pausing;
}

bool line_acquirer::holding() const noexcept
{
    return machine_.current() == machine::state::holding;
}

void line_acquirer::resume(bool leaves)
{
    machine_.resume(leaves);
}

bool line_acquirer::dispensable() const noexcept
{
    return holding() && !errand_ && !stopped_;
}

line_acquirer::errand& line_acquirer::current()
{
    if (!errand_)
        errand_.emplace(context().make_owner());
    return *errand_;
}

void line_acquirer::wanted()
{
    begin_wait();
    perform(machine_.wanted(online()));
}

/// How it went for who waited before says nothing to who waits now.
void line_acquirer::begin_wait()
{
    const lock_options& o = behalf_.first()->options;
    backoff_ = fsm::backoff(o.backoff_floor, o.backoff_ceiling);
    failures_.served();
}

void line_acquirer::unwanted()
{
    watch(false);
    if (waits_for_window()) {
        withdraw();
        perform(machine_.unsent(false));
    }
    else {
        perform(machine_.unwanted());
    }
    end_errand();
}

void line_acquirer::turn(std::string_view owner)
{
    if (errand_ && errand_->owner == owner) {
        // A store that cannot be reached would only count as failing again; the connection that
        // comes is a reason to send it, too.
        if (online() || !machine_.waits())
            perform(machine_.turn(machine::whose::current));
        return;
    }
    if (next_ && next_->who.owner == owner)
        return perform(machine_.turn(machine::whose::next));
    // What is held has no errand any more: whoever holds it has had its turn.
    if (behalf_.holds(owner) || stopped_)
        return;
    if (owner.size() > owner_id::static_capacity) // nobody of ours
        return;
    if (machine_.turn(machine::whose::ended).what == machine::action::kind::give_back)
        client_.releases.leave_line({spec_of_name(), owner_id(owner.data(), owner.size()), {}}, {},
                                    {});
}

/// Those who know no line have their turn, and so nobody here.
bool line_acquirer::keeps_out() const noexcept
{
    return open_until_ > context().turn_time() && timer::is_linked() &&
           machine_.current() == machine::state::pausing;
}

/// One that knows no line says that it has left, or may have.
void line_acquirer::hint()
{
    if (!has(mutant::hint_ignored))
        listening();
}

/// While the store cannot be reached the connection that comes is what is waited for.
void line_acquirer::listening()
{
    if (online() && !pausing() && !keeps_out())
        perform(machine_.listening());
}

void line_acquirer::settled() noexcept
{
    const auto now = context().turn_time();
    if (errand_)
        errand_->runs_until = std::min(errand_->runs_until, now);
    if (next_)
        next_->who.runs_until = std::min(next_->who.runs_until, now);
    end_errand();
}

void line_acquirer::connected()
{
    // One lost connection is made up for at once; those that come and go shorten no pause.
    if (!pausing() && !keeps_out())
        perform(machine_.connected());
}

void line_acquirer::disconnected()
{
    if (waits_for_window()) {
        withdraw();
        perform(machine_.unsent(true));
    }
}

void line_acquirer::perform(machine::action next)
{
    if (stopped_)
        return;
    switch (next.what) {
    case machine::action::kind::none:
    case machine::action::kind::give_back: break;
    case machine::action::kind::send:
        again_ = next.again;
        ask_for_room();
        break;
    case machine::action::kind::sleep: sleep(); break;
    case machine::action::kind::leave: leave(); break;
    }
}

void line_acquirer::sleep()
{
    turn_context& r = context();
    const clock::duration lease = behalf_.first()->options.lease_time;
    const bool in_line = machine_.current() == machine::state::in_line;
    if (in_line && has(mutant::line_without_looks))
        return;
    clock::duration pause = clock::duration::max();
    if (in_line)
        pause = fsm::look_pace(presence, lease).next(place_, remaining_, r.random);
    if (!in_line || restless_)
        pause = std::min(pause, backoff_.next(r.random));
    r.timers.schedule(*this, r.turn_time() + pause);
}

void line_acquirer::expired()
{
    perform(machine_.due(online()));
}

void line_acquirer::on_room(acquire_window& there)
{
    errand& sent = current();
    const spec_ptr& asked = behalf_.first();
    if (bound(asked->options.dead_holder_grace, context().turn_time()))
        return perform(machine_.renounced());
    sent.spec = asked;
    send(there, sent.spec, sent.owner,
         {.fences = fences(sent.spec->options),
          .asks_holder = behalf_.asks_holder(),
          .one_try = !behalf_.patient(),
          .goes_on = true,
          .again = again_,
          .waits = behalf_.patient(),
          .presence = presence,
          .claim = sent.spec->options.claim_time});
}

void line_acquirer::on_reply(acquire_attempt& attempt, const acquire_reply& reply)
{
    failures_.served();
    // What the requests before it have done is in this answer.
    if (errand_ && errand_->runs_until <= context().turn_time())
        errand_->runs_until = {};
    if (reply.result != acquire_reply::outcome::held)
        backoff_.reset();
    switch (reply.result) {
    case acquire_reply::outcome::granted: {
        behalf_.on_granted();
        const ownership_ptr taken = attempt.hold(reply);
        const bool in_time = acquire_attempt::in_time(context(), *taken);
        // The store may have had no memory for the promise, and have some when the other one runs.
        const auto promised = reply.promised ? attempt.spec->options.dead_holder_grace
                                             : std::chrono::milliseconds::zero();
        const bool holds = serves_first(attempt.spec) && !bound(promised, attempt.sent_at());
        return enter(*taken, machine_.granted(in_time, holds));
    }
    case acquire_reply::outcome::held:
        held_by_other(reply);
        perform(machine_.held(reply.in_line, behalf_.wanted()));
        break;
    case acquire_reply::outcome::late: perform(machine_.late(behalf_.wanted())); break;
    case acquire_reply::outcome::gone: break;
    }
    end_errand();
}

void line_acquirer::held_by_other(const acquire_reply& reply)
{
    place_ = reply.place;
    remaining_ = reply.remaining;
    behalf_.on_held(reply);
    restless_ = false;
    if (reply.in_line && place_ == 0 && behalf_.wanted()) {
        turn_context& r = context();
        // Signs of life may always be as old as at the look before.
        const bool doubtful = !reply.promised &&
                              doubt_.of(remaining_, behalf_.first()->options.lease_time,
                                        r.turn_time());
        if (doubtful)
            r.tell([&](observer& o) { o.suspect_expiry(name(), remaining_); });
        restless_ = doubtful || reply.untold;
    }
    watch(reply.in_line && reply.announced && place_ < who_watch && behalf_.wanted() &&
          context().traits().announces && !has(mutant::strangers_not_heard));
    if (!restless_)
        backoff_.reset();
}

/// Those who do not know the line count who listens there, to leave the lock free for them now and
/// then: nobody else does for longer than is needed.
void line_acquirer::watch(bool on)
{
    if (std::exchange(watching_, on) == on)
        return;
    if (on) {
        context().locks().watch(name());
        ++context().counts.watched;
    }
    else {
        context().locks().unwatch(name());
        --context().counts.watched;
    }
}

void line_acquirer::on_failed(acquire_attempt& attempt, effect had)
{
    failures_.failed();
    if (had == effect::may_run)
        current().may_run_until(attempt.runs_until(), attempt.spec->options.dead_holder_grace);
    perform(machine_.failed(had != effect::none, behalf_.wanted()));
    end_errand();
}

bool line_acquirer::serves_first(const spec_ptr& spec) noexcept
{
    return behalf_.wanted() && serves(spec, behalf_.first());
}

/// A request that may run after one that is sent then would let others supersede the holder,
/// though that has promised less, or nothing: the owner is left before.
bool line_acquirer::bound(std::chrono::milliseconds grace, clock::time_point sent) const noexcept
{
    // The second error is the store's, and would not be seen.
    return errand_ && errand_->binds(grace, sent) && !has(mutant::late_promise_forgotten) &&
           !has(mutant::promise_inherited);
}

/// The store has granted it.
void line_acquirer::enter(ownership& taken, machine::action next)
{
    watch(false);
    if (next.what == machine::action::kind::leave)
        return client_.releases.leave(taken, {.told = &behalf_});
    BOOST_ASSERT(machine_.current() == machine::state::holding);
    end_errand();
    behalf_.on_taken(taken);
}

/// Gives back what the store may know of the owner: its place in the line, or the lock. Whoever
/// comes next waits for the answer, not until nothing can run late: `left` sees to that.
void line_acquirer::leave()
{
    timer_queue::cancel(*this);
    errand& gone = current();
    if (gone.spec == nullptr)
        gone.spec = spec_of_name();
    client_.releases.leave_line({gone.spec, gone.owner, {}}, gone.runs_until, {.told = &behalf_});
}

void line_acquirer::leaving() noexcept
{
    static_cast<void>(machine_.leaving(behalf_.patient() && !stopped_));
}

const acquire_request* line_acquirer::next()
{
    if (!machine_.joins() || stopped_)
        return nullptr;
    if (!next_) {
        // Whoever waited may have gone since. What replicas have to confirm is a request of its
        // own, and so is what comes with a sign of life. Carried along and not taken up, it would
        // count as one that may still run.
        if (!behalf_.wanted() || behalf_.first()->options.replica_acks > 0 ||
            behalf_.first()->options.dead_holder_grace.count() > 0) {
            machine_.joins_nobody();
            return nullptr;
        }
        next_ = std::make_unique<successor>(successor{errand(context().make_owner())});
        next_->who.spec = behalf_.first();
    }
    errand& who = next_->who;
    const lock_options& o = who.spec->options;
    who.runs_until = acquire_attempt::runs_until(context(), o, context().turn_time());
    next_->asked = {.name = who.spec->name,
                    .owner = who.owner,
                    .entry = {},
                    .lease = o.lease_time,
                    .fences = fences(o),
                    .budget = acquire_attempt::budget(o),
                    .replica_acks = o.replica_acks,
                    .replica_timeout = who.spec->replica_timeout,
                    .waits = true,
                    .presence = presence,
                    .claim = o.claim_time};
    return &next_->asked;
}

void line_acquirer::left(const release_reply* reply, clock::time_point sent,
                         std::chrono::milliseconds open)
{
    if (stopped_)
        return;
    // A request of the owner that has gone may still run, although another was answered.
    if (errand_ && errand_->runs_until > context().turn_time())
        client_.releases.leave_line({errand_->spec, errand_->owner, {}}, errand_->runs_until, {});
    errand_.reset();
    if (next_)
        errand_.emplace(next_->who);
    next_.reset();
    if (behalf_.wanted())
        begin_wait();

    const acquire_reply* const said = reply != nullptr && reply->next ? &*reply->next : nullptr;
    // It carried none, or may have run before its answer was lost.
    if (said == nullptr || !errand_) {
        // Nobody was in line with whom the store keeps until when it is free.
        const bool is_free = open.count() > 0 && reply != nullptr &&
                             reply->result == release_reply::outcome::freed;
        perform(machine_.left(machine::succession::none, false, behalf_.wanted(),
                              online() && !is_free));
        if (is_free && machine_.current() == machine::state::pausing) {
            open_until_ = context().turn_time() + open;
            context().timers.schedule(*this, open_until_);
        }
        return;
    }
    errand_->runs_until = {};
    if (said->result == acquire_reply::outcome::granted) {
        behalf_.on_granted();
        const ownership_ptr taken = acquire_attempt::hold(context(), errand_->spec, errand_->owner,
                                                          {}, sent, *said);
        const bool in_time = acquire_attempt::in_time(context(), *taken);
        return enter(*taken, machine_.left(machine::succession::granted, in_time,
                                           serves_first(errand_->spec), online()));
    }
    held_by_other(*said);
    perform(machine_.left(machine::succession::in_line, false, behalf_.wanted(), online()));
}

/// An owner that is at its end, or that an ownership stands for, needs none; while a request of it
/// may still run, it is remembered.
void line_acquirer::end_errand()
{
    const bool over = machine_.current() == machine::state::idle ||
                      machine_.current() == machine::state::holding;
    if (over && errand_ && errand_->runs_until <= context().turn_time())
        errand_.reset();
}

void line_acquirer::stop()
{
    stopped_ = true;
    watch(false);
    const acquire_attempt_ptr attempt = forget_attempt();
    if (attempt)
        current().may_run_until(attempt->runs_until(), attempt->spec->options.dead_holder_grace);
    const auto runs_until = errand_ ? errand_->runs_until : clock::time_point{};
    withdraw();
    timer_queue::cancel(*this);
    // A release that is under way goes on without this.
    const bool is_leaving = machine_.current() == machine::state::releasing;
    pending_release_ptr gone;
    if (errand_ && errand_->spec && (!is_leaving || runs_until > context().turn_time()))
        gone = client_.releases.leave_line({errand_->spec, errand_->owner, {}}, runs_until, {});
    if (attempt)
        attempt->forget(std::move(gone));
    if (next_)
        client_.releases.leave_line({next_->who.spec, next_->who.owner, {}}, next_->who.runs_until,
                                    {});
}

spec_ptr line_acquirer::spec_of_name() const
{
    return std::make_shared<lock_spec>(nullptr, name(), lock_options());
}

} // namespace leasehold::detail
