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

/// How often, and for how long, a lock goes to the next waiter of this client without the store.
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
    std::uint32_t milliseconds = 0; // at most a minute: an ownership is kept for each lease
};

/// Whether what is held under one spec serves a waiter with the other. Mostly they are the same.
[[nodiscard]] inline bool serves(const spec_ptr& held, const spec_ptr& asked) noexcept
{
    return held == asked || held->serves(*asked);
}

/// Renewals that failed, one after the other, since the last that was confirmed.
struct renewal_failures
{
    error_code last;     ///< Of the latest.
    details_ptr details; ///< What the store said of it; may be null.
    clock::time_point since;
    std::uint32_t count = 0;
};

/// What the store holds for this client: one owner of one name, or one further entry of an owner.
/// Serves one lease after another. Belongs to the strand, except for the atomics.
class ownership final : public timer,
                        public boost::intrusive::list_base_hook<
                            boost::intrusive::link_mode<boost::intrusive::auto_unlink>>,
                        public boost::intrusive_ref_counter<ownership>
{
    using listed = boost::intrusive::list_base_hook<
        boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

public:
    /// Who keeps it alive.
    class keeper
    {
    public:
        virtual void on_due(ownership& held) = 0;     ///< Its time has come.
        virtual void on_stopped(ownership& held) = 0; ///< Its signal was emitted.

    protected:
        ~keeper() = default;
    };

    /// The owner of a hold: the queue of its name, or the reentrant locks of the client.
    class home
    {
    public:
        /// Ends its lease for the holder, and hands the lock over or releases it.
        /// @param op Completes with the result of the release; may be null.
        virtual void release(ownership& held, const outcome_op_ptr& op) = 0;

        /// The completion handler of its keep-alive. `why`: `operation_aborted` if its slot was
        /// emitted on, otherwise the `errc` for which the lease was lost.
        virtual void on_kept_alive(ownership& held, error_code why) = 0;

    protected:
        ~home() = default;
    };

    /// @param entered Empty: it took the lock.
    ownership(spec_ptr lock, const owner_id& who, const std::string& entered,
              clock::time_point sent)
        : spec(std::move(lock)),
          owner(who),
          life(sent, spec->options.lease_time, spec->interval,
               fsm::end_of_hold(sent, spec->options.longest_hold)),
          since(sent),
          owner_taken_(!entered.empty()),
          rarities_(entered.empty() ? nullptr : std::make_unique<rarities>(rarities{entered, {}}))
    {
        publish();
    }

    /// The store knows of the promise that goes with it, by the acquire that was sent then.
    void promise(clock::time_point sent) noexcept
    {
        promised_ = true;
        life.promise(sent, spec->options.dead_holder_grace);
        publish();
    }
    [[nodiscard]] bool promised() const noexcept { return promised_; }

    /// Neither its renewal nor its sign of life is more than half over.
    [[nodiscard]] bool has_half_its_time(clock::time_point now) const noexcept
    {
        const lock_options& o = spec->options;
        return life.renewed_until() - now >= clock::duration(o.lease_time) / 2 &&
               (!promised_ || life.deadline() - now >= clock::duration(o.dead_holder_grace) / 2);
    }

    /// From now on `by` is called when its time has come, and when `slot` is emitted on.
    void keep(keeper& by, inplace_signal::slot_type slot) noexcept
    {
        BOOST_ASSERT(keeper_ == nullptr && !life.ended());
        keeper_ = &by;
        slot.assign([this](asio::cancellation_type) { keeper_->on_stopped(*this); });
    }
    [[nodiscard]] bool kept() const noexcept { return listed::is_linked(); }

    /// Leaves its keeper's list.
    void leave() noexcept
    {
        if (listed::is_linked())
            listed::unlink();
    }

    /// Makes the deadline known to all threads.
    void publish() noexcept
    {
        deadline_.store(life.deadline().time_since_epoch().count(), std::memory_order_release);
    }

    [[nodiscard]] clock::time_point valid_until() const noexcept
    {
        return clock::time_point(clock::duration(deadline_.load(std::memory_order_acquire)));
    }

    /// The name of this entry; empty: it took the lock.
    [[nodiscard]] std::string_view entry() const noexcept
    {
        return rarities_ ? std::string_view(rarities_->entry) : std::string_view();
    }

    /// A renewal has failed. Without memory that is not remembered.
    void renewal_failed(error_code why, details_ptr details, clock::time_point now) noexcept;
    void renewal_confirmed() noexcept
    {
        if (rarities_)
            rarities_->failures = {};
    }
    /// Null when the last renewal was confirmed.
    [[nodiscard]] const renewal_failures* failures() const noexcept
    {
        return rarities_ && rarities_->failures.count > 0 ? &rarities_->failures : nullptr;
    }

    /// Somebody else may hold the lock under this owner.
    [[nodiscard]] bool shared() const noexcept
    {
        return owner_taken_.load(std::memory_order_relaxed);
    }

    /// Somebody was told the owner. From any thread.
    void share() noexcept { owner_taken_.store(true, std::memory_order_relaxed); }

    /// The lease that it serves; null between two.
    [[nodiscard]] lease_state* current() const noexcept { return current_; }
    void serve(lease_state& lease) noexcept
    {
        BOOST_ASSERT(current_ == nullptr && !life.ended());
        current_ = &lease;
    }
    [[nodiscard]] lease_state_ptr serve_nobody() noexcept
    {
        return lease_state_ptr(std::exchange(current_, nullptr));
    }

    /// Ends the lease that it serves.
    void end_released(turn_context& client);
    /// Ends the lease that it serves, if there is one.
    void end_lost(turn_context& client, errc reason);

    /// The errors of the last renewals, as the details of a loss. Null without memory.
    [[nodiscard]] details_ptr loss_details(turn_context& client, error_code reason) const noexcept;

    /// The store may have the lock for longer than the lease lasted: others renew it, a renewal
    /// without a reply did, or the lease ended early because no heartbeat was confirmed.
    [[nodiscard]] bool may_outlast() const noexcept
    {
        return shared() || life.doubtful() || life.silent();
    }

    /// Set once, before its keep-alive begins.
    void belong_to(home& one) noexcept
    {
        BOOST_ASSERT(home_ == nullptr);
        home_ = &one;
    }
    /// Valid until its lease has ended.
    [[nodiscard]] home& belongs_to() const noexcept { return *home_; }

    /// Serves the waiter with these options first, and not the one of the request: their limits for
    /// the handoff may differ.
    void serve_first(const spec_ptr& asked) noexcept
    {
        BOOST_ASSERT(current_ == nullptr && handoffs == 0 && serves(spec, asked));
        spec = asked;
        handoff = handoff_limits(asked->options);
    }

    spec_ptr spec;
    const owner_id owner;
    fsm::keep_alive life;

    /// Ends its keep-alive (`watchdog::async_keep_alive`). Emitted on the strand.
    inplace_signal stop;

    // The fences reserved for handing over, and how long that has gone on.
    std::uint64_t first_fence = 0;
    std::uint32_t fences = 0;
    std::uint32_t handoffs = 0;
    handoff_limits handoff; ///< Of the lease that it serves; those of the whole are in `spec`.
    const clock::time_point since;

private:
    /// What few have: there is an ownership for each lease.
    struct rarities
    {
        std::string entry;
        renewal_failures failures;
    };

    void expired() override { keeper_->on_due(*this); }

    bool promised_ = false;         ///< To be alive.
    std::atomic<bool> owner_taken_; ///< It was told to somebody, or by somebody.
    std::atomic<clock::rep> deadline_{};
    keeper* keeper_ = nullptr;
    home* home_ = nullptr;
    lease_state* current_ = nullptr; ///< Its lease keeps it, and ends here before it goes.
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
