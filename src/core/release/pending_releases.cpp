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

void returns::leave(const hold& which, outcome_op_ptr waiting, error_code reason, contender* place)
{
    const auto now = runtime_.turn_time();
    // This long from now its time to live has passed: unless others prolong it, or a renewal that is still on its way.
    const auto over = now + which.spec->options.lease_time;
    const bool prolonged = which.shared() || which.life.doubtful();
    const item_ptr added(
        new item(*this, which.spec, which.owner, std::string(which.entry()), fsm::release(clock::time_point::min(), over, prolonged)));
    added->waiting = std::move(waiting);
    added->reason = reason;
    added->place = place;
    add(added);
}

returns::item_ptr returns::orphan(const attempt& which)
{
    if (has(mutant::orphan_kept))
        return nullptr;
    const auto over = which.runs_until() + which.spec->options.lease_time;
    const item_ptr added(
        new item(*this, which.spec, which.owner, which.entry, fsm::release(which.runs_until(), over, !which.entry.empty())));
    added->orphan = true;
    ++runtime_.counts.orphans;
    add(added);
    return added;
}

void returns::add(item_ptr added)
{
    list_.push_back(*added);
    intrusive_ptr_add_ref(added.get());
    added->start();
}

void returns::connected()
{
    for (auto i = list_.begin(); i != list_.end();) {
        item& each = *i++; // it may finish
        each.connected();
    }
}

void returns::hear()
{
    for (item& each : list_)
        if (each.waiting && each.waiting->done.unheard)
            each.waiting->cancel();
}

void returns::give_up(error_code why)
{
    while (!list_.empty())
        list_.front().give_up(why);
}

void returns::drop(error_code told) noexcept
{
    while (!list_.empty())
        list_.front().drop(told);
}

void returns::item::act(fsm::release::action what)
{
    switch (what) {
    case fsm::release::action::send: send(); break;
    case fsm::release::action::done: return give_up(outcome());
    case fsm::release::action::told: tell(); return act(steps_.due(list_.runtime_.turn_time(), list_.runtime_.online()));
    case fsm::release::action::wait:
        if (!list_.runtime_.online())
            tell_place(false);
        break;
    }
    list_.runtime_.timers.schedule(*this, std::min(steps_.next(), give_up_at_));
}

void returns::item::send()
{
    runtime& r = list_.runtime_;
    give_up_at_ = r.turn_time() + runtime::request_limit;
    ++r.counts.releases_sent;
    r.locks().async_release({spec->name, owner, entry},
                            [client = r.shared_from_this(), self = boost::intrusive_ptr<item>(this),
                             request = ++request_](error_code failed, release_reply reply) {
                                client->turn([&] { self->answered(request, failed, reply); });
                            });
}

void returns::item::answered(unsigned request, error_code failed, const release_reply& reply)
{
    if (!listed_)
        return;
    // A late answer counts when it says that the lock was left; any other belongs to a request that is no longer waited for.
    if (request != request_ && (failed || reply.result == release_reply::outcome::not_owner))
        return;
    runtime& r = list_.runtime_;
    give_up_at_ = clock::time_point::max();
    const bool freed = !failed && reply.result == release_reply::outcome::freed;
    // Of those who were told, one is this client itself, if it watches the name.
    const bool watching = place != nullptr && place->watching();
    tell_place(freed && reply.receivers > (watching ? 1u : 0u));
    if (!failed)
        list_.listener_.on_answer();
    act(failed ? steps_.failed(failed, fsm::pick(r.random, pause_floor, pause_ceiling), r.turn_time())
               : steps_.replied(reply.result, r.turn_time()));
}

void returns::item::expired()
{
    runtime& r = list_.runtime_;
    const auto now = r.turn_time();
    if (now >= give_up_at_) {
        give_up_at_ = clock::time_point::max();
        tell_place(false);
        return act(steps_.failed(errc::outcome_unknown, pause_floor, now));
    }
    act(steps_.due(now, r.online()));
}

void returns::item::settle(bool taken)
{
    if (!listed_)
        return;
    if (!taken)
        return give_up({});
    act(steps_.settled(list_.runtime_.turn_time()));
}

void returns::item::tell_place(bool others)
{
    if (place != nullptr)
        std::exchange(place, nullptr)->left(others);
}

error_code returns::item::outcome() const
{
    const auto outcome = steps_.outcome();
    return outcome && outcome != errc::not_owner && reason ? reason : outcome;
}

void returns::item::tell()
{
    tell_place(false);
    complete(outcome());
}

void returns::item::complete(error_code why)
{
    if (waiting)
        std::exchange(waiting, nullptr)->complete(why ? why : reason);
}

void returns::item::give_up(error_code why)
{
    const boost::intrusive_ptr<item> self(this, false); // the list's
    listed_ = false;
    timer_queue::cancel(*this);
    list_.list_.erase(list_.list_.iterator_to(*this));
    if (orphan)
        --list_.runtime_.counts.orphans;
    tell_place(false);
    complete(why);
    if (list_.list_.empty())
        list_.listener_.on_all_returned();
}

void returns::item::drop(error_code told) noexcept
{
    const boost::intrusive_ptr<item> self(this, false); // the list's
    listed_ = false;
    place = nullptr;
    timer_queue::cancel(*this);
    list_.list_.erase(list_.list_.iterator_to(*this));
    if (waiting)
        waiting->done.end(told);
}

} // namespace leasehold::detail
