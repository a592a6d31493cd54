#ifndef LEASEHOLD_SRC_CORE_ACQUIRE_ACQUIRE_ATTEMPT_HPP
#define LEASEHOLD_SRC_CORE_ACQUIRE_ACQUIRE_ATTEMPT_HPP

#include "core/acquire/acquire_window.hpp"
#include "core/lease/lock_spec.hpp"
#include "core/lease/ownership.hpp"
#include "core/release/pending_release.hpp"
#include "core/turn/owner_id.hpp"
#include "core/turn/timer_queue.hpp"
#include "core/turn/turn_context.hpp"

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace leasehold::detail {

/// The effect that a request without a grant may have had.
enum class request_effect : std::uint8_t
{
    none,
    may_run, ///< It may have been executed, or may still be.
    has_run,
};

/// One outstanding acquire request. Reports its result once. If the result is unknown, the lock
/// that it may take is released.
class acquire_attempt final : public timer, public boost::intrusive_ref_counter<acquire_attempt>
{
public:
    class listener
    {
    public:
        /// Reports an error or the store's reply. With an error nothing is held, or the attempt
        /// releases it. In a store with queues the owner outlives the attempt, so the listener
        /// releases it.
        virtual void on_answer(acquire_attempt& attempt, error_code failed,
                               const acquire_reply& reply) = 0;

        /// There is no reply yet, and the wait becomes long. Only if there is an observer.
        virtual void on_slow() {}

    protected:
        ~listener() = default;
    };

    /// The parts of a request that do not depend on the options of the lock.
    struct terms
    {
        bool needs_holder = false; ///< `held` needs details that name the holder.
        bool patient = false;      ///< A waiter waits longer than one try: `held` does not end it.
        bool queues = false;       ///< The store keeps a queue: the owner outlives this request.
        bool again = false;        ///< As in `acquire_request`.
    };

    /// @param entered The id of a reentrant acquisition. Empty: an acquisition of the lock.
    acquire_attempt(turn_context& r, pending_releases& releases, acquire_window& window,
                    listener& to, spec_ptr lock, const owner_id& id, std::string reentered)
        : spec(std::move(lock)),
          owner(id),
          entry(std::move(reentered)),
          context_(r),
          releases_(releases),
          window_(window),
          listener_(&to)
    {}

    /// For this time after a poll, the store counts a waiter in its queue as present.
    static constexpr std::chrono::milliseconds presence = std::chrono::seconds(10);

    /// Sends the request. The window has room for it.
    void send(const terms& how);

    /// The request of an owner. Valid while the arguments exist.
    /// @param entered As above.
    [[nodiscard]] static acquire_request request(const lock_spec& lock, const owner_id& id,
                                                 std::string_view reentered, const terms& how);

    /// The time within which the store may grant a request. At most the lease time, because a later
    /// grant has already expired.
    [[nodiscard]] static std::chrono::milliseconds budget(const lock_options& options) noexcept;

    /// The time until which a request sent at `sent` may be executed.
    [[nodiscard]] static clock::time_point runs_until(const turn_context& r,
                                                      const lock_options& options,
                                                      clock::time_point sent) noexcept;
    [[nodiscard]] clock::time_point runs_until() const noexcept
    {
        return runs_until(context_, spec->options, sent_);
    }

    [[nodiscard]] clock::time_point sent_at() const noexcept { return sent_; }

    /// The ownership that a grant creates, in time or not.
    [[nodiscard]] static ownership_ptr hold(turn_context& r, const spec_ptr& lock,
                                            const owner_id& id, const std::string& reentered,
                                            clock::time_point sent, const acquire_reply& reply);
    [[nodiscard]] ownership_ptr hold(const acquire_reply& reply) const
    {
        return hold(context_, spec, owner, entry, sent_, reply);
    }

    /// Whether its lease has not expired yet.
    [[nodiscard]] static bool in_time(turn_context& r, const ownership& taken) noexcept;

    /// The granted ownership. Null if its lease has expired already: it is then released.
    [[nodiscard]] ownership_ptr take(const acquire_reply& reply);

    /// Releases the lock that it has taken. Called by the listener, if it does not accept a grant.
    void release_granted() { orphan(runs_until()); }

    /// The result is not needed any more. The listener is not called, and the lock that the request
    /// may take is released.
    void abandon();

    /// The result is not needed any more, and the attempt starts no release of its own. The
    /// listener is not called.
    /// @param leaving The release of the owner, which a late reply settles; null: none.
    void forget(pending_release_ptr leaving = nullptr) noexcept;

    const spec_ptr spec;
    const owner_id owner;
    const std::string entry;

private:
    /// Releases the lock that the request may take until then. Does nothing in a store
    /// with queues, and returns null.
    pending_release_ptr orphan(clock::time_point until);
    void answered(error_code failed, const acquire_reply& reply);
    [[nodiscard]] bool describe_holder(const acquire_reply& reply) noexcept;
    void notify_held();
    void expired() override;

    turn_context& context_;
    pending_releases& releases_;
    acquire_window& window_;
    listener* listener_;         ///< Null after its call, or if it must not be called.
    pending_release_ptr orphan_; ///< The release of its owner, if no caller waits any more.
    clock::time_point sent_{};   ///< Before the request; the lease time begins here.
    /// A reply `held` that is reported later, with the record of the holder. Usually null.
    std::unique_ptr<acquire_reply> held_;
    terms terms_;
};

using acquire_attempt_ptr = boost::intrusive_ptr<acquire_attempt>;

} // namespace leasehold::detail

#endif
