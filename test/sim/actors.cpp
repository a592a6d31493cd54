#include "sim/actors.hpp"

#include <leasehold/with_lock.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>

#include <string>
#include <utility>

namespace leasehold::test::sim {

void actors::schedule()
{
    for (const operation& each : trial_.scenario.operations) {
        actor& a = trial_.actors.emplace_back();
        a.op = &each;
        a.index = trial_.actors.size() - 1;
        a.options = &trial_.scenario.options[each.options];
        trial_.world.at(trial_.time(each.at), [this, &a] { begin(a); });
    }
}

void actors::cancel(actor& a, bool& effect)
{
    a.cancelled = &effect;
    a.signal.emit(asio::cancellation_type::terminal);
    a.leaving.emit(asio::cancellation_type::partial);
}

void actors::note_cancelled(const actor& a, error_code failed) noexcept
{
    if (failed == asio::error::operation_aborted && a.cancelled != nullptr)
        *a.cancelled = true;
}

template <class Handler>
auto actors::bound(actor& a, Handler handler)
{
    const asio::any_io_executor on = a.op->own_executor
                                         ? asio::any_io_executor(a.client->host->get_executor())
                                         : a.client->locks->get_executor();
    return asio::bind_cancellation_slot(a.signal.slot(),
                                        asio::bind_executor(on, std::move(handler)));
}

/// A handler that has to be called exactly once. `due`: the number of such handlers.
template <class F>
auto actors::once(process& client, int& due, F f)
{
    ++due;
    return [this, &client, &due, f = std::move(f), called = false](auto&&... results) mutable {
        if (std::exchange(called, true))
            trial_.wrong("handler called twice");
        if (client.dead)
            trial_.wrong("handler called in a dead process");
        --due;
        f(std::forward<decltype(results)>(results)...);
    };
}

void actors::begin(actor& a)
{
    process& p = *trial_.clients[a.op->client];
    if (p.dead || p.host->is_crashed())
        return;
    a.client = &p;
    asio::post(p.host->get_executor(), [this, &a] {
        if (a.client->dead || a.client->closed)
            return;
        a.started = trial_.now();
        ++trial_.counted.operations;
        trial_.note(a, "begins");
        if (a.op->cancel_after) {
            a.cancelling.emplace(*a.client->host);
            a.cancelling->expires_after(*a.op->cancel_after);
            a.cancelling->async_wait([&a](error_code aborted) {
                if (!aborted)
                    a.signal.emit(a.index % 2 == 0 ? asio::cancellation_type::terminal
                                                   : asio::cancellation_type::total);
            });
        }
        a.waits = true;
        if (a.guards())
            guard(a);
        else
            lock(a);
    });
}

void actors::lock(actor& a)
{
    const mutex& m = trial_.handle(*a.client, a.op->name, a.op->options);
    auto handler = bound(a, once(*a.client, a.due, [this, &a](error_code failed, lease held) {
                             acquired(a, failed, std::move(held));
                         }));
    switch (a.op->what) {
    case verb::try_once: m.async_try_lock(std::move(handler)); break;
    case verb::try_for: m.async_try_lock_for(a.op->limit, std::move(handler)); break;
    default: m.async_lock(std::move(handler)); break;
    }
}

void actors::guard(actor& a)
{
    const auto work_under_lock = [this, &a](lease& held) {
        a.waits = false;
        checks_.possess(a, held);
        watch_loss(a, held);
        a.hold.emplace(*a.client->host);
        a.hold->expires_after(trial_.hold_for(a.op->hold));
        const bool deaf = a.op->what == verb::guarded_stubborn;
        return asio::async_initiate<const asio::deferred_t, void(error_code)>(
            [this, &a, deaf](auto handler) {
                const auto on = asio::get_associated_executor(handler);
                const auto slot = deaf ? asio::cancellation_slot()
                                       : asio::cancellation_slot(
                                             asio::get_associated_cancellation_slot(handler));
                auto done = [this, &a, handler = std::move(handler)](error_code e) mutable {
                    // The lease belongs to `with_lock`, and must not be used after its end.
                    checks_.probe();
                    checks_.dispossess(a);
                    std::move(handler)(e);
                };
                a.hold->async_wait(
                    asio::bind_cancellation_slot(slot, asio::bind_executor(on, std::move(done))));
            },
            asio::deferred);
    };
    auto done = once(*a.client, a.due, [this, &a](error_code failed) {
        a.waits = false;
        note_cancelled(a, failed);
        trial_.outcome(failed);
        trial_.note(a, "with_lock: " + (failed ? failed.message() : std::string("done")));
        checks_.probe();
        trial_.names[a.op->name].left = trial_.now();
        if (failed)
            trial_.names[a.op->name].gave_up = trial_.now();
        a.ended = true;
        if (a.told && !failed)
            trial_.wrong("loss not reported: with_lock succeeded after its lease was lost");
    });
    const mutex& m = trial_.handle(*a.client, a.op->name, a.op->options);
    with_lock(m, work_under_lock, bound(a, std::move(done)));
}

/// Whether the wait has a limit that may end before a reply.
bool actors::limited(const actor& a)
{
    return a.op->what == verb::try_for ||
           (a.op->what != verb::try_once && a.options->wait_limit != no_limit);
}

void actors::acquired(actor& a, error_code failed, lease held)
{
    a.waits = false;
    note_cancelled(a, failed);
    trial_.outcome(static_cast<std::uint64_t>(failed.value()) + held.fence());
    if (static_cast<bool>(held) == static_cast<bool>(failed))
        trial_.wrong("lease and error: both or neither");
    if (failed) {
        trial_.names[a.op->name].gave_up = trial_.now();
        trial_.note(a, "not acquired: " + failed.message());
        if (trial_.scenario.is_quiet() && failed == condition::store_fault && !limited(a))
            trial_.wrong("store blamed: " + failed.message() + " though nothing happened");
        return;
    }
    a.held = std::move(held);
    checks_.possess(a, a.held);
    watch_loss(a, a.held);
    work(a);
}

void actors::work(actor& a)
{
    a.hold.emplace(*a.client->host);
    a.hold->expires_after(trial_.hold_for(a.op->hold));
    auto done = once(*a.client, a.due, [this, &a](error_code) {
        if (trial_.scenario.ends_together)
            end_holds_of(*a.client);
        finish(a);
    });
    a.hold->async_wait(asio::bind_executor(a.client->locks->get_executor(), std::move(done)));
    if (a.op->what == verb::reenter && a.held.valid())
        reenter(a);
}

void actors::reenter(actor& a)
{
    process& p = *trial_.clients[a.op->other];
    if (p.dead || p.closed || p.host->is_crashed())
        return;
    a.reentered_from = &p;
    a.entering = true;
    const owner shared = a.held.share_owner();
    trial_.note(a, "enters again from " + p.host->name());
    asio::post(asio::any_io_executor(p.host->get_executor()), [this, &a, &p, shared] {
        if (p.dead || p.closed)
            return;
        auto done = once(p, a.inner_due, [this, &a, &p](error_code failed, lease held) {
            reentered(a, p, failed, std::move(held));
        });
        auto on_host = asio::bind_executor(p.host->get_executor(), std::move(done));
        trial_.handle(p, a.op->name, a.op->other_options)
            .with_owner(shared)
            .async_lock(asio::bind_cancellation_slot(a.signal.slot(), std::move(on_host)));
    });
}

void actors::reentered(actor& a, process& p, error_code failed, lease held)
{
    note_cancelled(a, failed);
    trial_.note(a, failed ? "not entered: " + failed.message() : "entered");
    if (failed)
        return;
    a.inner = std::move(held);
    checks_.possess_again(a);
    // Releases last, in half of the cases.
    a.cancelling.emplace(*p.host);
    a.cancelling->expires_after(trial_.hold_for(
        a.index % 2 == 0 ? a.op->hold / 2 : milliseconds(a.op->hold + milliseconds(5))));
    auto done = once(p, a.inner_due,
                     [this, &a, &p](error_code) { leave(a, a.inner, p, a.inner_due); });
    a.cancelling->async_wait(asio::bind_executor(p.host->get_executor(), std::move(done)));
}

void actors::watch_loss(actor& a, lease& held)
{
    auto told = once(*a.client, a.due, [this, &a, &held](error_code reason) {
        if (reason != asio::error::operation_aborted)
            return checks_.reported_lost(a, held, *a.client, reason);
        if (!a.guards() && !a.ended && held)
            trial_.wrong("loss not reported: the wait was aborted although the lease continues");
    });
    held.async_wait_lost(asio::bind_executor(a.client->locks->get_executor(), std::move(told)));
}

/// Ends the holds of all its actors now.
void actors::end_holds_of(const process& client)
{
    for (actor& each : trial_.actors)
        if (each.client == &client && each.hold && !each.ended)
            each.hold->cancel();
}

void actors::finish(actor& a)
{
    if (a.ended)
        return;
    checks_.probe();
    leave(a, a.held, *a.client, a.due);
}

void actors::leave(actor& a, lease& held, process& client, int& due)
{
    if (!held)
        return;
    const bool outer = &held == &a.held;
    const bool was_valid = held.valid();
    if (outer && was_valid)
        checks_.owe_turn(a);
    checks_.dispossess(held);
    if (outer)
        a.ended = true;
    trial_.names[a.op->name].left = trial_.now();
    trial_.note(a, std::string("leaves") + (outer ? "" : " inner") +
                       (was_valid ? "" : " (not valid)"));
    if (a.op->let_go) {
        a.unreleased = a.unreleased || a.entering; // the result is not reported
        held = lease();
        return;
    }
    const bool told = outer && a.told;
    auto done = once(client, due, [this, &a, told, was_valid, outer](error_code failed) {
        note_cancelled(a, failed);
        trial_.outcome(failed);
        trial_.note(a, "left: " + (failed ? failed.message() : std::string("done")));
        // A lost entry remains, too.
        a.unreleased = a.unreleased || failed == condition::store_fault ||
                       failed == errc::permission_denied || (failed && !outer);
        if (told && !failed)
            trial_.wrong("loss not reported: a lost lease was released without an error");
        const bool cancelled = failed == asio::error::operation_aborted;
        if (was_valid && failed && !cancelled && trial_.scenario.is_quiet())
            trial_.wrong("release failed: " + failed.message() + " though nothing happened");
    });
    auto on_host = asio::bind_executor(client.host->get_executor(), std::move(done));
    if (outer)
        held.async_release(asio::bind_cancellation_slot(a.leaving.slot(), std::move(on_host)));
    else
        held.async_release(std::move(on_host));
}

} // namespace leasehold::test::sim
