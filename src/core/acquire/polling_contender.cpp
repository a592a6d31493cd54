#include "core/acquire/polling_contender.hpp"

#include "base/mutant.hpp"
#include "core/acquire/wait_queue.hpp"

#include <utility>

namespace leasehold::detail {
namespace {

// Time for which a name without waiters stays watched, because it may be used again soon.
constexpr clock::duration linger = std::chrono::seconds(1);

} // namespace

polling_contender::polling_contender(wait_queue& queue) noexcept
    : queue_(queue), context_(queue.context())
{}

bool polling_contender::idle() const noexcept
{
    return machine_.current() == state::idle;
}

bool polling_contender::pausing() const noexcept
{
    return machine_.current() == state::pausing;
}

bool polling_contender::dispensable() const noexcept
{
    return machine_.current() == state::holding && !watching_;
}

void polling_contender::begin_wait(const lock_options& o)
{
    machine_.use(fsm::backoff(o.backoff_floor, o.backoff_ceiling));
}

void polling_contender::wanted()
{
    begin_wait(queue_.first()->options);
    lingering_ = false;
    timer_queue::cancel(*this);
    perform(machine_.wanted(queue_.online()));
}

void polling_contender::unwanted()
{
    if (machine_.waits())
        timer_queue::cancel(*this);
    if (queue_.waits_for_window()) {
        queue_.withdraw();
        machine_.unsent(false);
    }
    machine_.unwanted();
}

void polling_contender::wakeup()
{
    if (!queue_.waits_for_window()) // that request follows the wake-up anyway
        perform(machine_.wakeup(queue_.online()));
}

void polling_contender::disconnected()
{
    if (queue_.waits_for_window()) {
        queue_.withdraw();
        machine_.unsent(true);
    }
}

void polling_contender::left(const release_reply* reply, clock::time_point,
                             std::chrono::milliseconds)
{
    const bool freed = reply != nullptr && reply->result == release_reply::outcome::freed;
    perform(machine_.left(queue_.wanted(), freed && others_wait(*reply), queue_.online(),
                          context_.random));
}

/// Whether other clients wait, or may wait.
bool polling_contender::others_wait(const release_reply& reply) const noexcept
{
    // If this client watches the name, it is one of the receivers. Without any receiver, releases
    // are then not announced here, and other waiters are unknown.
    const bool known = reply.receivers_known && context_.traits().publishes;
    return !known || (watching_ ? reply.receivers != 1 : reply.receivers > 0);
}

void polling_contender::stop()
{
    if (const acquire_attempt_ptr attempt = queue_.forget_request())
        attempt->abandon();
    queue_.withdraw();
    timer_queue::cancel(*this);
}

bool polling_contender::rest()
{
    if (watching_ && !lingering_) {
        lingering_ = true;
        context_.timers.schedule(*this, context_.turn_time() + linger);
    }
    return !lingering_;
}

void polling_contender::expired()
{
    if (!std::exchange(lingering_, false))
        return perform(machine_.due(queue_.online()));
    if (std::exchange(watching_, false)) {
        context_.locks().unwatch(queue_.name());
        --context_.counts.watched;
    }
    queue_.on_rest();
}

void polling_contender::perform(machine::action next)
{
    switch (next.what) {
    case machine::action::kind::none: break;
    case machine::action::kind::send:
        timer_queue::cancel(*this);
        queue_.join_window();
        break;
    case machine::action::kind::sleep:
        context_.timers.schedule(*this, context_.turn_time() + next.pause);
        break;
    }
}

void polling_contender::on_room(acquire_window& there)
{
    queue_.send(there, context_.make_owner(), false);
}

void polling_contender::failed(const acquire_attempt&, request_effect)
{
    perform(machine_.failed(queue_.wanted(), context_.random));
}

void polling_contender::late()
{
    perform(machine_.late(queue_.wanted(), context_.random));
}

void polling_contender::granted(const acquire_attempt& attempt, ownership& taken, bool in_time)
{
    if (!in_time) {
        queue_.releases().leave(taken, {});
        queue_.on_refused(errc::store_unavailable, nullptr);
        return failed(attempt, request_effect::none);
    }
    machine_.granted();
    if (queue_.serves_first(attempt.spec))
        return queue_.on_taken(taken);
    machine_.leaving();
    if (has(mutant::cancelled_grant_kept))
        return queue_.on_left(nullptr, {}, {});
    queue_.releases().leave(taken, {.notify = &queue_});
}

void polling_contender::held(const acquire_reply& reply)
{
    queue_.on_held(reply);
    if (queue_.wanted()) {
        if (doubt_.of(reply.remaining, queue_.first()->options.lease_time, context_.turn_time()))
            context_.report_problem(
                [&](observer& o) { o.suspect_expiry(queue_.name(), reply.remaining); });
        watch();
    }
    perform(machine_.held(reply.remaining, queue_.wanted(), context_.random));
}

void polling_contender::watch()
{
    if (std::exchange(watching_, true))
        return;
    context_.locks().watch(queue_.name());
    ++context_.counts.watched;
}

} // namespace leasehold::detail
