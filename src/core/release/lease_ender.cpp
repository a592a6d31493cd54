#include "core/release/lease_ender.hpp"

#include "base/mutant.hpp"
#include "core/diagnostics/failure_details.hpp"
#include "core/diagnostics/loss_details.hpp"
#include "core/lease/lease_state.hpp"
#include "core/turn/probe.hpp"

#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/assert.hpp>

#include <utility>

namespace leasehold::detail {

void lease_ender::release(ownership& held, lease_state& lease, const outcome_op_ptr& waiting)
{
    if (lease.active())
        watchdog_.check(held); // nothing is handed on that might be over
    if (!lease.active())
        return release_lost(held, waiting,
                            lease.released() ? error_code(errc::not_owner) : lease.loss());

    const lease_state_ptr last = held.serve_nobody();
    BOOST_ASSERT(last == &lease);
    --context_.counts.held;
    lease.end_released();
    ++context_.counts.released;
    const auto time = context_.turn_time() - lease.since;
    LEASEHOLD_PROBE3(released, held.spec->name.c_str(), lease.fence, probed(time));
    context_.tell([&](observer& o) { o.released(held.spec->name, lease.fence, time); });
    ownership::home* const place = held.place();
    if (place != nullptr && place->hand_over(held)) {
        if (waiting)
            waiting->complete({});
        return;
    }
    // Ends the keep-alive before the release is sent: no renewal follows it.
    if (!has(mutant::renewal_goes_on))
        held.stop.emit(asio::cancellation_type::terminal);
    if (place != nullptr)
        place->on_leaving();
    releases_.leave(held, {.waiting = waiting, .place = place});
}

void lease_ender::release_lost(ownership& held, const outcome_op_ptr& waiting, error_code reason)
{
    details_ptr details = waiting && waiting->done.explained()
                              ? loss_details(context_, held, reason)
                              : nullptr;
    // The margin for the drift of clocks is left to the key: the store is asked, so that it goes
    // and the caller learns whether another has it. What may be there for longer is on its way
    // back.
    if (reason == errc::expired && waiting && !may_outlast(held) &&
        context_.online(held.spec->name))
        return releases_.leave(held, {.waiting = waiting, .reason = reason, .details = details});
    if (waiting)
        waiting->complete(reason, std::move(details));
}

void lease_ender::shut_down()
{
    while (ownership* const each = watchdog_.first()) {
        const ownership_ptr held(each);
        if (const lease_state_ptr ending = held->serve_nobody()) {
            --context_.counts.held;
            ending->end_lost(errc::shut_down);
            tell_lost(*held, *ending, errc::shut_down, nullptr);
        }
        held->stop.emit(asio::cancellation_type::terminal);
        if (!has(mutant::shutdown_keeps))
            releases_.leave(*held, {});
    }
}

void lease_ender::on_kept_alive(ownership& held, error_code why)
{
    if (why != asio::error::operation_aborted)
        on_lost(held, static_cast<errc>(why.value()));
}

void lease_ender::on_lost(ownership& held, errc reason)
{
    BOOST_ASSERT(held.life.ended() && !held.kept());
    ownership::home* const place = held.belong_nowhere();
    if (const lease_state_ptr ending = held.serve_nobody()) {
        // First of all: whatever fails after this, the lease has ended.
        --context_.counts.held;
        const bool explained = context_.observed() || ending->explained();
        const details_ptr details = explained ? loss_details(context_, held, reason) : nullptr;
        ending->end_lost(reason, details);
        ++context_.counts.lost;
        tell_lost(held, *ending, reason, details);
    }
    remember_lost(held);
    if (place != nullptr)
        place->on_leaving();
    // At the limit the key has most of its time to live; it keeps nobody out for that long.
    if (reason == errc::hold_limit && !has(mutant::hold_limit_kept))
        return releases_.leave(held, {.reason = reason, .place = place});
    // Left alone it would keep the lock: for as long as others hold it under the same owner and
    // after them, or for the lease time that the renewal gave it.
    if ((reason == errc::expired || reason == errc::silent) && may_outlast(held) &&
        !has(mutant::expired_entry_kept))
        releases_.leave(held, {.reason = reason});
    if (place != nullptr)
        place->on_left(nullptr, {}, {});
}

void lease_ender::tell_lost(const ownership& held, const lease_state& ended, errc reason,
                            const details_ptr& details)
{
    const auto time = context_.turn_time() - ended.since;
    LEASEHOLD_PROBE4(lost, held.spec->name.c_str(), ended.fence, probed(time),
                     static_cast<int>(reason));
    context_.tell(
        [&](observer& o) { o.lost(held.spec->name, ended.fence, time, reason, shown(details)); });
}

void lease_ender::on_abandoned(ownership& held)
{
    const lease_state_ptr lease(held.current());
    release(held, *lease, nullptr);
}

void lease_ender::remember_lost(const ownership& held)
{
    const auto now = context_.turn_time();
    // By then the store does not know it either.
    lost_owners_.remember(held.owner, now + 2 * clock::duration(held.spec->options.lease_time),
                          now);
}

} // namespace leasehold::detail
