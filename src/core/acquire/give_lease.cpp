#include "core/acquire/give_lease.hpp"

#include "core/lease/lease_state.hpp"
#include "core/turn/probe.hpp"

#include <utility>

namespace leasehold::detail {

void give_lease(turn_context& client, completion<error_code, lease>& to, ownership& from,
                std::uint64_t fence, clock::time_point since, bool handed_over)
{
    const auto now = client.turn_time();
    // Where nobody asks, the time of the call is not always taken.
    const auto waited = since == clock::time_point() ? clock::duration() : now - since;
    auto& counts = client.counts;
    try {
        lease_state_ptr given(new lease_state(ownership_ptr(&from), fence, now));
        from.serve(*given);
        ++counts.held;
        ++counts.acquired;
        if (handed_over)
            ++counts.handed_over;
        LEASEHOLD_PROBE4(granted, from.spec->name.c_str(), fence, probed(waited), handed_over);
        to(error_code(), make_lease(std::move(given)));
    }
    catch (...) {
        to.end(errc::shut_down); // it is in no list any more: nobody else tells it
        throw;
    }
    client.tell([&](observer& o) { o.acquired(from.spec->name, fence, waited, handed_over); });
}

} // namespace leasehold::detail
