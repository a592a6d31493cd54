#ifndef LEASEHOLD_SRC_CORE_RELEASE_LEASE_ENDER_HPP
#define LEASEHOLD_SRC_CORE_RELEASE_LEASE_ENDER_HPP

#include "core/async/operation.hpp"
#include "core/lease/lost_owners.hpp"
#include "core/lease/ownership.hpp"
#include "core/lease/watchdog.hpp"
#include "core/release/pending_release.hpp"
#include "core/turn/turn_context.hpp"

namespace leasehold::detail {

/// Sees to it that each lease ends once, released or lost, and that what it held is handed over or
/// given back. Belongs to the strand.
class lease_ender final : public watchdog::listener
{
public:
    lease_ender(turn_context& r, watchdog& kept_by, pending_releases& releases,
                lost_owners& lost) noexcept
        : context_(r), watchdog_(kept_by), releases_(releases), lost_owners_(lost)
    {}

    /// Ends a lease because its holder says so.
    /// @param waiting Is told how it went; may be null.
    void release(ownership& held, lease_state& lease, const outcome_op_ptr& waiting);

    /// Ends all leases with `errc::shut_down` and gives back what they held.
    void shut_down();

    void on_kept_alive(ownership& held, error_code why) override;
    void on_abandoned(ownership& held) override;

private:
    void on_lost(ownership& held, errc reason);
    /// Whether the store may know what has expired for longer than the lease lasted: others prolong
    /// it, a renewal whose answer is missing did, or it ended sooner, for want of a sign of life.
    [[nodiscard]] static bool may_outlast(const ownership& held) noexcept
    {
        return held.shared() || held.life.doubtful() || held.life.silent();
    }

    void release_lost(ownership& held, const outcome_op_ptr& waiting, error_code reason);
    void tell_lost(const ownership& held, const lease_state& ended, errc reason,
                   const details_ptr& details);
    void remember_lost(const ownership& held);

    turn_context& context_;
    watchdog& watchdog_;
    pending_releases& releases_;
    lost_owners& lost_owners_;
};

} // namespace leasehold::detail

#endif
