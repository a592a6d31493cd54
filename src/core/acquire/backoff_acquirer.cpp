#include "core/acquire/backoff_acquirer.hpp"

#include "base/mutant.hpp"

#include <utility>

namespace leasehold::detail {
namespace {

// A name that nobody wants stays subscribed to for so long, in case it is wanted again.
constexpr clock::duration linger = std::chrono::seconds(1);

} // namespace

bool backoff_acquirer::idle() const noexcept
{
    return contention_.current() == fsm::contention::state::idle;
}

bool backoff_acquirer::holding() const noexcept
{
    return contention_.current() == fsm::contention::state::holding;
}

bool backoff_acquirer::pausing() const noexcept
{
    return contention_.current() == fsm::contention::state::pausing;
}

void backoff_acquirer::resume(bool leaves)
{
    if (behalf_.wanted())
        begin_wait();
    contention_.resume(leaves);
}

bool backoff_acquirer::dispensable() const noexcept
{
    return holding() && !watching_;
}

void backoff_acquirer::begin_wait()
{
    const lock_options& o = behalf_.first()->options;
    contention_.use(fsm::backoff(o.backoff_floor, o.backoff_ceiling));
}

void backoff_acquirer::wanted()
{
    begin_wait();
    lingering_ = false;
    timer_queue::cancel(*this);
    perform(contention_.wanted(online()));
}

void backoff_acquirer::unwanted()
{
    if (contention_.waits())
        timer_queue::cancel(*this);
    if (waits_for_window()) {
        withdraw();
        contention_.unsent(false);
    }
    contention_.unwanted();
}

void backoff_acquirer::hint()
{
    if (!waits_for_window()) // it looks after this anyway
        perform(contention_.hint(online()));
}

void backoff_acquirer::connected()
{
    perform(contention_.connected());
}

void backoff_acquirer::disconnected()
{
    if (waits_for_window()) {
        withdraw();
        contention_.unsent(true);
    }
}

void backoff_acquirer::left(const release_reply* reply, clock::time_point,
                            std::chrono::milliseconds)
{
    const bool freed = reply != nullptr && reply->result == release_reply::outcome::freed;
    perform(contention_.left(behalf_.wanted(), freed && others_wait(*reply), online(),
                             context().random));
}

/// Others wait, or nobody knows whether they do.
bool backoff_acquirer::others_wait(const release_reply& reply) const noexcept
{
    // Of those who were told one is this client, if it watches the name. If not even that was told,
    // releases are not announced here, and nobody knows who waits elsewhere.
    const bool known = reply.receivers_known && context().traits().announces;
    return !known || (watching_ ? reply.receivers != 1 : reply.receivers > 0);
}

void backoff_acquirer::stop()
{
    if (const acquire_attempt_ptr attempt = forget_attempt())
        attempt->abandon();
    withdraw();
    timer_queue::cancel(*this);
}

bool backoff_acquirer::rest()
{
    if (watching_ && !lingering_) {
        lingering_ = true;
        context().timers.schedule(*this, context().turn_time() + linger);
    }
    return !lingering_;
}

void backoff_acquirer::expired()
{
    if (!std::exchange(lingering_, false))
        return perform(contention_.due(online()));
    if (std::exchange(watching_, false)) {
        context().locks().unwatch(name());
        --context().counts.watched;
    }
    behalf_.on_rest();
}

void backoff_acquirer::perform(fsm::contention::action next)
{
    switch (next.what) {
    case fsm::contention::action::kind::none: break;
    case fsm::contention::action::kind::send: ask_for_room(); break;
    case fsm::contention::action::kind::sleep:
        context().timers.schedule(*this, context().turn_time() + next.pause);
        break;
    }
}

void backoff_acquirer::on_room(acquire_window& there)
{
    const spec_ptr& spec = behalf_.first();
    send(there, spec, context().make_owner(),
         {.fences = fences(spec->options),
          .asks_holder = behalf_.asks_holder(),
          .one_try = !behalf_.patient()});
}

void backoff_acquirer::on_reply(acquire_attempt& attempt, const acquire_reply& reply)
{
    switch (reply.result) {
    case acquire_reply::outcome::granted: granted(attempt, reply); break;
    case acquire_reply::outcome::held: held_by_other(reply); break;
    case acquire_reply::outcome::late:
        perform(contention_.late(behalf_.wanted(), context().random));
        break;
    case acquire_reply::outcome::gone: break;
    }
}

void backoff_acquirer::on_failed(acquire_attempt&, effect)
{
    perform(contention_.failed(behalf_.wanted(), context().random));
}

void backoff_acquirer::granted(acquire_attempt& attempt, const acquire_reply& reply)
{
    behalf_.on_granted();
    const ownership_ptr taken = attempt.take(reply);
    if (!taken) {
        behalf_.on_refused(errc::store_unavailable, nullptr);
        return on_failed(attempt, effect::none);
    }
    contention_.granted();
    if (behalf_.wanted() && serves(attempt.spec, behalf_.first()))
        return behalf_.on_taken(*taken);
    contention_.leaving();
    if (has(mutant::cancelled_grant_kept))
        return behalf_.on_left(nullptr, {}, {});
    client_.releases.leave(*taken, {.told = &behalf_});
}

void backoff_acquirer::held_by_other(const acquire_reply& reply)
{
    turn_context& r = context();
    behalf_.on_held(reply);
    if (behalf_.wanted()) {
        if (doubt_.of(reply.remaining, behalf_.first()->options.lease_time, r.turn_time()))
            r.tell([&](observer& o) { o.suspect_expiry(name(), reply.remaining); });
        watch();
    }
    perform(contention_.held(reply.remaining, behalf_.wanted(), r.random));
}

void backoff_acquirer::watch()
{
    if (std::exchange(watching_, true))
        return;
    context().locks().watch(name());
    ++context().counts.watched;
}

} // namespace leasehold::detail
