#ifndef LEASEHOLD_SRC_CORE_ACQUIRE_ACQUIRE_ATTEMPT_HPP
#define LEASEHOLD_SRC_CORE_ACQUIRE_ACQUIRE_ATTEMPT_HPP

#include "core/lock_spec.hpp"
#include "core/release/pending_releases.hpp"
#include "core/turn/timer_queue.hpp"
#include "core/turn/turn_context.hpp"

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <string>

namespace leasehold::detail {

/// One acquire request under way. Tells once what came of it; when that cannot be known, what it
/// may have taken is given back.
class acquire_attempt final : public timer, public boost::intrusive_ref_counter<acquire_attempt>
{
public:
    class listener
    {
    public:
        /// Either an error, or what the store said. With any error nothing is held, or it is being
        /// given back.
        virtual void on_answer(acquire_attempt& attempt, error_code failed,
                               const acquire_reply& reply) = 0;

    protected:
        ~listener() = default;
    };

    /// @param entered Empty: takes the lock.
    acquire_attempt(turn_context& r, pending_releases& orphans, listener& told, spec_ptr lock,
                    std::string owner_id, std::string entered)
        : spec(std::move(lock)),
          owner(std::move(owner_id)),
          entry(std::move(entered)),
          context_(r),
          orphans_(orphans),
          listener_(&told)
    {}

    void send(std::uint32_t fences);

    /// Nobody wants it any more; the listener is not told.
    void abandon();

    /// As `abandon`, and nothing is given back.
    void forget() noexcept;

    const spec_ptr spec;
    const std::string owner;
    const std::string entry;

    /// Taken before the request was sent: what the lease time counts from.
    [[nodiscard]] clock::time_point sent() const noexcept { return sent_; }

    /// The store grants no later than this.
    [[nodiscard]] clock::time_point runs_until() const noexcept { return sent_ + budget_; }

private:
    void answered(error_code failed, const acquire_reply& reply);
    void expired() override;

    turn_context& context_;
    pending_releases& orphans_;
    listener* listener_; ///< None when it has told, or is not to tell.
    pending_releases::pending_release_ptr
        orphan_; ///< What is given back, when it could not be waited for.
    clock::time_point sent_{};
    clock::duration budget_{};
};

using acquire_attempt_ptr = boost::intrusive_ptr<acquire_attempt>;

} // namespace leasehold::detail

#endif
