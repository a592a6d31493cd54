#include "core/lease/ownership.hpp"

#include "core/diagnostics/failure_details.hpp"
#include "core/lease/lease_state.hpp"
#include "core/turn/probe.hpp"
#include "core/turn/turn_context.hpp"

#include <leasehold/lease.hpp>

#include <boost/assert.hpp>

#include <chrono>
#include <utility>

namespace leasehold::detail {

void ownership::grant(turn_context& client, completion<error_code, lease>& to, std::uint64_t fence,
                      clock::time_point begun, bool handed_off)
{
    const auto now = client.turn_time();
    // The time of the call is not always taken if no observer needs it.
    const auto waited = begun == clock::time_point() ? clock::duration() : now - begun;
    auto& counts = client.counts;
    try {
        lease_state_ptr given(new lease_state(ownership_ptr(this), fence, now));
        serve(*given);
        ++counts.held;
        ++counts.acquired;
        if (handed_off)
            ++counts.handed_off;
        LEASEHOLD_PROBE4(granted, spec->name.c_str(), fence,
                         std::chrono::nanoseconds(waited).count(), handed_off);
        to(error_code(), make_lease(std::move(given)));
    }
    catch (...) {
        to.end(errc::shut_down); // it is in no list any more: nothing else completes it
        throw;
    }
    client.notify([&](observer& o) { o.acquired(spec->name, fence, waited, handed_off); });
}

void ownership::end_released(turn_context& client)
{
    const lease_state_ptr ending = end_service();
    --client.counts.held;
    ending->end_released();
    ++client.counts.released;
    const auto time = client.turn_time() - ending->since;
    LEASEHOLD_PROBE3(released, spec->name.c_str(), ending->fence,
                     std::chrono::nanoseconds(time).count());
    if (time < lease_state::no_use && !ending->used())
        client.report_problem([&](observer& o) { o.unused(spec->name, ending->fence, time); });
    client.notify([&](observer& o) { o.released(spec->name, ending->fence, time); });
}

void ownership::end_lost(turn_context& client, errc reason)
{
    const lease_state_ptr ending = end_service();
    if (!ending)
        return;
    --client.counts.held;
    // A shutdown has no cause in the store, and does not count as a loss.
    const bool shut_down = reason == errc::shut_down;
    const bool explained = !shut_down && (client.informed() || ending->explained());
    const details_ptr details = explained ? loss_details(client, reason) : nullptr;
    ending->end_lost(reason, details);
    if (!shut_down)
        ++client.counts.lost;
    const auto time = client.turn_time() - ending->since;
    LEASEHOLD_PROBE4(lost, spec->name.c_str(), ending->fence,
                     std::chrono::nanoseconds(time).count(), static_cast<int>(reason));
    client.report_problem(
        [&](observer& o) { o.lost(spec->name, ending->fence, time, reason, shown(details)); });
}

details_ptr ownership::loss_details(turn_context& client, error_code reason) const noexcept
{
    failure known{.name = spec->name, .error = reason};
    if (const renewal_failures* const failed = failures()) {
        known.cause = failed->last;
        known.reported = failed->details.get();
        known.waited = client.turn_time() - failed->since;
        known.attempts = failed->count;
    }
    else if (reason == errc::silent) {
        known.cause = errc::outcome_unknown; // no heartbeat was answered
        known.waited = spec->options.dead_holder_grace;
    }
    return make_details(client, known);
}

} // namespace leasehold::detail
