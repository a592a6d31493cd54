#include "core/lease/watchdog.hpp"

#include "base/mutant.hpp"
#include "core/lease/lease_state.hpp"
#include "core/turn/probe.hpp"

#include <boost/asio/error.hpp>
#include <boost/assert.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <utility>

namespace leasehold::detail {

namespace {

/// The time between heartbeats.
clock::duration heartbeat_interval(const ownership& held) noexcept
{
    return clock::duration(held.spec->options.dead_holder_grace) / 4;
}

} // namespace

/// Renewals that were sent together. Each has a limit that depends on its own lease time.
class watchdog::batch final : public timer, public boost::intrusive_ref_counter<batch>
{
public:
    batch(watchdog& keeper, std::vector<ownership_ptr> held, clock::time_point sent)
        : keeper_(keeper), sent_(sent)
    {
        members_.reserve(held.size());
        for (ownership_ptr& each : held)
            members_.emplace_back(std::move(each), sent);
    }

    void send()
    {
        turn_context& r = keeper_.context_;
        std::vector<renewal> renewals;
        renewals.reserve(members_.size());
        for (const member& each : members_) {
            const ownership& held = *each.held;
            const auto entry = has(mutant::entry_renewed_as_owner) ? std::string_view()
                                                                   : held.entry();
            renewals.push_back({.name = held.spec->name,
                                .owner = held.owner,
                                .lease = held.spec->options.lease_time,
                                .entry = entry,
                                .replica_acks = held.spec->options.replica_acks,
                                .replica_timeout = held.spec->replica_timeout});
        }
        schedule();
        r.locks().async_renew(
            renewals, [client = r.shared_from_this(), self = boost::intrusive_ptr<batch>(this)](
                          error_code failed, const renew_reply& reply) {
                client->turn([&] {
                    client->notify_answered(store_request::renew, self->sent_, failed);
                    self->answered(failed, reply);
                });
            });
    }

private:
    struct member
    {
        member(ownership_ptr of, clock::time_point sent)
            : held(std::move(of)), limit(sent + patience(*held->spec))
        {}

        static clock::duration patience(const lock_spec& spec) noexcept
        {
            // Replicas have their own time, after that of the server.
            const clock::duration confirmation = spec.options.replica_acks > 0
                                                     ? clock::duration(spec.replica_timeout)
                                                     : clock::duration::zero();
            return confirmation +
                   std::min<clock::duration>(turn_context::request_limit,
                                             clock::duration(spec.options.lease_time) / 4);
        }

        ownership_ptr held;
        clock::time_point limit; ///< The maximum after this renewal timed out.

        [[nodiscard]] bool given_up() const noexcept { return limit == clock::time_point::max(); }
    };

    void schedule()
    {
        auto first = clock::time_point::max();
        for (const member& each : members_)
            first = std::min(first, each.limit);
        if (first != clock::time_point::max())
            keeper_.context_.timers.schedule(*this, first);
    }

    void answered(error_code failed, const renew_reply& reply)
    {
        const auto& results = reply.results;
        timer_queue::cancel(*this);
        const auto now = keeper_.context_.turn_time();
        for (std::size_t i = 0; i < members_.size(); ++i) {
            ownership& each = *members_[i].held;
            if (each.life.ended())
                continue;
            const auto result = failed || i >= results.size() ? renewal_result::failed : results[i];
            if (result == renewal_result::renewed ||
                (has(mutant::gone_ignored) && result == renewal_result::gone))
                keeper_.confirmed(each, sent_, now, reply.lease);
            else if (result == renewal_result::gone || has(mutant::unknown_is_lost))
                keeper_.end(each, errc::lost);
            else if (!members_[i].given_up())
                keeper_.failed(each, failed ? failed : reason(result), reply.details, now);
        }
    }

    static error_code reason(renewal_result of) noexcept
    {
        return of == renewal_result::unconfirmed ? errc::not_replicated : errc::store_refused;
    }

    void expired() override
    {
        // A late answer still counts, because it proves that the renewal was executed.
        const auto now = keeper_.context_.turn_time();
        for (member& each : members_) {
            if (now < each.limit)
                continue;
            each.limit = clock::time_point::max();
            if (!each.held->life.ended())
                keeper_.failed(*each.held, errc::outcome_unknown, nullptr, now);
        }
        schedule();
    }

    watchdog& keeper_;
    std::vector<member> members_;
    clock::time_point sent_;
};

void watchdog::async_keep_alive(ownership& held, inplace_signal::slot_type stop) noexcept
{
    BOOST_ASSERT(context_.in_turn());
    held.keep(*this, stop);
    holds_.push_back(held);
    schedule(held);
    if (held.grace_registered()) {
        // The acquire was the first heartbeat.
        const auto due = context_.turn_time() + heartbeat_interval(held);
        if (!alive_.is_linked() || due < alive_.due())
            context_.timers.schedule(alive_, due);
    }
}

/// Sends one heartbeat for all leases, while any of them has a `dead_holder_grace`.
void watchdog::show_alive()
{
    auto interval = clock::duration::max();
    const ownership* shortest = nullptr;
    for (const ownership& each : holds_) {
        if (each.grace_registered() && heartbeat_interval(each) < interval) {
            interval = heartbeat_interval(each);
            shortest = &each;
        }
    }
    if (shortest == nullptr)
        return;
    const auto now = context_.turn_time();
    context_.timers.schedule(alive_, now + interval);
    if (!context_.online(shortest->spec->name))
        return heartbeat_failed(errc::store_unavailable); // `connected` sends the next one
    context_.locks().async_heartbeat(context_.uuid(), [client = context_.shared_from_this(), this,
                                                       now](error_code failed, bool known) {
        client->turn([&] {
            if (failed)
                heartbeat_failed(failed);
            else
                heartbeat_confirmed(now, known);
        });
    });
}

/// The heartbeat that was sent at `sent` is confirmed.
/// @param known The store had an earlier heartbeat. If not, it may have lost the locks, too.
void watchdog::heartbeat_confirmed(clock::time_point sent, bool known)
{
    const auto now = context_.turn_time();
    std::vector<ownership_ptr> over;
    for (ownership& each : holds_) {
        if (!each.grace_registered())
            continue;
        if (each.life.alive(sent, each.spec->options.dead_holder_grace, now) ==
            fsm::keep_alive::action::end)
            over.emplace_back(&each);
        else if (!known)
            each.life.ask(now);
        each.publish();
        if (!each.life.ended())
            schedule(each);
    }
    for (const ownership_ptr& each : over)
        end(*each, each->life.reason());
}

/// A heartbeat is not confirmed; the next one may be.
void watchdog::heartbeat_failed(error_code why)
{
    const auto now = context_.turn_time();
    for (ownership& each : holds_) {
        if (each.grace_registered())
            each.renewal_failed(why, context_.trouble_details(each.spec->name), now);
    }
}

void watchdog::on_stopped(ownership& held)
{
    complete(held, asio::error::operation_aborted);
}

void watchdog::complete(ownership& held, error_code why)
{
    const ownership_ptr stays(&held);
    leave(held);
    held.belongs_to().on_kept_alive(held, why);
    if (why == asio::error::operation_aborted)
        return;
    const auto now = context_.turn_time();
    // After this time the store has no lock of the owner, either.
    lost_owners_.remember(held.owner, now + 2 * clock::duration(held.spec->options.lease_time),
                          now);
}

void watchdog::leave(ownership& held) noexcept
{
    held.stop.slot().clear();
    timer_queue::cancel(held);
    held.leave();
    if (!held.life.ended())
        static_cast<void>(held.life.end({}));
}

void watchdog::check(ownership& held)
{
    if (held.life.due(context_.turn_time()) == fsm::keep_alive::action::end)
        end(held, held.life.reason());
}

void watchdog::detach(lease_state& lease)
{
    const lease_state_ptr stays(&lease);
    ownership& held = *lease.held;
    if (lease.active())
        check(held);
    if (lease.active())
        detach(held);
}

void watchdog::detach(ownership& held)
{
    if (!context_.traits().session || has(mutant::detached_lock_kept))
        return held.belongs_to().detach(held);
    // The session keeps the lock, so it is released at the end of its TTL.
    held.end_released(context_);
    held.life.let_end();
    schedule(held);
}

void watchdog::gone(std::string_view name, std::string_view owner)
{
    std::vector<ownership_ptr> over;
    for (ownership& each : holds_) {
        if (each.owner == owner && each.spec->name == name)
            over.emplace_back(&each);
    }
    for (const ownership_ptr& each : over)
        end(*each, errc::lost);
}

void watchdog::detach_marked()
{
    for (auto i = holds_.begin(); i != holds_.end();) {
        ownership& each = *i++; // it may leave the list
        if (each.current() != nullptr && each.current()->detached())
            detach(*each.current());
    }
}

void watchdog::on_due(ownership& held)
{
    const ownership_ptr stays(&held);
    const auto now = context_.turn_time();
    if (held.current() != nullptr && held.current()->abandoned()) {
        check(held);
        if (!held.life.ended() && held.current()->detached())
            detach(held);
        else if (!held.life.ended())
            held.belongs_to().release(held, nullptr);
        return;
    }
    switch (held.life.due(now)) {
    case fsm::keep_alive::action::wait: schedule(held); break;
    case fsm::keep_alive::action::end: end(held, held.life.reason()); break;
    case fsm::keep_alive::action::renew:
        if (context_.online(held.spec->name)) {
            held.life.sent();
            gathered_.push_back(stays);
            context_.request(turn_context::turn_end::renewals);
            schedule(held);
        }
        else {
            failed(held, errc::store_unavailable, context_.trouble_details(held.spec->name), now);
        }
    }
}

void watchdog::connected(store_partition partition)
{
    const auto now = context_.turn_time();
    for (ownership& each : holds_) {
        if (!context_.is_in(partition, each.spec->name))
            continue;
        each.life.connected(now);
        schedule(each);
    }
    if (alive_.is_linked())
        show_alive();
}

void watchdog::at_turn_end()
{
    std::erase_if(gathered_, [](const ownership_ptr& each) { return each->life.ended(); });
    // One request for each partition and number of replicas. So a partition that does not answer
    // delays no other, and renewals that wait for replicas delay none that wait for fewer.
    const auto way_of = [this](const ownership_ptr& each) {
        return std::pair(each->spec->options.replica_acks,
                         context_.locks().partition_of(each->spec->name));
    };
    std::vector<ownership_ptr> renewed = std::exchange(gathered_, {});
    while (!renewed.empty()) {
        const auto first = way_of(renewed.front());
        const auto goes_along = [&](const ownership_ptr& each) { return way_of(each) == first; };
        // The search ends at the first that differs; usually there is none.
        const auto others = std::stable_partition(
            std::find_if_not(renewed.begin(), renewed.end(), goes_along), renewed.end(),
            goes_along);
        std::vector<ownership_ptr> rest(std::make_move_iterator(others),
                                        std::make_move_iterator(renewed.end()));
        renewed.erase(others, renewed.end());
        const boost::intrusive_ptr<batch> all(
            new batch(*this, std::exchange(renewed, std::move(rest)), context_.turn_time()));
        all->send();
    }
}

void watchdog::end(ownership& held, errc reason)
{
    BOOST_ASSERT(context_.in_turn() && held.kept());
    if (!held.life.ended())
        held.life.end(reason);
    complete(held, reason);
}

void watchdog::complete_cancelled()
{
    for (ownership& each : holds_)
        if (each.current() != nullptr)
            each.current()->complete_cancelled();
}

void watchdog::drop(error_code error) noexcept
{
    while (ownership* const each = first()) {
        const ownership_ptr stays(each);
        leave(*each);
        if (const lease_state_ptr ending = each->end_service())
            ending->drop(error);
    }
    gathered_.clear();
}

void watchdog::confirmed(ownership& held, clock::time_point sent, clock::time_point now,
                         fsm::given_lease given)
{
    const auto left = held.life.deadline() - now;
    // A confirmation after the deadline is too late: the lease has expired.
    if (held.life.confirmed(sent, now, given) == fsm::keep_alive::action::end)
        return end(held, held.life.reason());
    held.renewal_confirmed();
    held.publish();
    schedule(held);
    ++context_.counts.renewed;
    const std::uint64_t fence = held.current() ? held.current()->fence : 0;
    LEASEHOLD_PROBE4(renewed, held.spec->name.c_str(), fence,
                     std::chrono::nanoseconds(now - sent).count(),
                     std::chrono::nanoseconds(left).count());
    context_.notify([&](observer& o) { o.renewed(held.spec->name, fence, now - sent, left); });
}

void watchdog::failed(ownership& held, error_code why, details_ptr details, clock::time_point now)
{
    held.renewal_failed(why, std::move(details), now);
    held.life.failed(now);
    schedule(held);
    ++context_.counts.renewals_failed;
    context_.report_problem([&](observer& o) {
        o.renewal_late(held.spec->name, held.current() ? held.current()->fence : 0, why,
                       held.life.deadline() - now);
    });
}

} // namespace leasehold::detail
