#ifndef LEASEHOLD_SRC_CORE_LEASE_OWNERSHIP_HPP
#define LEASEHOLD_SRC_CORE_LEASE_OWNERSHIP_HPP

#include "core/async/operation.hpp"
#include "core/lease/inplace_signal.hpp"
#include "core/lease/lock_spec.hpp"
#include "core/turn/owner_id.hpp"
#include "core/turn/timer_queue.hpp"
#include "fsm/lease/keep_alive.hpp"

#include <leasehold/detail/fwd.hpp>
#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>
#include <leasehold/store.hpp>

#include <boost/assert.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace leasehold::detail {

class turn_context;

/// The maximum number of handoffs, and the maximum time, before the lock is released in the store.
struct handoff_limits
{
    handoff_limits() = default;
    explicit handoff_limits(const lock_options& options) noexcept
        : count(options.handoff_count),
          milliseconds(static_cast<std::uint32_t>(options.handoff_time.count()))
    {}

    [[nodiscard]] handoff_limits within(const handoff_limits& other) const noexcept
    {
        handoff_limits both;
        both.count = std::min(count, other.count);
        both.milliseconds = std::min(milliseconds, other.milliseconds);
        return both;
    }

    [[nodiscard]] clock::duration time() const noexcept
    {
        return std::chrono::milliseconds(milliseconds);
    }

    std::uint32_t count = 0;
    std::uint32_t milliseconds = 0; // small, as there is one for each lease; at most a minute
};

/// Whether a lock held under one spec may be handed to a waiter with the other. Usually they are
/// the same.
[[nodiscard]] inline bool serves(const spec_ptr& held, const spec_ptr& wanted) noexcept
{
    return held == wanted || held->serves(*wanted);
}

/// The renewals that failed since the last confirmed one.
struct renewal_failures
{
    error_code last;     ///< The error of the latest.
    details_ptr details; ///< The store's details of it; may be null.
    clock::time_point since;
    std::uint32_t count = 0;
};

/// A hold of this client in the store: one owner of one name, or one reentrant acquisition of an
/// owner. Serves one lease after another. Belongs to the strand, except for the atomics.
class ownership final : public timer,
                        public boost::intrusive::list_base_hook<
                            boost::intrusive::link_mode<boost::intrusive::auto_unlink>>,
                        public boost::intrusive_ref_counter<ownership>
{
    using listed = boost::intrusive::list_base_hook<
        boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

public:
    /// The object that keeps it alive.
    class keeper
    {
    public:
        virtual void on_due(ownership& held) = 0;     ///< Its next action is due.
        virtual void on_stopped(ownership& held) = 0; ///< Its signal was emitted.

    protected:
        ~keeper() = default;
    };

    /// The owner of a hold: the queue of its name, or the reentrant locks of the client.
    class listener
    {
    public:
        /// Ends its lease for the holder, then passes the lock to the next waiter or releases it.
        /// @param op Completes with the result of the release; may be null.
        virtual void release(ownership& held, const outcome_op_ptr& op) = 0;

        /// Ends its lease for the holder. The lock stays in the store until its TTL ends.
        virtual void detach(ownership& held) = 0;

        /// The completion handler of its keep-alive. `why`: `operation_aborted` if its slot was
        /// emitted on, otherwise the `errc` for which the lease was lost.
        virtual void on_kept_alive(ownership& held, error_code why) = 0;

    protected:
        ~listener() = default;
    };

    /// @param entered The id of a reentrant acquisition. Empty: an acquisition of the lock.
    /// @param given   As in `acquire_reply::lease`.
    ownership(spec_ptr lock, const owner_id& id, const std::string& reentered,
              clock::time_point sent, fsm::given_lease given = {})
        : spec(std::move(lock)),
          owner(id),
          life(sent, spec->options.lease_time, spec->interval,
               fsm::end_of_hold(sent, spec->options.longest_hold), given),
          since(sent),
          owner_taken_(!reentered.empty()),
          rarities_(reentered.empty() ? nullptr
                                      : std::make_unique<rarities>(rarities{reentered, {}}))
    {
        publish();
    }

    /// The store has registered its `dead_holder_grace`, by the acquire sent at `sent`.
    void promise(clock::time_point sent) noexcept
    {
        grace_registered_ = true;
        life.promise(sent, spec->options.dead_holder_grace);
        publish();
    }
    [[nodiscard]] bool grace_registered() const noexcept { return grace_registered_; }

    /// Whether at least half of the lease time and half of the grace remain.
    [[nodiscard]] bool has_half_its_time(clock::time_point now) const noexcept
    {
        const lock_options& o = spec->options;
        return life.renewed_until() - now >= life.given() / 2 &&
               (!grace_registered_ ||
                life.deadline() - now >= clock::duration(o.dead_holder_grace) / 2);
    }

    /// From now on `by` is called when the next action is due, and when `slot` is emitted on.
    void keep(keeper& by, inplace_signal::slot_type slot) noexcept
    {
        BOOST_ASSERT(keeper_ == nullptr && !life.ended());
        keeper_ = &by;
        slot.assign([this](asio::cancellation_type) { keeper_->on_stopped(*this); });
    }
    [[nodiscard]] bool kept() const noexcept { return listed::is_linked(); }

    /// Removes it from its keeper's list.
    void leave() noexcept
    {
        if (listed::is_linked())
            listed::unlink();
    }

    /// Makes the deadline visible to all threads.
    void publish() noexcept
    {
        deadline_.store(life.deadline().time_since_epoch().count(), std::memory_order_release);
    }

    [[nodiscard]] clock::time_point valid_until() const noexcept
    {
        return clock::time_point(clock::duration(deadline_.load(std::memory_order_acquire)));
    }

    /// The id of this reentrant acquisition; empty: an acquisition of the lock.
    [[nodiscard]] std::string_view entry() const noexcept
    {
        return rarities_ ? std::string_view(rarities_->entry) : std::string_view();
    }

    /// Records a failed renewal, unless memory is exhausted.
    void renewal_failed(error_code why, details_ptr details, clock::time_point now) noexcept;
    void renewal_confirmed() noexcept
    {
        if (rarities_)
            rarities_->failures = {};
    }
    /// Null if the last renewal was confirmed.
    [[nodiscard]] const renewal_failures* failures() const noexcept
    {
        return rarities_ && rarities_->failures.count > 0 ? &rarities_->failures : nullptr;
    }

    /// Whether other leases may hold the lock under this owner.
    [[nodiscard]] bool shared() const noexcept
    {
        return owner_taken_.load(std::memory_order_relaxed);
    }

    /// Called when the program reads the owner, and may pass it on. From any thread.
    void share() noexcept { owner_taken_.store(true, std::memory_order_relaxed); }

    /// The lease that it serves; null between two.
    [[nodiscard]] lease_state* current() const noexcept { return current_; }
    void serve(lease_state& lease) noexcept
    {
        BOOST_ASSERT(current_ == nullptr && !life.ended());
        current_ = &lease;
    }
    [[nodiscard]] lease_state_ptr end_service() noexcept
    {
        return lease_state_ptr(std::exchange(current_, nullptr));
    }

    /// Begins to serve a lease, and completes an operation with it.
    /// @param begun When the operation was begun.
    void grant(turn_context& client, completion<error_code, lease>& to, std::uint64_t fence,
               clock::time_point begun, bool handed_off);

    /// Ends its current lease.
    void end_released(turn_context& client);
    /// Ends its current lease, if there is one.
    void end_lost(turn_context& client, errc reason);

    /// The errors of the last renewals, as the details of a loss. Null if memory is exhausted.
    [[nodiscard]] details_ptr loss_details(turn_context& client, error_code reason) const noexcept;

    /// Whether the store may keep the lock after the end of the lease: other leases of the owner
    /// renew it, a renewal without a reply extended it, or the lease ended early because no
    /// heartbeat was confirmed.
    [[nodiscard]] bool may_outlast() const noexcept
    {
        return shared() || life.doubtful() || life.silent();
    }

    /// Set once, before its keep-alive begins.
    void belong_to(listener& one) noexcept
    {
        BOOST_ASSERT(listener_ == nullptr);
        listener_ = &one;
    }
    /// Valid until its lease has ended.
    [[nodiscard]] listener& belongs_to() const noexcept { return *listener_; }

    /// Sets the options of the first served waiter. It may not be the waiter whose request acquired
    /// the lock, and their handoff limits may differ.
    void serve_first(const spec_ptr& wanted) noexcept
    {
        BOOST_ASSERT(current_ == nullptr && handoffs == 0 && serves(spec, wanted));
        spec = wanted;
        handoff = handoff_limits(wanted->options);
    }

    spec_ptr spec;
    const owner_id owner;
    fsm::keep_alive life;

    /// Ends its keep-alive (`watchdog::async_keep_alive`). Emitted on the strand.
    inplace_signal stop;

    // The fences reserved for handoffs, and the count and limits of these.
    std::uint64_t first_fence = 0;
    std::uint32_t fences = 0;
    std::uint32_t handoffs = 0;
    handoff_limits handoff; ///< Of the current lease; `spec` has those of the first one.
    const clock::time_point since;

private:
    /// Members that few objects need, kept apart because there is one object for each lease.
    struct rarities
    {
        std::string entry;
        renewal_failures failures;
    };

    void expired() override { keeper_->on_due(*this); }

    bool grace_registered_ = false; ///< The store has registered its `dead_holder_grace`.
    std::atomic<bool> owner_taken_; ///< The program has read the owner, or has passed it in.
    std::atomic<clock::rep> deadline_{};
    keeper* keeper_ = nullptr;
    listener* listener_ = nullptr;
    lease_state* current_ = nullptr; ///< Has a reference to this; reset before it is destroyed.
    std::unique_ptr<rarities> rarities_;
};

inline void ownership::renewal_failed(error_code why, details_ptr details,
                                      clock::time_point now) noexcept
{
    try {
        if (!rarities_)
            rarities_ = std::make_unique<rarities>();
    }
    catch (const std::bad_alloc&) {
        return;
    }
    renewal_failures& all = rarities_->failures;
    if (all.count++ == 0)
        all.since = now;
    all.last = why;
    all.details = std::move(details);
}

using ownership_ptr = boost::intrusive_ptr<ownership>;

} // namespace leasehold::detail

#endif
