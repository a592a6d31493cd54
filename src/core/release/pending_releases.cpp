#include "core/release/pending_releases.hpp"

#include "base/mutant.hpp"
#include "fsm/lease/foreign_turn.hpp"

#include <algorithm>
#include <utility>

namespace leasehold::detail {

void pending_releases::leave(const ownership& held, pending_release::interest who)
{
    // This long from now its time to live has passed: unless others prolong it, or a renewal that
    // is still on its way.
    const auto over = context_.turn_time() + held.spec->options.lease_time;
    const bool prolonged = held.shared() || held.life.doubtful();
    const auto turn = fsm::foreign_turn(held.spec->options.foreign_turns)
                          .after(context_.turn_time() - held.since, context_.random);
    add({held.spec, held.owner, std::string(held.entry()), turn}, std::move(who),
        fsm::release(clock::time_point::min(), over, prolonged), false);
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

pending_release_ptr pending_releases::leave_line(pending_release::subject what,
                                                 clock::time_point runs_until,
                                                 pending_release::interest who)
{
    // Whoever is not there loses its place, and what it was given ends, within this time.
    constexpr clock::duration forgotten = std::chrono::minutes(1);
    const auto over = std::max(context_.turn_time(), runs_until) +
                      std::max<clock::duration>(what.spec->options.lease_time, forgotten);
    // One that is only in line holds nothing.
    const bool may_be_held = runs_until != clock::time_point();
    // A place is told of the first answer, so that nobody waits there for that long.
    const auto limit = who.place != nullptr ? clock::time_point() : runs_until;
    return add(std::move(what), std::move(who), fsm::release(limit, over, false), may_be_held);
}

pending_release_ptr pending_releases::add(pending_release::subject gone,
                                          pending_release::interest who, fsm::release steps,
                                          bool orphan)
{
    pending_release_ptr added(
        new pending_release(context_, std::move(gone), std::move(who), steps, orphan));
    added->start(list_, last_answer_);
    return added;
}

template <class Which>
void pending_releases::try_those(Which which)
{
    for (auto i = list_.begin(); i != list_.end();) {
        pending_release& each = *i++; // it may finish
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

} // namespace leasehold::detail
