#ifndef LEASEHOLD_SRC_CORE_DIAGNOSTICS_LOSS_DETAILS_HPP
#define LEASEHOLD_SRC_CORE_DIAGNOSTICS_LOSS_DETAILS_HPP

#include "core/lease/ownership.hpp"
#include "core/turn/turn_context.hpp"

namespace leasehold::detail {

/// What is known of why an ownership was lost: what its last renewals heard, when they failed. Null
/// when there is no memory.
[[nodiscard]] details_ptr loss_details(turn_context& client, const ownership& held,
                                       error_code reason) noexcept;

} // namespace leasehold::detail

#endif
