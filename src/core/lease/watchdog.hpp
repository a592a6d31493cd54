#ifndef LEASEHOLD_SRC_CORE_LEASE_WATCHDOG_HPP
#define LEASEHOLD_SRC_CORE_LEASE_WATCHDOG_HPP

#include "core/lease/lost_owners.hpp"
#include "core/lease/ownership.hpp"
#include "core/turn/turn_context.hpp"

#include <string_view>
#include <vector>

namespace leasehold::detail {

/// Keeps leases alive. The keep-alive of each is an asynchronous operation with a cancellation
/// slot. They share the client's timer. Renewals that are due in one turn go to the store in one
/// batch. For leases with `dead_holder_grace` the watchdog sends one heartbeat of the client.
class watchdog final : private ownership::keeper, private turn_end_work
{
public:
    watchdog(turn_context& r, lost_owners& lost) noexcept : context_(r), lost_owners_(lost)
    {
        r.set_turn_end(turn_context::turn_end::renewals, *this);
    }

    /// Renews the lease until `stop` is emitted on, or the lease is lost. After that it sends no
    /// renewal, not even one that this turn has gathered, and ignores the reply to one in flight.
    /// Every type of cancellation ends it. Completes on the strand with `home::on_kept_alive`:
    /// inside the emission, or in the turn that finds the loss. Allocates nothing.
    void async_keep_alive(ownership& held, inplace_signal::slot_type stop) noexcept;

    /// Ends its lease if it has expired unnoticed.
    void check(ownership& held);

    /// Ends a lease, unless it has ended, and leaves its lock in the store.
    void detach(lease_state& lease);
    /// Does so for all leases that their holders have detached.
    void detach_marked();

    /// The store has removed this owner: its leases are lost.
    void gone(std::string_view name, std::string_view owner);

    /// Called when the partition can be reached again. Renews all leases there at once, to find
    /// those that the store has lost.
    void connected(store_partition partition);

    /// The oldest ownership; null if there is none.
    [[nodiscard]] ownership* first() noexcept { return holds_.empty() ? nullptr : &holds_.front(); }

    /// Completes waits for an end whose cancellation is only marked.
    void complete_cancelled();

    /// Ends all leases without a release in the store. Completes their waits with this error;
    /// without an error it destroys their handlers.
    void drop(error_code error) noexcept;

private:
    class batch;

    /// Expires when the next heartbeat is due.
    class alive_timer final : public timer
    {
    public:
        explicit alive_timer(watchdog& whose) noexcept : keeper_(whose) {}

    private:
        void expired() override { keeper_.show_alive(); }
        watchdog& keeper_;
    };

    /// Sends the renewals that the turn has gathered.
    void at_turn_end() override;

    void on_due(ownership& held) override;
    void on_stopped(ownership& held) override;
    void complete(ownership& held, error_code why);
    void end(ownership& held, errc reason);
    static void leave(ownership& held) noexcept;
    void detach(ownership& held);
    void schedule(ownership& held) { context_.timers.schedule(held, held.life.next()); }
    void confirmed(ownership& held, clock::time_point sent, clock::time_point now,
                   fsm::given_lease given);
    void show_alive();
    void heartbeat_confirmed(clock::time_point sent, bool known);
    void heartbeat_failed(error_code why);
    void failed(ownership& held, error_code why, details_ptr details, clock::time_point now);

    turn_context& context_;
    lost_owners& lost_owners_;
    boost::intrusive::list<ownership, boost::intrusive::constant_time_size<false>> holds_;
    std::vector<ownership_ptr> gathered_;
    alive_timer alive_{*this};
};

} // namespace leasehold::detail

#endif
