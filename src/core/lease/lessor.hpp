#ifndef LEASEHOLD_SRC_CORE_LEASE_LESSOR_HPP
#define LEASEHOLD_SRC_CORE_LEASE_LESSOR_HPP

#include "core/async/completion.hpp"
#include "core/lease/lease_state.hpp"
#include "core/lease/watchdog.hpp"
#include "core/release/pending_releases.hpp"
#include "core/turn/turn_context.hpp"

#include <leasehold/lease.hpp>

#include <boost/unordered/unordered_flat_map.hpp>

#include <string>
#include <vector>

namespace leasehold::detail {

class acquire_attempt;
class wait_queue;

/// Gives leases out, and sees to it that each ends once: released, or lost. Belongs to the strand.
class lessor final : private watchdog::listener
{
public:
    lessor(turn_context& r, pending_releases& giving_back) noexcept
        : base(r), back(giving_back), keeper(r, *this)
    {}

    turn_context& base;
    pending_releases& back;
    watchdog keeper;

    /// What an attempt was granted, or nothing when its lease time is over already; then it is
    /// being given back.
    ownership_ptr take(acquire_attempt& from, const acquire_reply& reply);

    /// Makes a lease of a hold and completes an operation with it.
    /// @param since When the operation was begun.
    void give(completion<error_code, lease>& to, ownership& from, std::uint64_t fence,
              clock::time_point since, bool handed_over);

    /// Ends a lease because its holder says so.
    /// @param waiting Is told how it went; may be null.
    void release(lease_state& state, const outcome_op_ptr& waiting);

    void wait_lost(lease_state& state, boost::intrusive_ptr<wait_op> op);
    void stop_waiting(lease_state& state, wait_op& op);

    /// Completes what was cancelled unheard.
    void complete_cancelled();

    /// Ends all leases with `errc::shut_down` and gives back what they held.
    void shut_down();

    /// Whether a lease of this owner was lost here: nobody enters under it any more.
    [[nodiscard]] bool is_lost(const std::string& owner);

    /// To be looked at when the turn ends: it may be unused.
    void check(wait_queue& queue);
    [[nodiscard]] std::vector<wait_queue*>& to_check() noexcept { return to_check_; }

    /// Ends all leases: with an error, or without a word when there is none. Nothing is given back.
    void drop(error_code told) noexcept;

private:
    void on_lost(ownership& held, errc reason) override;
    void on_abandoned(ownership& held) override;

    void finish(lease_state& state, int how);
    void release_lost(lease_state& state, const outcome_op_ptr& waiting, error_code reason);
    void remember_lost(const ownership& held);

    std::vector<wait_queue*> to_check_;
    boost::unordered_flat_map<std::string, clock::time_point>
        lost_owners_; ///< Until when they are remembered.
    std::size_t tidy_at_ = 64;
};

} // namespace leasehold::detail

#endif
