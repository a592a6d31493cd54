#include "core/acquire/reentry_op.hpp"

#include <algorithm>
#include <utility>

namespace leasehold::detail {
namespace {

clock::time_point limit_of(clock::time_point since, clock::duration patience)
{
    if (patience == clock::duration::max())
        return clock::time_point::max();
    if (patience <= clock::duration::zero())
        patience = turn_context::request_limit;
    return patience < clock::time_point::max() - since ? since + patience
                                                       : clock::time_point::max();
}

} // namespace

reentry_op::reentry_op(handler_type handler, spec_ptr lock, owner under, clock::duration patience,
                       clock::time_point now)
    : done(std::move(handler)),
      spec_(std::move(lock)),
      who_(std::move(under)),
      once_(patience <= clock::duration::zero()),
      since_(now),
      limit_(limit_of(now, patience)),
      backoff_(spec_->options.backoff_floor, spec_->options.backoff_ceiling)
{}

void reentry_op::start(lessor& of, list& all)
{
    lessor_ = &of;
    list_ = &all;
    if (since_ == clock::time_point())
        since_ = of.base.turn_time();
    all.push_back(*this);
    intrusive_ptr_add_ref(this);
    ++of.base.counts.waiting;
    if (of.is_lost(who_.id()))
        return fail(errc::lost);
    if (const error_code why = of.base.refusal(once_))
        return fail(why);
    if (of.base.online())
        return send();
    schedule(clock::time_point::max());
}

void reentry_op::send()
{
    turn_context& r = lessor_->base;
    pausing_ = false;
    schedule(clock::time_point::max());
    // An id for this try: one whose answer is lost is given back under its own id, and cannot take
    // this one along.
    under_way_ = new acquire_attempt(r, lessor_->back, *this, spec_, who_.id(), r.make_owner());
    under_way_->send(1);
}

void reentry_op::on_answer(acquire_attempt& attempt, error_code failed, const acquire_reply& reply)
{
    const acquire_attempt_ptr stays = std::exchange(under_way_, nullptr);
    if (failed == condition::bad_request)
        return fail(failed);
    if (failed)
        return pause(failed);
    if (reply.result == acquire_reply::outcome::late)
        return pause(errc::store_refused);
    if (reply.result != acquire_reply::outcome::granted || lessor_->is_lost(who_.id())) {
        if (reply.result == acquire_reply::outcome::granted)
            lessor_->back.orphan(attempt);
        return fail(errc::lost);
    }
    const ownership_ptr taken = lessor_->take(attempt, reply);
    if (!taken)
        return pause(errc::store_unavailable);
    lessor& from = *lessor_;
    const boost::intrusive_ptr<reentry_op> last(this, false); // the list's
    leave();
    from.keeper.start(*taken);
    from.give(done, *taken, who_.fence(), since_, false);
}

void reentry_op::pause(error_code why)
{
    last_error_ = why;
    if (once_)
        return fail(why);
    turn_context& r = lessor_->base;
    pausing_ = std::exchange(failing_, true);
    schedule(r.turn_time() + backoff_.next(r.random));
}

void reentry_op::expired()
{
    turn_context& r = lessor_->base;
    if (r.turn_time() >= limit_)
        return fail(last_error_
                        ? last_error_
                        : error_code(r.online() ? errc::outcome_unknown : errc::store_unavailable));
    if (r.online())
        return send();
    pausing_ = false;
    schedule(clock::time_point::max());
}

void reentry_op::connected()
{
    if (pausing_)
        return; // a connection that comes and goes is not to bring a request each time
    last_error_ = {};
    if (!under_way_)
        send();
}

void reentry_op::disconnected(error_code why)
{
    last_error_ = why;
    if (why == errc::permission_denied || (once_ && !under_way_))
        fail(why);
}

void reentry_op::fail(error_code why)
{
    if (lessor_ == nullptr)
        return; // it has ended
    lessor& from = *lessor_;
    if (under_way_)
        std::exchange(under_way_, nullptr)->abandon();
    const boost::intrusive_ptr<reentry_op> last(this, false); // the list's
    leave();
    done(why, lease());
    from.base.tell(
        [&](observer& o) { o.not_acquired(spec_->name, why, from.base.turn_time() - since_); });
}

void reentry_op::leave()
{
    timer_queue::cancel(*this);
    --lessor_->base.counts.waiting;
    list_->erase(list_->iterator_to(*this));
    lessor_ = nullptr;
}

void reentry_op::drop(error_code told) noexcept
{
    const boost::intrusive_ptr<reentry_op> last(this, false); // the list's
    if (under_way_)
        std::exchange(under_way_, nullptr)->forget();
    timer_queue::cancel(*this);
    list_->erase(list_->iterator_to(*this));
    lessor_ = nullptr;
    done.end(told);
}

void reentry_op::schedule(clock::time_point next)
{
    const auto when = std::min(next, limit_);
    if (when == clock::time_point::max())
        timer_queue::cancel(*this);
    else
        lessor_->base.timers.schedule(*this, when);
}

} // namespace leasehold::detail
