#include "core/release/pending_releases.hpp"

#include "core/acquire/acquire_attempt.hpp"
#include "core/acquire/wait_queue.hpp"
#include "core/lease/ownership.hpp"
#include "mutant.hpp"

#include <algorithm>
#include <utility>

namespace leasehold::detail {
namespace {

// Between two tries while the store can be reached but does not do it.
constexpr clock::duration pause_floor = std::chrono::milliseconds(20);
constexpr clock::duration pause_ceiling = std::chrono::milliseconds(500);

} // namespace

void pending_releases::leave(const ownership& held, outcome_op_ptr waiting, error_code reason,
                             wait_queue* place)
{
    const auto now = context_.turn_time();
    // This long from now its time to live has passed: unless others prolong it, or a renewal that
    // is still on its way.
    const auto over = now + held.spec->options.lease_time;
    const bool prolonged = held.shared() || held.life.doubtful();
    const pending_release_ptr added(
        new pending_release(*this, held.spec, held.owner, std::string(held.entry()),
                            fsm::release(clock::time_point::min(), over, prolonged)));
    added->waiting = std::move(waiting);
    added->reason = reason;
    added->place = place;
    add(added);
}

pending_releases::pending_release_ptr pending_releases::orphan(const acquire_attempt& attempt)
{
    if (has(mutant::orphan_kept))
        return nullptr;
    const auto over = attempt.runs_until() + attempt.spec->options.lease_time;
    const pending_release_ptr added(
        new pending_release(*this, attempt.spec, attempt.owner, attempt.entry,
                            fsm::release(attempt.runs_until(), over, !attempt.entry.empty())));
    added->orphan = true;
    ++context_.counts.orphans;
    add(added);
    return added;
}

void pending_releases::add(pending_release_ptr added)
{
    list_.push_back(*added);
    intrusive_ptr_add_ref(added.get());
    added->start();
}

void pending_releases::connected()
{
    for (auto i = list_.begin(); i != list_.end();) {
        pending_release& each = *i++; // it may finish
        each.connected();
    }
}

void pending_releases::complete_cancelled()
{
    for (pending_release& each : list_)
        if (each.waiting && each.waiting->done.cancel_requested)
            each.waiting->cancel();
}

void pending_releases::give_up(error_code why)
{
    while (!list_.empty())
        list_.front().give_up(why);
}

void pending_releases::drop(error_code told) noexcept
{
    while (!list_.empty())
        list_.front().drop(told);
}

void pending_releases::pending_release::act(fsm::release::action next)
{
    switch (next) {
    case fsm::release::action::send: send(); break;
    case fsm::release::action::done: return give_up(outcome());
    case fsm::release::action::told:
        tell();
        return act(steps_.due(list_.context_.turn_time(), list_.context_.online()));
    case fsm::release::action::wait:
        if (!list_.context_.online())
            tell_place(false);
        break;
    }
    list_.context_.timers.schedule(*this, std::min(steps_.next(), give_up_at_));
}

void pending_releases::pending_release::send()
{
    turn_context& r = list_.context_;
    give_up_at_ = r.turn_time() + turn_context::request_limit;
    ++r.counts.releases_sent;
    r.locks().async_release({spec->name, owner, entry},
                            [client = r.shared_from_this(),
                             self = boost::intrusive_ptr<pending_release>(this),
                             request = ++request_](error_code failed, release_reply reply) {
                                client->turn([&] { self->answered(request, failed, reply); });
                            });
}

void pending_releases::pending_release::answered(unsigned request, error_code failed,
                                                 const release_reply& reply)
{
    if (!listed_)
        return;
    // A late answer counts when it says that the lock was left; any other belongs to a request that
    // is no longer waited for.
    if (request != request_ && (failed || reply.result == release_reply::outcome::not_owner))
        return;
    turn_context& r = list_.context_;
    give_up_at_ = clock::time_point::max();
    const bool freed = !failed && reply.result == release_reply::outcome::freed;
    // Of those who were told, one is this client itself, if it watches the name.
    const bool watching = place != nullptr && place->watching();
    tell_place(freed && reply.receivers > (watching ? 1u : 0u));
    if (!failed)
        list_.listener_.on_answer();
    act(failed
            ? steps_.failed(failed, fsm::pick(r.random, pause_floor, pause_ceiling), r.turn_time())
            : steps_.replied(reply.result, r.turn_time()));
}

void pending_releases::pending_release::expired()
{
    turn_context& r = list_.context_;
    const auto now = r.turn_time();
    if (now >= give_up_at_) {
        give_up_at_ = clock::time_point::max();
        tell_place(false);
        return act(steps_.failed(errc::outcome_unknown, pause_floor, now));
    }
    act(steps_.due(now, r.online()));
}

void pending_releases::pending_release::settle(bool taken)
{
    if (!listed_)
        return;
    if (!taken)
        return give_up({});
    act(steps_.settled(list_.context_.turn_time()));
}

void pending_releases::pending_release::tell_place(bool others)
{
    if (place != nullptr)
        std::exchange(place, nullptr)->left(others);
}

error_code pending_releases::pending_release::outcome() const
{
    const auto outcome = steps_.outcome();
    return outcome && outcome != errc::not_owner && reason ? reason : outcome;
}

void pending_releases::pending_release::tell()
{
    tell_place(false);
    complete(outcome());
}

void pending_releases::pending_release::complete(error_code why)
{
    if (waiting)
        std::exchange(waiting, nullptr)->complete(why ? why : reason);
}

void pending_releases::pending_release::give_up(error_code why)
{
    const boost::intrusive_ptr<pending_release> self(this, false); // the list's
    listed_ = false;
    timer_queue::cancel(*this);
    list_.list_.erase(list_.list_.iterator_to(*this));
    if (orphan)
        --list_.context_.counts.orphans;
    tell_place(false);
    complete(why);
    if (list_.list_.empty())
        list_.listener_.on_all_returned();
}

void pending_releases::pending_release::drop(error_code told) noexcept
{
    const boost::intrusive_ptr<pending_release> self(this, false); // the list's
    listed_ = false;
    place = nullptr;
    timer_queue::cancel(*this);
    list_.list_.erase(list_.list_.iterator_to(*this));
    if (waiting)
        waiting->done.end(told);
}

} // namespace leasehold::detail
