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

/// One acquire request under way. Tells once what came of it; when that cannot be known, what it
/// may have taken is given back.
class acquire_attempt final : public timer, public boost::intrusive_ref_counter<acquire_attempt>
{
public:
    class listener
    {
    public:
        /// Either an error, or what the store said. With any error nothing is held, or it is being
        /// given back; but where the owner goes on, that is the listener's.
        virtual void on_answer(acquire_attempt& attempt, error_code failed,
                               const acquire_reply& reply) = 0;

    protected:
        ~listener() = default;
    };

    /// What a request depends on beside the options of the lock.
    struct terms
    {
        bool asks_holder = false; ///< `held` needs details that name the holder.
        bool patient = false;     ///< A waiter waits longer than one try: `held` does not end it.
        bool queues = false;      ///< The store keeps a queue: the owner outlives this request.
        bool again = false;       ///< As in `acquire_request`.
    };

    /// @param entered Empty: takes the lock.
    acquire_attempt(turn_context& r, pending_releases& releases, acquire_window& window,
                    listener& told, spec_ptr lock, const owner_id& who, std::string entered)
        : spec(std::move(lock)),
          owner(who),
          entry(std::move(entered)),
          context_(r),
          releases_(releases),
          window_(window),
          listener_(&told)
    {}

    /// For this time after a poll, the store counts a waiter in its queue as present.
    static constexpr std::chrono::milliseconds presence = std::chrono::seconds(10);

    /// Sends the request. The window has room for it.
    void send(const terms& asked);

    /// The request of an owner. Valid while the arguments exist.
    /// @param entered Empty: it acquires the lock.
    [[nodiscard]] static acquire_request request(const lock_spec& lock, const owner_id& who,
                                                 std::string_view entered, const terms& asked);

    /// How long the store may take to grant a request: what comes when the lease time has passed is
    /// worth nothing.
    [[nodiscard]] static std::chrono::milliseconds budget(const lock_options& options) noexcept;

    /// Until when one may still be executed that was sent at that time.
    [[nodiscard]] static clock::time_point runs_until(const turn_context& r,
                                                      const lock_options& options,
                                                      clock::time_point sent) noexcept;
    [[nodiscard]] clock::time_point runs_until() const noexcept
    {
        return runs_until(context_, spec->options, sent_);
    }

    [[nodiscard]] clock::time_point sent_at() const noexcept { return sent_; }

    /// What is held by a grant, in time or not.
    [[nodiscard]] static ownership_ptr hold(turn_context& r, const spec_ptr& lock,
                                            const owner_id& who, const std::string& entered,
                                            clock::time_point sent, const acquire_reply& reply);
    [[nodiscard]] ownership_ptr hold(const acquire_reply& reply) const
    {
        return hold(context_, spec, owner, entry, sent_, reply);
    }

    /// It is worth something still.
    [[nodiscard]] static bool in_time(turn_context& r, const ownership& taken) noexcept;

    /// What it was granted, or nothing when the lease time is over already; then it is being given
    /// back.
    [[nodiscard]] ownership_ptr take(const acquire_reply& reply);

    /// Gives back what it may have taken; the listener is the one who says so.
    void give_back() { orphan(runs_until()); }

    /// Nobody wants it any more; the listener is not told.
    void abandon();

    /// Nobody wants it any more, and the owner is given back by this, if by anything: the answer,
    /// if it comes, says that nothing can run late.
    void forget(pending_release_ptr leaving = nullptr) noexcept;

    const spec_ptr spec;
    const owner_id owner;
    const std::string entry;

private:
    /// @param until When it may still run.
    pending_release_ptr orphan(clock::time_point until);
    void answered(error_code failed, const acquire_reply& reply);
    [[nodiscard]] bool describe_holder(const acquire_reply& reply) noexcept;
    void tell_held();
    void expired() override;

    turn_context& context_;
    pending_releases& releases_;
    acquire_window& window_;
    listener* listener_;         ///< None when it has told, or is not to tell.
    pending_release_ptr orphan_; ///< What is given back, when it could not be waited for.
    clock::time_point sent_{};   ///< Before the request: what the lease time counts from.
    /// `held`, to be told when it is known what the holder says of itself. Most often null.
    std::unique_ptr<acquire_reply> held_;
    terms terms_;
};

using acquire_attempt_ptr = boost::intrusive_ptr<acquire_attempt>;

} // namespace leasehold::detail

#endif
