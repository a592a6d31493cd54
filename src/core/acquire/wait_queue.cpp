#include "core/acquire/wait_queue.hpp"

#include "base/mutant.hpp"
#include "core/acquire/polling_contender.hpp"
#include "core/acquire/queued_contender.hpp"
#include "core/diagnostics/failure_details.hpp"
#include "core/turn/probe.hpp"

#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/assert.hpp>

#include <utility>

namespace leasehold::detail {

wait_queue::wait_queue(lock_queues& all, std::string_view name) : all_(all), name_(name) {}
wait_queue::~wait_queue() = default;

void wait_queue::contend(const acquire_attempt* answered)
{
    if (contends())
        return;
    const acquire_attempt* const sent = answered != nullptr ? answered : under_way_.get();
    const bool sending = sent != nullptr || waits_for_window();
    if (context().traits().queues)
        contender_ = std::make_unique<queued_contender>(*this);
    else
        contender_ = std::make_unique<polling_contender>(*this);
    contender([&]<class Contender>(Contender& made) {
        using state = typename Contender::state;
        if (sent != nullptr)
            made.begin_wait(sent->spec->options);
        else if (wanted())
            made.begin_wait(first()->options);
        made.resume(held_                           ? state::holding
                    : std::exchange(leaves_, false) ? state::releasing
                    : sending                       ? state::sending
                                                    : state::idle,
                    sent);
    });
}

/// Whether this client does not hold, request or release the lock.
bool wait_queue::idle() const noexcept
{
    return contends() ? contender([](auto& one) { return one.idle(); })
                      : !held_ && !leaves_ && !asks();
}

bool wait_queue::rest()
{
    if (unused())
        return !contends() || contender([](auto& one) { return one.rest(); });
    if (queue_.empty() && contender([](auto& one) { return one.dispensable(); }))
        contender_.emplace<std::monostate>();
    return false;
}

void wait_queue::enqueue(lock_op& op)
{
    turn_context& r = context();
    op.sent_before = requests_ - (under_way_ ? 1 : 0);
    const bool for_ever = op.limit == clock::duration::max();
    if (!for_ever || explains(op) || r.informed())
        op.begin(r.turn_time());
    r.notify([&](observer& o) { o.began(name()); });
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
    const auto patience = op.once() ? turn_context::request_limit
                                    : op.limit; // a single try waits no longer than one request
    queue_.push_back(op);
    intrusive_ptr_add_ref(&op);
    ++r.counts.waiting;
    if (!for_ever && patience < clock::time_point::max() - op.since)
        r.timers.schedule(op, op.since + patience);
    if (idle()) {
        if (online())
            set_last_error({}, nullptr);
        if (online() && !contends())
            return join_window();
        contend();
        contender([](auto& one) { one.wanted(); });
    }
    else if (!asks()) {
        contend();
    }
    watch_wait();
}

void wait_queue::fail(lock_op& op, error_code why)
{
    const boost::intrusive_ptr<lock_op> last(&op, false); // the reference of the queue
    const details_ptr details = explain(op, why);
    remove(op, why);
    refuse(op, why, details);
    queue_left();
}

void wait_queue::refuse(lock_op& op, error_code why, const details_ptr& details)
{
    op.done(why, lease(), details);
    context().notify([&](observer& o) {
        o.not_acquired(name(), why, context().turn_time() - op.since, shown(details));
    });
}

details_ptr wait_queue::details_of(const lock_op& op, error_code error) const noexcept
{
    const details_ptr reported = online() ? last_details_ : context().trouble_details(name());
    return make_details(context(), {.name = name(),
                                    .error = error,
                                    .cause = last_error_,
                                    .reported = reported.get(),
                                    .holder = held_ ? std::string_view(held_->owner) : "",
                                    .waited = context().turn_time() - op.since,
                                    .attempts = requests_ - op.sent_before});
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
    watch_wait();
}

error_code wait_queue::reason(const lock_op& op) const noexcept
{
    if (last_error_)
        return last_error_;
    if (!online())
        return errc::store_unavailable;
    if (taken_ && !op.once())
        return errc::timed_out;
    return waits_for_window() ? errc::store_unavailable : errc::outcome_unknown;
}

void wait_queue::queue_left()
{
    if (!queue_.empty())
        return;
    contender([](auto& one) { one.unwanted(); });
    withdraw();
    on_rest();
}

void wait_queue::release(ownership& held, const outcome_op_ptr& op)
{
    BOOST_ASSERT(held_ == &held && &held.belongs_to() == static_cast<ownership::listener*>(this));
    held.end_released(context());
    if (hand_off(held)) {
        if (op)
            op->complete({});
        return;
    }
    const ownership_ptr leaving(&held);
    // Ends the keep-alive before the release is sent: no renewal follows it.
    if (!has(mutant::renewal_goes_on))
        held.stop.emit(asio::cancellation_type::terminal);
    on_leaving();
    releases().leave(held, {.waiting = op, .notify = this});
}

void wait_queue::on_kept_alive(ownership& held, error_code why)
{
    if (why == asio::error::operation_aborted)
        return;
    const auto reason = static_cast<errc>(why.value());
    held.end_lost(context(), reason); // first: it has ended, even if a later step fails
    on_leaving();
    if (!releases().leave_lost(held, reason, this))
        on_left(nullptr, {}, {});
}

/// Hands the lock to the next waiter, if that is allowed.
bool wait_queue::hand_off(ownership& held)
{
    BOOST_ASSERT(held.current() == nullptr);
    if (queue_.empty())
        return false;
    const lock_options& o = held.spec->options;
    const handoff_limits limits = held.handoff.within(handoff_limits(o));
    const auto now = context().turn_time();
    const lock_op& next = queue_.front();
    const bool allowed = o.renew && held.handoffs < limits.count &&
                         (held.handoffs + 1 < held.fences || has(mutant::fences_not_reserved)) &&
                         (now - held.since < limits.time() || has(mutant::handoff_without_end)) &&
                         (held.has_half_its_time(now) || has(mutant::handoff_near_the_end)) &&
                         (!held.shared() || has(mutant::handoff_of_reentered)) &&
                         serves(held.spec, next.spec);
    if (!allowed)
        return false;
    ++held.handoffs;
    held.handoff = handoff_limits(next.spec->options);
    held.life.extend(fsm::end_of_hold(now, next.spec->options.longest_hold));
    grant(held, held.first_fence + held.handoffs, true);
    return true;
}

void wait_queue::grant(ownership& held, std::uint64_t fence, bool handed_off)
{
    lock_op& first = queue_.front();
    const boost::intrusive_ptr<lock_op> last(&first, false); // the reference of the queue
    remove(first, {});
    held.grant(context(), first.done, fence, first.since, handed_off);
}

void wait_queue::on_leaving() noexcept
{
    held_.reset();
    leaves_ = !contends();
    contender([](auto& one) { one.leaving(); });
}

const acquire_request* wait_queue::next()
{
    return contender([](auto& one) { return one.next(); });
}

void wait_queue::on_left(const release_reply* reply, clock::time_point sent,
                         std::chrono::milliseconds open)
{
    if (queue_.empty())
        taken_ = false;
    leaves_ = false;
    contender([&](auto& one) { one.left(reply, sent, open); });
    on_rest();
}

void wait_queue::wakeup()
{
    if (asks())
        contend();
    contender([](auto& one) { one.wakeup(); });
}

void wait_queue::listening()
{
    if (asks())
        contend();
    contender([](auto& one) { one.listening(); });
}

void wait_queue::settled()
{
    contender([](auto& one) { one.settled(); });
}

void wait_queue::stop()
{
    if (asks())
        contend();
    contender([](auto& one) { one.stop(); });
}

void wait_queue::notified(std::string_view owner)
{
    contend();
    contender([&](auto& one) { one.notified(owner); });
    on_rest();
}

void wait_queue::gone(std::string_view owner)
{
    contender([&](auto& one) { one.gone(owner); });
}

void wait_queue::connected()
{
    if (!contender([](auto& one) { return one.pausing(); }))
        set_last_error({}, nullptr);
    contender([](auto& one) { one.connected(); });
}

void wait_queue::disconnected(error_code why)
{
    set_last_error(why, nullptr);
    if (waits_for_window())
        contend();
    contender([](auto& one) { one.disconnected(); });
    if (why == condition::bad_request)
        fail_all(why);
    else if (!under_way_)
        fail_once(why);
}

void wait_queue::drop(error_code error) noexcept
{
    while (!queue_.empty()) {
        const boost::intrusive_ptr<lock_op> last(&queue_.front(), false);
        queue_.erase(*last);
        last->place = nullptr;
        timer_queue::cancel(*last);
        last->done.end(error);
    }
    if (under_way_)
        forget_request()->forget();
    withdraw();
}

void wait_queue::on_room(acquire_window& there)
{
    if (!contends())
        return send(there, context().make_owner(), false);
    contender([&](auto& one) { one.on_room(there); });
}

void wait_queue::send(acquire_window& there, const owner_id& owner, bool again)
{
    under_way_ = new acquire_attempt(context(), releases(), there, *this, first(), owner, {});
    ++requests_;
    const bool told = context().observed() || (context().informed() && patient());
    under_way_->send({.needs_holder = queue_.explained() || told,
                      .patient = patient(),
                      .queues = context().traits().queues,
                      .again = again});
}

void wait_queue::on_answer(acquire_attempt& attempt, error_code why, const acquire_reply& reply)
{
    const acquire_attempt_ptr stays = forget_request();
    if (!why && reply.result == acquire_reply::outcome::gone) // not a reply to this request
        why = errc::store_refused;
    if (!why && reply.result == acquire_reply::outcome::granted) {
        granted(attempt, reply);
    }
    else {
        contend(&attempt);
        if (why)
            failed(attempt, why, reply);
        else if (reply.result == acquire_reply::outcome::late)
            contender([](auto& one) { one.late(); });
        else
            contender([&](auto& one) { one.held(reply); });
    }
    on_rest();
}

void wait_queue::granted(acquire_attempt& attempt, const acquire_reply& reply)
{
    on_granted();
    const ownership_ptr taken = attempt.hold(reply);
    const bool in_time = acquire_attempt::in_time(context(), *taken);
    if (contends() || !in_time || !serves_first(attempt.spec)) {
        contend(&attempt);
        return contender([&](auto& one) { one.granted(attempt, *taken, in_time); });
    }
    on_taken(*taken);
    if (wanted())
        contend(&attempt);
}

void wait_queue::failed(acquire_attempt& attempt, error_code why, const acquire_reply& reply)
{
    auto had = why == errc::outcome_unknown || reply.may_hold ? request_effect::may_run
                                                              : request_effect::none;
    if (why == errc::not_replicated) {
        had = request_effect::has_run;
        set_last_error({}, reply.details);
        fail_unconfirmed(attempt.spec->options.replica_acks);
    }
    else if (why == condition::bad_request) { // a retry does not help
        set_last_error({}, reply.details);
        fail_all(why);
    }
    else {
        on_refused(why, reply.details);
    }
    contender([&](auto& one) { one.failed(attempt, had); });
}

void wait_queue::on_granted()
{
    if (std::exchange(refused_, false) && context().observed() && !queue_.empty()) {
        const std::string holder = last_details_ ? shown_holder(*last_details_) : std::string();
        const auto waited = context().turn_time() - queue_.front().since;
        context().notify([&](observer& o) { o.contended(name(), holder, waited); });
    }
    set_last_error({}, nullptr);
    taken_ = true;
    unanswered_ = false;
}

void wait_queue::on_taken(ownership& taken)
{
    taken.belong_to(*this);
    all_.kept_by.async_keep_alive(taken, taken.stop.slot());
    taken.serve_first(queue_.front().spec);
    held_ = &taken;
    grant(taken, taken.first_fence, false);
    fail_once(errc::held);
}

void wait_queue::on_held(const acquire_reply& reply)
{
    set_last_error({}, reply.details);
    taken_ = true;
    refused_ = true;
    unanswered_ = false;
    LEASEHOLD_PROBE2(waiting, name().c_str(), reply.remaining.count());
    context().notify([&](observer& o) { o.waiting(name(), context().reported(reply.remaining)); });
    fail_once(errc::held);
    if (long_wait_)
        long_wait_->held(context().reported(reply.remaining));
}

void wait_queue::on_refused(error_code why, const details_ptr& details)
{
    // After a reply that another owner holds the lock, a single request without a reply does not
    // change the error of a wait that reaches its limit.
    const bool first = why == errc::outcome_unknown && !std::exchange(unanswered_, true);
    if (!first || !taken_ || !online())
        set_last_error(why, details);
    fail_once(why);
}

// A waiter that wants as many replicas, or more, would get the same reply after the same time.
void wait_queue::fail_unconfirmed(std::uint32_t acks)
{
    for (auto i = queue_.begin(); i != queue_.end();) {
        lock_op& each = *i++;
        if (each.spec->options.replica_acks >= acks)
            fail(each, errc::not_replicated);
    }
}

} // namespace leasehold::detail
