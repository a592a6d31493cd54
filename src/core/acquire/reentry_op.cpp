#include "core/acquire/reentry_op.hpp"

#include "base/mutant.hpp"
#include "core/diagnostics/failure_details.hpp"

#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/assert.hpp>

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

reentry_op::reentry_op(handler_type&& handler, spec_ptr lock, clock::duration patience,
                       clock::time_point now)
    : done(std::move(handler)),
      spec_(std::move(lock)),
      once_(patience <= clock::duration::zero()),
      since_(now),
      limit_(limit_of(now, patience)),
      backoff_(spec_->options.backoff_floor, spec_->options.backoff_ceiling)
{}

void reentry_op::start(reentries& client)
{
    turn_context& r = client.context;
    BOOST_ASSERT(client_ == nullptr && r.in_turn());
    client_ = &client;
    if (since_ == clock::time_point())
        since_ = r.turn_time();
    client.running.push_back(*this);
    intrusive_ptr_add_ref(this);
    ++r.counts.waiting;
    r.notify([&](observer& o) { o.began(name()); });
    if (client.lost.contains(who_id(), r.turn_time()))
        return fail(errc::lost);
    if (const error_code why = r.refusal(name(), once_))
        return fail(why);
    if (r.online(name()))
        return send();
    schedule(clock::time_point::max());
}

void reentry_op::send()
{
    pausing_ = false;
    schedule(clock::time_point::max());
    client_->windows.add(*this);
}

void reentry_op::on_room(acquire_window& there)
{
    turn_context& r = client_->context;
    // Each try has an id of its own. A try without a reply is released under its id, which does not
    // release a later one.
    under_way_ = new acquire_attempt(r, client_->releases, there, *this, spec_, who_id(),
                                     std::string(r.make_owner()));
    ++sent_;
    under_way_->send({});
}

void reentry_op::on_answer(acquire_attempt& attempt, error_code failed, const acquire_reply& reply)
{
    const acquire_attempt_ptr stays = std::exchange(under_way_, nullptr);
    if (failed == condition::bad_request || failed == errc::not_replicated) {
        last_details_ = reply.details;
        return fail(failed);
    }
    if (failed)
        return pause(failed, reply.details);
    if (reply.result == acquire_reply::outcome::late)
        return pause(errc::store_refused);
    if (reply.result != acquire_reply::outcome::granted ||
        client_->lost.contains(who_id(), client_->context.turn_time())) {
        if (reply.result == acquire_reply::outcome::granted)
            attempt.release_granted();
        return fail(errc::lost);
    }
    const ownership_ptr taken = attempt.take(reply);
    if (!taken)
        return pause(errc::store_unavailable);
    reentries& client = *client_;
    const boost::intrusive_ptr<reentry_op> last(this, false); // the reference of the list
    leave();
    client.keep_alive(*taken);
    taken->grant(client.context, done, spec_->under->fence(), since_, false);
}

void reentry_op::pause(error_code why, const details_ptr& details)
{
    last_error_ = why;
    last_details_ = details;
    if (once_)
        return fail(why);
    turn_context& r = client_->context;
    pausing_ = failures_.failed();
    schedule(r.turn_time() + backoff_.next(r.random));
}

void reentry_op::expired()
{
    turn_context& r = client_->context;
    if (r.turn_time() >= limit_) {
        const bool sent = r.online(name()) && !waits_for_window();
        return fail(last_error_
                        ? last_error_
                        : error_code(sent ? errc::outcome_unknown : errc::store_unavailable));
    }
    if (r.online(name()))
        return send();
    pausing_ = false;
    schedule(clock::time_point::max());
}

void reentry_op::connected()
{
    if (pausing_)
        return;
    last_error_ = {};
    last_details_.reset();
    if (!under_way_ && !waits_for_window())
        send();
}

void reentry_op::disconnected(error_code why)
{
    last_error_ = why;
    last_details_.reset();
    withdraw();
    if (why == condition::bad_request || (once_ && !under_way_))
        fail(why);
}

void reentry_op::fail(error_code why)
{
    if (client_ == nullptr)
        return; // it has ended
    turn_context& r = client_->context;
    if (under_way_)
        std::exchange(under_way_, nullptr)->abandon();
    const boost::intrusive_ptr<reentry_op> last(this, false); // the reference of the list
    const details_ptr details = done.explained() || r.observed() ? explain(why) : nullptr;
    leave();
    done(why, lease(), details);
    r.notify(
        [&](observer& o) { o.not_acquired(name(), why, r.turn_time() - since_, shown(details)); });
}

details_ptr reentry_op::explain(error_code error) const noexcept
{
    turn_context& r = client_->context;
    const details_ptr reported = r.online(name()) ? last_details_ : r.trouble_details(name());
    return make_details(r, {.name = name(),
                            .error = error,
                            .cause = last_error_,
                            .reported = reported.get(),
                            .waited = r.turn_time() - since_,
                            .attempts = sent_});
}

void reentry_op::leave()
{
    timer_queue::cancel(*this);
    withdraw();
    --client_->context.counts.waiting;
    client_->running.erase(client_->running.iterator_to(*this));
    client_ = nullptr;
}

void reentry_op::drop(error_code error) noexcept
{
    const boost::intrusive_ptr<reentry_op> last(this, false); // the reference of the list
    if (under_way_)
        std::exchange(under_way_, nullptr)->forget();
    timer_queue::cancel(*this);
    withdraw();
    client_->running.erase(client_->running.iterator_to(*this));
    client_ = nullptr;
    done.end(error);
}

void reentry_op::schedule(clock::time_point next)
{
    const auto when = std::min(next, limit_);
    if (when == clock::time_point::max())
        timer_queue::cancel(*this);
    else
        client_->context.timers.schedule(*this, when);
}

void reentries::release(ownership& held, const outcome_op_ptr& op)
{
    const ownership_ptr leaving(&held);
    held.end_released(context);
    if (!has(mutant::renewal_goes_on))
        held.stop.emit(asio::cancellation_type::terminal);
    releases.leave(held, {.waiting = op});
}

void reentries::detach(ownership& held)
{
    const ownership_ptr leaving(&held);
    held.end_released(context);
    held.stop.emit(asio::cancellation_type::terminal);
}

void reentries::on_kept_alive(ownership& held, error_code why)
{
    if (why == asio::error::operation_aborted)
        return;
    const auto reason = static_cast<errc>(why.value());
    held.end_lost(context, reason);
    releases.leave_lost(held, reason, nullptr);
}

} // namespace leasehold::detail
