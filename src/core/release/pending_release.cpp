#include "core/release/pending_release.hpp"

#include "base/mutant.hpp"
#include "core/diagnostics/failure_details.hpp"
#include "fsm/lease/external_time.hpp"

#include <boost/assert.hpp>

#include <algorithm>
#include <utility>

namespace leasehold::detail {
namespace {

// Pause between attempts while the store can be reached but does not execute the release.
constexpr clock::duration pause_floor = std::chrono::milliseconds(20);
constexpr clock::duration pause_ceiling = std::chrono::milliseconds(500);

} // namespace

void pending_release::start(list& all, clock::time_point& answered)
{
    BOOST_ASSERT(context_.in_turn() && !listed::is_linked());
    last_answer_ = &answered;
    since_ = context_.turn_time();
    all.push_back(*this);
    intrusive_ptr_add_ref(this);
    if (orphan_)
        ++context_.counts.orphans;
    act(steps_.due(context_.now(), context_.online(name())));
}

void pending_release::act(fsm::release::action next)
{
    switch (next) {
    case fsm::release::action::send: send(); break;
    case fsm::release::action::done: return give_up(outcome());
    case fsm::release::action::report:
        report();
        return act(steps_.due(context_.turn_time(), context_.online(name())));
    case fsm::release::action::wait:
        if (!context_.online(name()) && !context_.traits().queues)
            notify_listener();
        break;
    }
    context_.timers.schedule(*this, std::min(steps_.next(), give_up_at_));
}

void pending_release::send()
{
    turn_context& r = context_;
    give_up_at_ = r.turn_time() + turn_context::request_limit;
    if (first_sent_ == clock::time_point())
        first_sent_ = r.turn_time();
    ++r.counts.releases_sent;
    r.locks().async_release(
        {.name = subject_.spec->name,
         .owner = subject_.owner,
         .entry = subject_.entry,
         .dead_holder_grace = subject_.spec->options.dead_holder_grace,
         .next = interest_.notify != nullptr ? interest_.notify->next() : nullptr,
         .external_time = subject_.external_time},
        [client = r.shared_from_this(), self = pending_release_ptr(this), request = ++request_,
         sent = r.turn_time()](error_code failed, release_reply reply) {
            client->turn([&] {
                client->notify_answered(store_request::release, sent, failed);
                self->answered(request, failed, reply);
            });
        });
}

void pending_release::answered(unsigned request, error_code failed, const release_reply& reply)
{
    if (!listed::is_linked())
        return;
    // A late answer counts if it confirms the release. Any other belongs to a request that has
    // already timed out.
    if (request != request_ && (failed || reply.result == release_reply::outcome::not_owner))
        return;
    turn_context& r = context_;
    give_up_at_ = clock::time_point::max();
    if (!failed && reply.result == release_reply::outcome::granted_next &&
        !(reply.next && reply.next->result == acquire_reply::outcome::granted))
        r.notify([&](observer& o) { o.granted_next(name()); });
    // In a store with queues, the next owner is certain only after a confirmed release.
    const bool left = !failed && reply.result != release_reply::outcome::not_owner;
    if (left || !r.traits().queues)
        notify_listener(failed ? nullptr : &reply);
    if (!failed)
        *last_answer_ = r.turn_time();
    last_error_ = failed;
    details_ = reply.details;
    act(failed
            ? steps_.failed(failed, fsm::pick(r.random, pause_floor, pause_ceiling), r.turn_time())
            : steps_.replied(reply.result, r.turn_time()));
}

void pending_release::expired()
{
    turn_context& r = context_;
    const auto now = r.turn_time();
    if (now >= give_up_at_) {
        give_up_at_ = clock::time_point::max();
        last_error_ = errc::outcome_unknown;
        details_.reset();
        if (!r.traits().queues)
            notify_listener();
        return act(steps_.failed(errc::outcome_unknown, pause_floor, now));
    }
    act(steps_.due(now, r.online(name())));
}

void pending_release::settle(bool taken)
{
    if (!listed::is_linked())
        return;
    if (!taken)
        return give_up({});
    act(steps_.settled(context_.turn_time()));
}

void pending_release::complete_cancelled()
{
    if (interest_.waiting && interest_.waiting->done.cancel_requested)
        interest_.waiting->cancel();
}

void pending_release::notify_listener(const release_reply* reply)
{
    if (interest_.notify != nullptr)
        std::exchange(interest_.notify, nullptr)
            ->on_left(reply, first_sent_, subject_.external_time);
}

error_code pending_release::outcome() const
{
    const auto outcome = steps_.outcome();
    return outcome && outcome != errc::not_owner && interest_.reason ? interest_.reason : outcome;
}

void pending_release::report()
{
    notify_listener();
    complete(outcome());
}

void pending_release::complete(error_code why)
{
    if (!interest_.waiting)
        return;
    const auto waiting = std::exchange(interest_.waiting, nullptr);
    const error_code error = why ? why : interest_.reason;
    if (!error || !waiting->done.explained())
        return waiting->complete(error);
    const bool of_reason = interest_.details && error == interest_.reason;
    waiting->complete(error, of_reason ? interest_.details : explain(error));
}

details_ptr pending_release::explain(error_code error) const noexcept
{
    const bool unreachable = !context_.online(name());
    const details_ptr reported = unreachable ? context_.trouble_details(name()) : details_;
    return make_details(context_,
                        {.name = name(),
                         .error = error,
                         .cause = unreachable ? error_code(errc::store_unavailable) : last_error_,
                         .reported = reported.get(),
                         .waited = context_.turn_time() - since_,
                         .attempts = request_});
}

void pending_release::give_up(error_code why)
{
    BOOST_ASSERT(context_.in_turn() && listed::is_linked());
    const pending_release_ptr self(this, false); // the reference of the list
    timer_queue::cancel(*this);
    listed::unlink();
    if (orphan_)
        --context_.counts.orphans;
    notify_listener();
    complete(why);
}

void pending_release::drop(error_code error) noexcept
{
    const pending_release_ptr self(this, false); // the reference of the list
    interest_.notify = nullptr;
    timer_queue::cancel(*this);
    listed::unlink();
    if (interest_.waiting)
        interest_.waiting->done.end(error);
}

void pending_releases::leave(const ownership& held, pending_release::interest caller)
{
    // After this time its TTL has passed, unless other leases of the owner extend it, or a renewal
    // that is still in flight.
    const auto over = context_.turn_time() + held.spec->options.lease_time;
    const bool extended = held.shared() || held.life.doubtful() ||
                          (context_.traits().session && !has(mutant::session_release_given_up));
    std::chrono::milliseconds free_time{};
    if (const auto percent = held.spec->options.external_share; percent > 0)
        free_time = fsm::external_time(percent).after(context_.turn_time() - held.since,
                                                      context_.random);
    add({held.spec, held.owner, std::string(held.entry()), free_time}, std::move(caller),
        fsm::release(clock::time_point::min(), over, extended), false);
}

bool pending_releases::leave_lost(const ownership& held, errc reason,
                                  pending_release::listener* notify)
{
    // At the hold limit the key may have most of its TTL left, so it is released at once. A session
    // keeps the lock after the TTL.
    const bool kept = (reason == errc::hold_limit && !has(mutant::hold_limit_kept)) ||
                      (reason == errc::expired && context_.traits().session &&
                       !has(mutant::expired_lock_kept));
    if (kept) {
        leave(held, {.reason = reason, .notify = notify});
        return true;
    }
    // Without a release the store would keep the lock: while other leases hold it under the same
    // owner, or for the lease time that a renewal added.
    if ((reason == errc::expired || reason == errc::silent) && held.may_outlast() &&
        !has(mutant::expired_entry_kept))
        leave(held, {.reason = reason});
    return false;
}

pending_release_ptr pending_releases::orphan(pending_release::subject what,
                                             clock::time_point runs_until)
{
    if (has(mutant::orphan_kept))
        return nullptr;
    const fsm::release steps(runs_until, runs_until + what.spec->options.lease_time,
                             !what.entry.empty());
    return add(std::move(what), {}, steps, true);
}

pending_release_ptr pending_releases::leave_queue(pending_release::subject what,
                                                  clock::time_point runs_until,
                                                  pending_release::interest caller)
{
    // Within this time an absent owner loses its position, and a grant to it ends.
    constexpr clock::duration forgotten = std::chrono::minutes(1);
    const auto over = std::max(context_.turn_time(), runs_until) +
                      std::max<clock::duration>(what.spec->options.lease_time, forgotten);
    // An owner that is only in the queue holds nothing.
    const bool may_be_held = runs_until != clock::time_point();
    // A listening queue gets the first answer, so that no waiter waits until `runs_until`.
    const auto limit = caller.notify != nullptr ? clock::time_point() : runs_until;
    return add(std::move(what), std::move(caller),
               fsm::release(limit, over, context_.traits().session), may_be_held);
}

pending_release_ptr pending_releases::add(pending_release::subject gone,
                                          pending_release::interest caller, fsm::release steps,
                                          bool orphan)
{
    pending_release_ptr added(
        new pending_release(context_, std::move(gone), std::move(caller), steps, orphan));
    added->start(list_, last_answer_);
    return added;
}

template <class Which>
void pending_releases::try_those(Which which)
{
    for (auto i = list_.begin(); i != list_.end();) {
        pending_release& each = *i++; // it may complete and leave the list
        if (which(each))
            each.connected();
    }
}

void pending_releases::settled(store_partition partition)
{
    for (pending_release& each : list_) {
        if (context_.is_in(partition, each.name()))
            each.nothing_runs_late();
    }
}

error_code pending_releases::why_not_empty() const noexcept
{
    if (list_.empty())
        return {};
    const bool is_answered = std::all_of(
        list_.begin(), list_.end(), [](const auto& each) { return each.waits_for_late_acquire(); });
    return is_answered ? errc::outcome_unknown : errc::store_unavailable;
}

void pending_releases::connected(store_partition partition)
{
    try_those([&](const pending_release& each) { return context_.is_in(partition, each.name()); });
}

void pending_releases::try_now()
{
    try_those([&](const pending_release& each) { return context_.online(each.name()); });
}

void pending_releases::complete_cancelled()
{
    for (pending_release& each : list_)
        each.complete_cancelled();
}

bool pending_releases::contains(std::string_view owner) const noexcept
{
    return std::any_of(list_.begin(), list_.end(),
                       [owner](const pending_release& each) { return each.owner() == owner; });
}

bool pending_releases::ends(std::string_view owner) const noexcept
{
    return std::any_of(list_.begin(), list_.end(),
                       [owner](const pending_release& each) { return each.ends(owner); });
}

void pending_releases::give_up(error_code why)
{
    while (!list_.empty())
        list_.front().give_up(why);
}

void pending_releases::drop(error_code error) noexcept
{
    while (!list_.empty())
        list_.front().drop(error);
}

} // namespace leasehold::detail
