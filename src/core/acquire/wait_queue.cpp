#include "core/acquire/wait_queue.hpp"

#include "base/mutant.hpp"
#include "core/acquire/give_lease.hpp"
#include "core/diagnostics/failure_details.hpp"
#include "core/turn/probe.hpp"

#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/assert.hpp>

#include <algorithm>
#include <utility>

namespace leasehold::detail {

void lock_op::cancel()
{
    if (place != nullptr)
        place->fail(*this, asio::error::operation_aborted);
}

void lock_op::expired()
{
    place->limit_reached(*this);
}

/// Where it did without an acquirer, one goes on from there.
acquirer& wait_queue::way()
{
    if (!way_) {
        way_ = acquirer::make(all_.parts, *this);
        if (held_ || leaves_)
            way_->resume(std::exchange(leaves_, false));
    }
    return *way_;
}

bool wait_queue::unused() const noexcept
{
    return queue_.empty() && (way_ ? way_->idle() : !held_ && !leaves_);
}

bool wait_queue::rest()
{
    if (unused())
        return !way_ || way_->rest();
    if (way_ && queue_.empty() && way_->dispensable())
        way_.reset();
    return false;
}

void wait_queue::enqueue(lock_op& op)
{
    turn_context& r = context();
    if (way_)
        op.sent_before = way_->requests() - (way_->asks() ? 1 : 0);
    const bool for_ever = op.limit == clock::duration::max();
    if (!for_ever || explains(op))
        op.begin(r.turn_time());
    r.tell([&](observer& o) { o.began(name()); });
    if (const error_code why = r.refusal(name(), op.once()))
        return refuse(op, why, explain(op, why));
    if (op.once()) {
        const bool waited_for = !queue_.empty() && !queue_.front().once();
        if (held_ || waited_for) {
            const error_code why = last_error_ ? last_error_ : error_code(errc::held);
            return refuse(op, why, explain(op, why));
        }
    }
    BOOST_ASSERT(op.place == nullptr);
    op.place = this;
    const auto patience =
        op.once() ? turn_context::request_limit
                  : op.limit; // one try waits for the store no longer than for any request
    queue_.push_back(op);
    intrusive_ptr_add_ref(&op);
    ++r.counts.waiting;
    if (!for_ever && patience < clock::time_point::max() - op.since)
        r.timers.schedule(op, op.since + patience);
    acquirer& contends = way();
    if (contends.idle()) {
        if (r.online(name()))
            heard({}, nullptr);
        contends.wanted();
    }
}

void wait_queue::remove(lock_op& op)
{
    BOOST_ASSERT(op.place == this && context().in_turn());
    timer_queue::cancel(op);
    op.place = nullptr;
    queue_.erase(op);
    --context().counts.waiting;
}

void wait_queue::fail(lock_op& op, error_code why)
{
    const boost::intrusive_ptr<lock_op> last(&op, false); // the queue's
    const details_ptr details = explain(op, why);
    remove(op);
    refuse(op, why, details);
    queue_left();
}

void wait_queue::refuse(lock_op& op, error_code why, const details_ptr& details)
{
    op.done(why, lease(), details);
    context().tell([&](observer& o) {
        o.not_acquired(name(), why, context().turn_time() - op.since, shown(details));
    });
}

bool wait_queue::explains(const lock_op& op) const noexcept
{
    return op.explained() || context().observed();
}

details_ptr wait_queue::explain(const lock_op& op, error_code told) const noexcept
{
    if (!explains(op))
        return nullptr;
    const bool unreachable = !context().online(name());
    const details_ptr said = unreachable ? context().trouble_details(name()) : last_details_;
    return make_details(context(), {.name = name(),
                                    .told = told,
                                    .cause = last_error_,
                                    .said = said.get(),
                                    .holder = held_ ? std::string_view(held_->owner) : "",
                                    .waited = context().turn_time() - op.since,
                                    .attempts = way_ ? way_->requests() - op.sent_before : 0});
}

void wait_queue::heard(error_code failed, details_ptr details) noexcept
{
    last_error_ = failed;
    last_details_ = std::move(details);
}

void wait_queue::fail_all(error_code why)
{
    while (!queue_.empty())
        fail(queue_.front(), why);
}

void wait_queue::complete_cancelled()
{
    for (auto i = queue_.begin(); i != queue_.end();) {
        lock_op& each = *i++;
        if (each.done.cancel_requested)
            each.cancel();
    }
}

void wait_queue::fail_once(error_code why)
{
    queue_.each_try([&](lock_op& each) { fail(each, why); });
}

void wait_queue::limit_reached(lock_op& op)
{
    const bool unreachable = !context().online(name());
    const error_code fault = last_error_   ? last_error_
                             : unreachable ? error_code(errc::store_unavailable)
                                           : error_code();
    if (fault)
        return fail(op, fault);
    if (taken_ && !op.once())
        return fail(op, errc::timed_out);
    fail(op, way_->waits_for_room() ? errc::store_unavailable : errc::outcome_unknown);
}

void wait_queue::queue_left()
{
    if (!queue_.empty())
        return;
    way_->unwanted();
    on_rest();
}

void wait_queue::release(ownership& held, const outcome_op_ptr& op)
{
    BOOST_ASSERT(held_ == &held && &held.belongs_to() == static_cast<ownership::home*>(this));
    held.end_released(context());
    if (hand_over(held)) {
        if (op)
            op->complete({});
        return;
    }
    const ownership_ptr leaving(&held);
    // Ends the keep-alive before the release is sent: no renewal follows it.
    if (!has(mutant::renewal_goes_on))
        held.stop.emit(asio::cancellation_type::terminal);
    on_leaving();
    all_.parts.releases.leave(held, {.waiting = op, .told = this});
}

void wait_queue::on_kept_alive(ownership& held, error_code why)
{
    if (why == asio::error::operation_aborted)
        return;
    const auto reason = static_cast<errc>(why.value());
    held.end_lost(context(), reason); // first of all: whatever fails after this, it has ended
    on_leaving();
    if (!all_.parts.releases.leave_lost(held, reason, this))
        on_left(nullptr, {}, {});
}

/// Gives the lock to the next waiter, if that is allowed.
bool wait_queue::hand_over(ownership& held)
{
    BOOST_ASSERT(held.current() == nullptr);
    if (queue_.empty())
        return false;
    const lock_options& o = held.spec->options;
    const handoff_limits limits = held.handoff.within(handoff_limits(o));
    const auto now = context().turn_time();
    lock_op& next = queue_.front();
    const bool allowed = o.renew && held.handoffs < limits.count &&
                         (held.handoffs + 1 < held.fences || has(mutant::fences_not_reserved)) &&
                         (now - held.since < limits.time() || has(mutant::handoff_without_end)) &&
                         (held.has_half_its_time(now) || has(mutant::handoff_near_the_end)) &&
                         (!held.shared() || has(mutant::handoff_of_entered)) &&
                         serves(held.spec, next.spec);
    if (!allowed)
        return false;
    ++held.handoffs;
    held.handoff = handoff_limits(next.spec->options);
    held.life.extend(fsm::end_of_hold(now, next.spec->options.longest_hold));
    const boost::intrusive_ptr<lock_op> last(&next, false); // the queue's
    remove(next);
    give_lease(context(), next.done, held, held.first_fence + held.handoffs, next.since, true);
    return true;
}

void wait_queue::on_leaving() noexcept
{
    held_.reset();
    if (way_)
        way_->leaving();
    else
        leaves_ = true;
}

void wait_queue::on_left(const release_reply* reply, clock::time_point sent,
                         std::chrono::milliseconds open)
{
    if (queue_.empty())
        taken_ = false;
    leaves_ = false;
    if (way_)
        way_->left(reply, sent, open);
    on_rest();
}

void wait_queue::hint()
{
    if (way_)
        way_->hint();
}

void wait_queue::listening()
{
    if (way_)
        way_->listening();
}

void wait_queue::stop()
{
    if (way_)
        way_->stop();
}

void wait_queue::turn(std::string_view owner)
{
    way().turn(owner);
    on_rest();
}

void wait_queue::connected()
{
    if (!way_ || !way_->pausing())
        heard({}, nullptr);
    if (way_)
        way_->connected();
}

void wait_queue::disconnected(error_code why)
{
    heard(why, nullptr);
    if (way_)
        way_->disconnected();
    if (why == condition::bad_request)
        fail_all(why);
    else if (!way_ || !way_->asks())
        fail_once(why);
}

void wait_queue::drop(error_code told) noexcept
{
    while (!queue_.empty()) {
        const boost::intrusive_ptr<lock_op> last(&queue_.front(), false);
        queue_.erase(*last);
        last->place = nullptr;
        timer_queue::cancel(*last);
        last->done.end(told);
    }
    if (way_)
        way_->drop();
}

void wait_queue::on_rest()
{
    if (!std::exchange(noted_, true))
        all_.check(*this);
}

bool wait_queue::asks_holder() const noexcept
{
    return queue_.explained() || context().observed();
}

bool wait_queue::holds(std::string_view owner) const noexcept
{
    return held_ && held_->owner == owner;
}

void wait_queue::on_granted()
{
    if (std::exchange(refused_, false) && context().observed() && !queue_.empty())
        tell_contended();
    heard({}, nullptr);
    taken_ = true;
    unanswered_ = false;
}

void wait_queue::tell_contended()
{
    const std::string holder = last_details_ ? shown_holder(*last_details_) : std::string();
    const auto waited = context().turn_time() - queue_.front().since;
    context().tell([&](observer& o) { o.contended(name(), holder, waited); });
}

void wait_queue::on_taken(ownership& taken)
{
    taken.belong_to(*this);
    all_.kept_by.async_keep_alive(taken, taken.stop.slot());
    taken.serve_first(queue_.front().spec);
    held_ = &taken;
    lock_op& next = queue_.front();
    const boost::intrusive_ptr<lock_op> last(&next, false); // the queue's
    remove(next);
    give_lease(context(), next.done, taken, taken.first_fence, next.since, false);
    fail_once(errc::held);
}

void wait_queue::on_held(const acquire_reply& reply)
{
    heard({}, reply.details);
    taken_ = true;
    refused_ = true;
    unanswered_ = false;
    LEASEHOLD_PROBE2(waiting, name().c_str(), reply.remaining.count());
    context().tell([&](observer& o) { o.waiting(name(), reply.remaining); });
    fail_once(errc::held);
}

void wait_queue::on_refused(error_code why, const details_ptr& details)
{
    // A single request without an answer is no reason why a wait ends without the lock, when the
    // answer before said that another has it.
    const bool first = why == errc::outcome_unknown && !std::exchange(unanswered_, true);
    if (!first || !taken_ || !context().online(name()))
        heard(why, details);
    fail_once(why);
}

void wait_queue::on_hopeless(error_code why, const details_ptr& details)
{
    heard({}, details);
    fail_all(why);
}

// A waiter that wants as many, or more, would get the same answer after the same time.
void wait_queue::on_unconfirmed(std::uint32_t asked, const details_ptr& details)
{
    heard({}, details);
    for (auto i = queue_.begin(); i != queue_.end();) {
        lock_op& each = *i++;
        if (each.spec->options.replica_acks >= asked)
            fail(each, errc::not_replicated);
    }
}

wait_queue& lock_queues::at(std::string_view name)
{
    if (wait_queue* const found = find(name))
        return *found;
    const auto place = names_.try_emplace(std::string(name), *this).first;
    wait_queue& made = place->second;
    made.set_name(place->first);
    in_order_.push_back(made);
    return made;
}

void lock_queues::at_turn_end()
{
    for (wait_queue* const each : to_check_) {
        each->looked_at();
        if (each->rest())
            names_.erase(names_.find(each->name()));
    }
    to_check_.clear();
}

} // namespace leasehold::detail
