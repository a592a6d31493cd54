#include "core/diagnostics/loss_details.hpp"

#include "core/diagnostics/failure_details.hpp"

namespace leasehold::detail {

details_ptr loss_details(turn_context& client, const ownership& held, error_code reason) noexcept
{
    failure known{.name = held.spec->name, .told = reason};
    if (const renewal_failures* const failures = held.failures()) {
        known.cause = failures->last;
        known.said = failures->details.get();
        known.waited = client.turn_time() - failures->since;
        known.attempts = failures->count;
    }
    else if (reason == errc::silent) {
        known.cause = errc::outcome_unknown; // none of its signs of life was answered
        known.waited = held.spec->options.dead_holder_grace;
    }
    return make_details(client, known);
}

} // namespace leasehold::detail
