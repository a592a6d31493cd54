#include "core/acquire/wait_queue.hpp"

#include "core/acquire/give_lease.hpp"
#include "core/failure_details.hpp"
#include "mutant.hpp"

#include <boost/assert.hpp>

#include <algorithm>
#include <utility>

namespace leasehold::detail {
namespace {

// A name that nobody wants stays subscribed to for so long, in case it is wanted again.
constexpr clock::duration linger = std::chrono::seconds(1);

// A time to live so much above one's own lease time is odd.
constexpr int odd_factor = 10;

// More fences than this are never reserved: after a loss of data the counter starts from the clock,
// which a block must not be far ahead of.
constexpr std::uint32_t most_fences = 10'000;

} // namespace

void lock_op::cancel()
{
    if (place != nullptr)
        place->fail(*this, asio::error::operation_aborted);
}

void lock_op::expired()
{
    place->limit_reached(*this);
}

wait_queue::~wait_queue()
{
    timer_queue::cancel(*this);
}

void wait_queue::enqueue(lock_op& op)
{
    turn_context& r = context_;
    using state = fsm::contention::state;
    op.sent_before = under_way_ ? sent_ - 1 : sent_;
    const bool for_ever = op.limit == clock::duration::max();
    if (!for_ever || explains(op))
        op.begin(r.turn_time());
    if (const error_code why = r.refusal(name(), op.once()))
        return op.done(why, lease(), explain(op, why));
    if (op.once()) {
        const bool waited_for = !queue_.empty() && !queue_.front().once();
        if (contention_.current() == state::holding || waited_for) {
            const error_code why = last_error_ ? last_error_ : error_code(errc::held);
            return op.done(why, lease(), explain(op, why));
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
    if (contention_.current() == state::idle) {
        if (r.online(name()))
            heard({}, nullptr);
        const lock_options& o = op.spec->options;
        contention_.use(fsm::backoff(o.backoff_floor, o.backoff_ceiling));
        lingering_ = false;
        timer_queue::cancel(*this);
        perform(contention_.wanted(r.online(name())));
    }
}

void wait_queue::remove(lock_op& op)
{
    BOOST_ASSERT(op.place == this && context_.in_turn());
    timer_queue::cancel(op);
    op.place = nullptr;
    queue_.erase(op);
    --context_.counts.waiting;
}

void wait_queue::fail(lock_op& op, error_code why)
{
    const boost::intrusive_ptr<lock_op> last(&op, false); // the queue's
    const details_ptr details = explain(op, why);
    remove(op);
    op.done(why, lease(), details);
    context_.tell([&](observer& o) {
        o.not_acquired(name(), why, context_.turn_time() - op.since, shown(details));
    });
    queue_left();
}

bool wait_queue::explains(const lock_op& op) const noexcept
{
    return op.explained() || context_.observed();
}

details_ptr wait_queue::explain(const lock_op& op, error_code told) const noexcept
{
    if (!explains(op))
        return nullptr;
    const bool unreachable = !context_.online(name());
    const details_ptr said = unreachable ? context_.trouble_details(name()) : last_details_;
    return make_details(context_, {.name = name(),
                                   .told = told,
                                   .cause = last_error_,
                                   .said = said.get(),
                                   .holder = held_ ? std::string_view(held_->owner) : "",
                                   .waited = context_.turn_time() - op.since,
                                   .attempts = sent_ - op.sent_before});
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
    const bool unreachable = !context_.online(name());
    const error_code fault = last_error_   ? last_error_
                             : unreachable ? error_code(errc::store_unavailable)
                                           : error_code();
    if (fault)
        return fail(op, fault);
    if (taken_ && !op.once())
        return fail(op, errc::timed_out);
    fail(op, waits_for_window() ? errc::store_unavailable : errc::outcome_unknown);
}

void wait_queue::queue_left()
{
    if (!queue_.empty())
        return;
    if (contention_.waits())
        timer_queue::cancel(*this);
    if (waits_for_window()) {
        withdraw();
        contention_.unsent(false);
    }
    contention_.unwanted();
    check();
}

bool wait_queue::hand_over(ownership& held)
{
    BOOST_ASSERT(held.place() == this && held.current() == nullptr &&
                 contention_.current() == fsm::contention::state::holding);
    if (queue_.empty())
        return false;
    const lock_options& o = held.spec->options;
    const handoff_limits limits = held.handoff.within(handoff_limits(o));
    const auto now = context_.turn_time();
    lock_op& next = queue_.front();
    const bool allowed = o.renew && held.handoffs < limits.count &&
                         (held.handoffs + 1 < held.fences || has(mutant::fences_not_reserved)) &&
                         (now - held.since < limits.time() || has(mutant::handoff_without_end)) &&
                         (held.valid_until() - now >= clock::duration(o.lease_time) / 2 ||
                          has(mutant::handoff_near_the_end)) &&
                         (!held.shared() || has(mutant::handoff_of_entered)) &&
                         held.spec->serves(*next.spec);
    if (!allowed)
        return false;
    ++held.handoffs;
    held.handoff = handoff_limits(next.spec->options);
    held.life.extend(next.spec->longest(now));
    const boost::intrusive_ptr<lock_op> last(&next, false); // the queue's
    remove(next);
    give_lease(context_, next.done, held, held.first_fence + held.handoffs, next.since, true);
    return true;
}

void wait_queue::on_leaving() noexcept
{
    held_.reset();
    contention_.leaving();
}

void wait_queue::left(bool others)
{
    turn_context& r = context_;
    if (queue_.empty())
        taken_ = false;
    perform(contention_.left(!queue_.empty(), others, r.online(name()), r.random));
    check();
}

void wait_queue::on_freed(const release_reply& reply)
{
    // Of those who were told one is this client, if it watches the name. If not even that was told,
    // releases are not announced here, and nobody knows who waits elsewhere.
    const bool known = reply.receivers_known && context_.traits().announces;
    left(!known || (watching_ ? reply.receivers != 1 : reply.receivers > 0));
}

void wait_queue::hint()
{
    if (!waits_for_window()) // it looks after this anyway
        perform(contention_.hint());
}

void wait_queue::connected()
{
    if (contention_.current() != fsm::contention::state::pausing)
        heard({}, nullptr);
    perform(contention_.connected());
}

void wait_queue::disconnected(error_code why)
{
    heard(why, nullptr);
    if (waits_for_window()) {
        withdraw();
        contention_.unsent(true);
    }
    if (why == condition::bad_request)
        fail_all(why);
    else if (!under_way_)
        fail_once(why);
}

void wait_queue::stop()
{
    if (under_way_)
        std::exchange(under_way_, nullptr)->abandon();
    withdraw();
    timer_queue::cancel(*this);
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
    if (under_way_)
        std::exchange(under_way_, nullptr)->forget();
    withdraw();
}

void wait_queue::check()
{
    if (!std::exchange(noted_, true))
        client_.to_check.push_back(this);
}

bool wait_queue::unused() const noexcept
{
    return queue_.empty() && contention_.current() == fsm::contention::state::idle;
}

bool wait_queue::rest()
{
    turn_context& r = context_;
    if (watching_ && !lingering_) {
        lingering_ = true;
        r.timers.schedule(*this, r.turn_time() + linger);
    }
    return !lingering_;
}

void wait_queue::expired()
{
    turn_context& r = context_;
    if (!std::exchange(lingering_, false))
        return perform(contention_.due(r.online(name())));
    if (std::exchange(watching_, false)) {
        r.locks().unwatch(name());
        --r.counts.watched;
    }
    check();
}

void wait_queue::perform(fsm::contention::action next)
{
    switch (next.what) {
    case fsm::contention::action::kind::none: break;
    case fsm::contention::action::kind::send: send(); break;
    case fsm::contention::action::kind::sleep:
        context_.timers.schedule(*this, context_.turn_time() + next.pause);
        break;
    }
}

void wait_queue::send()
{
    timer_queue::cancel(*this);
    client_.window.enter(*this);
}

void wait_queue::on_room()
{
    turn_context& r = context_;
    const spec_ptr& spec = queue_.front().spec;
    const lock_options& o = spec->options;
    const bool hands_over = !has(mutant::fences_not_reserved) && o.renew && o.handoff_count > 0 &&
                            o.handoff_time.count() > 0;
    under_way_ = new acquire_attempt(r, client_.releases, client_.window, *this, spec,
                                     r.make_owner(), {});
    ++sent_;
    under_way_->send(hands_over ? std::min(o.handoff_count, most_fences - 1) + 1 : 1,
                     queue_.explained() || r.observed());
}

void wait_queue::on_answer(acquire_attempt& attempt, error_code failed, const acquire_reply& reply)
{
    const acquire_attempt_ptr stays = std::exchange(under_way_, nullptr);
    if (failed == condition::bad_request) {
        heard({}, reply.details);
        fail_all(failed);
        perform(contention_.failed(false, context_.random));
    }
    else if (failed) {
        refused(failed, reply.details);
    }
    else {
        switch (reply.result) {
        case acquire_reply::outcome::granted: granted(attempt, reply); break;
        case acquire_reply::outcome::held: held_by_other(reply); break;
        case acquire_reply::outcome::late:
            perform(contention_.late(!queue_.empty(), context_.random));
            break;
        case acquire_reply::outcome::gone: refused(errc::store_refused, nullptr); break;
        }
    }
    check();
}

void wait_queue::granted(acquire_attempt& attempt, const acquire_reply& reply)
{
    heard({}, nullptr);
    taken_ = true;
    unanswered_ = false;
    const ownership_ptr taken = attempt.take(reply);
    if (!taken)
        return refused(errc::store_unavailable, nullptr);
    contention_.granted();
    if (queue_.empty() || !attempt.spec->serves(*queue_.front().spec)) {
        contention_.leaving();
        if (has(mutant::cancelled_grant_kept))
            return on_left();
        return client_.releases.leave(*taken, {.place = this});
    }
    taken->handoff = handoff_limits(queue_.front().spec->options);
    taken->belong_to(*this);
    held_ = taken;
    client_.keeper.start(*taken);
    lock_op& next = queue_.front();
    const boost::intrusive_ptr<lock_op> last(&next, false); // the queue's
    remove(next);
    give_lease(context_, next.done, *taken, taken->first_fence, next.since, false);
    fail_once(errc::held);
}

void wait_queue::held_by_other(const acquire_reply& reply)
{
    turn_context& r = context_;
    const auto now = r.turn_time();
    heard({}, reply.details);
    taken_ = true;
    unanswered_ = false;
    r.tell([&](observer& o) { o.waiting(name(), reply.remaining); });
    fail_once(errc::held);
    if (!queue_.empty()) {
        const bool frozen = reply.remaining == last_remaining_ &&
                            now - last_look_ >= std::chrono::milliseconds(10);
        const bool odd = reply.remaining > odd_factor * queue_.front().spec->options.lease_time;
        if (frozen || odd || reply.remaining.count() < 0)
            r.tell([&](observer& o) { o.suspect_expiry(name(), reply.remaining); });
        last_remaining_ = reply.remaining;
        last_look_ = now;
        watch();
    }
    perform(contention_.held(reply.remaining, !queue_.empty(), r.random));
}

void wait_queue::refused(error_code why, const details_ptr& details)
{
    // A single request without an answer is no reason why a wait ends without the lock, when the
    // answer before said that another has it.
    const bool first = why == errc::outcome_unknown && !std::exchange(unanswered_, true);
    if (!first || !taken_ || !context_.online(name()))
        heard(why, details);
    fail_once(why);
    perform(contention_.failed(!queue_.empty(), context_.random));
}

void wait_queue::watch()
{
    if (std::exchange(watching_, true))
        return;
    context_.locks().watch(name());
    ++context_.counts.watched;
}

} // namespace leasehold::detail
