#ifndef LEASEHOLD_SRC_CORE_RELEASE_PENDING_RELEASE_HPP
#define LEASEHOLD_SRC_CORE_RELEASE_PENDING_RELEASE_HPP

#include "core/async/operation.hpp"
#include "core/lease/lock_spec.hpp"
#include "core/lease/ownership.hpp"
#include "core/turn/owner_id.hpp"
#include "core/turn/turn_context.hpp"
#include "fsm/lease/release_retry.hpp"

#include <boost/intrusive/list.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace leasehold::detail {

/// The release of one owner, or of one reentrant acquisition. Stays in its list, which keeps it
/// alive, until the store confirms it or it is abandoned.
class pending_release final : public timer,
                              public boost::intrusive::list_base_hook<
                                  boost::intrusive::link_mode<boost::intrusive::auto_unlink>>,
                              public boost::intrusive_ref_counter<pending_release>
{
    using listed = boost::intrusive::list_base_hook<
        boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

public:
    using list =
        boost::intrusive::list<pending_release, boost::intrusive::constant_time_size<false>>;

    /// The queue of the name.
    class listener
    {
    public:
        /// The acquire of the next owner, which joins the queue of the store in the same step.
        /// Null: none.
        [[nodiscard]] virtual const acquire_request* next() = 0;

        /// The lock is released. In a store with queues: for certain, and not before; null if the
        /// store never confirmed it and its TTL has passed. Otherwise the store's first reply; null
        /// if it cannot be reached, or has not executed the release.
        /// @param sent Time of the first request.
        /// @param open Requested time for which the lock is left free for external clients.
        virtual void on_left(const release_reply* reply, clock::time_point sent,
                             std::chrono::milliseconds open) = 0;

    protected:
        ~listener() = default;
    };

    /// The released hold.
    struct subject
    {
        spec_ptr spec;
        owner_id owner;
        std::string entry;                         ///< Empty: not a reentrant acquisition.
        std::chrono::milliseconds external_time{}; ///< As in the request.
    };

    /// The receivers of the result.
    struct interest
    {
        outcome_op_ptr waiting{};   ///< Completes with the result; may be null.
        error_code reason{};        ///< The result of the wait if the release succeeds.
        details_ptr details{};      ///< Of that reason.
        listener* notify = nullptr; ///< Notified once; may be null.
    };

    /// @param orphan The lock may never have been acquired.
    pending_release(turn_context& r, subject what, interest caller, fsm::release steps, bool orphan)
        : context_(r),
          subject_(std::move(what)),
          interest_(std::move(caller)),
          steps_(steps),
          orphan_(orphan)
    {}

    /// Adds it to `all` and begins.
    /// @param answered Set to the time of each answer.
    void start(list& all, clock::time_point& answered);

    [[nodiscard]] const std::string& name() const noexcept { return subject_.spec->name; }
    [[nodiscard]] std::string_view owner() const noexcept { return subject_.owner; }

    void connected() { act(steps_.connected(context_.now())); }

    /// Called when the late answer to the acquire of an orphan arrives. `taken`: it acquired the
    /// lock; otherwise it did not and never will.
    void settle(bool taken);

    /// Called when each request over earlier connections has been executed or never will be.
    void nothing_runs_late() noexcept { steps_.nothing_runs_late(context_.now()); }

    /// Whether the store answers, and only a possible late acquire is awaited.
    [[nodiscard]] bool waits_for_late_acquire() const noexcept
    {
        return steps_.waits_for_late_acquire() && context_.online(name());
    }

    /// Whether its next answer ends this owner, also if the owner was granted the lock since.
    [[nodiscard]] bool ends(std::string_view owner) const noexcept
    {
        return subject_.entry.empty() && subject_.owner == owner && !waits_for_late_acquire();
    }

    /// Completes the wait, if its cancellation is only marked.
    void complete_cancelled();

    void give_up(error_code why);
    void drop(error_code error) noexcept;

private:
    void act(fsm::release::action next);
    void send();
    void answered(unsigned request, error_code failed, const release_reply& reply);
    void expired() override;
    [[nodiscard]] error_code outcome() const;
    void notify_listener(const release_reply* reply = nullptr);
    void report();
    void complete(error_code why);
    [[nodiscard]] details_ptr explain(error_code error) const noexcept;

    turn_context& context_;
    const subject subject_;
    interest interest_;
    fsm::release steps_;
    clock::time_point give_up_at_ = clock::time_point::max(); ///< Limit of the current request.
    clock::time_point* last_answer_ = nullptr;
    unsigned request_ = 0;
    clock::time_point since_{};
    clock::time_point first_sent_{};
    error_code last_error_; ///< Of the last request, if it failed.
    details_ptr details_;   ///< The store's details of that error.
    const bool orphan_;
};

using pending_release_ptr = boost::intrusive_ptr<pending_release>;

/// The releases that the store has not confirmed: of leases, and of orphans, which may or may not
/// hold their lock. Each is retried until the store answers or its TTL has passed. If another
/// request may have extended that, it is retried until the store answers.
class pending_releases
{
public:
    explicit pending_releases(turn_context& r) noexcept : context_(r) {}

    /// Releases an ownership.
    void leave(const ownership& held, pending_release::interest caller);

    /// Releases the lock of a lost lease, if the store may still have it.
    /// @param notify Notified of the result if a release is sent.
    /// @return Whether `notify` is notified.
    bool leave_lost(const ownership& held, errc reason, pending_release::listener* notify);

    /// Releases the lock that an acquire may have taken, or may still take until `runs_until`.
    /// Null: there is nothing to release.
    pending_release_ptr orphan(pending_release::subject what, clock::time_point runs_until);

    /// Removes an owner from a queue, or releases a lock that was granted to it there. A request of
    /// the owner without a reply may still be executed until `runs_until`; `clock::time_point()`:
    /// there is none. If a queue listens, a second request follows for one that runs late.
    pending_release_ptr leave_queue(pending_release::subject what, clock::time_point runs_until,
                                    pending_release::interest caller);

    /// Every request to the partition over connections that have ended has been executed, or never
    /// will be.
    void settled(store_partition partition);

    /// The partition can be reached again.
    void connected(store_partition partition);

    /// Retries at once each release whose partition can be reached.
    void try_now();

    /// Completes waits whose cancellation is only marked.
    void complete_cancelled();

    [[nodiscard]] bool empty() const noexcept { return list_.empty(); }

    /// The reason why a release is still pending; no error if none is.
    [[nodiscard]] error_code why_not_empty() const noexcept;

    /// Whether a release of this owner is pending.
    [[nodiscard]] bool contains(std::string_view owner) const noexcept;

    /// Whether the owner ends with the next answer to a release, so that it needs no other one.
    [[nodiscard]] bool ends(std::string_view owner) const noexcept;

    /// The time of the store's last answer to a release.
    [[nodiscard]] clock::time_point last_answer() const noexcept { return last_answer_; }

    /// Ends all, and completes the waits with `why`.
    void give_up(error_code why);

    /// Ends all, and completes the waits with this error; without an error it destroys their
    /// handlers.
    void drop(error_code error) noexcept;

private:
    template <class Which>
    void try_those(Which which);
    pending_release_ptr add(pending_release::subject gone, pending_release::interest caller,
                            fsm::release steps, bool orphan);

    turn_context& context_;
    pending_release::list list_;
    clock::time_point last_answer_ = clock::time_point::min();
};

} // namespace leasehold::detail

#endif
