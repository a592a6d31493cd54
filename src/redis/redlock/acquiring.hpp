#ifndef LEASEHOLD_SRC_REDIS_REDLOCK_ACQUIRING_HPP
#define LEASEHOLD_SRC_REDIS_REDLOCK_ACQUIRING_HPP

#include "base/mutant.hpp"
#include "fsm/lease/keep_alive.hpp"
#include "redis/redlock/answers_of_members.hpp"
#include "redis/redlock/quorum_state.hpp"

#include <leasehold/store.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace leasehold::quorum {

/// An acquire, or a reentrant one, at the members: either a quorum holds it, or it is released at
/// all members that may have granted it.
class acquiring : public operation
{
protected:
    acquiring(std::shared_ptr<quorum_state> of, const acquire_request& request,
              store::acquire_handler done)
        : of_(std::move(of)),
          name_(request.name),
          owner_(request.owner),
          entry_(request.entry),
          lease_(request.lease),
          budget_(request.budget),
          began_(of_->now()),
          done_(std::move(done))
    {}

    void failed_at(unsigned number, error_code failed)
    {
        if (failed == errc::outcome_unknown)
            of_->may_run(number, owner_, entry_, began_ + budget_);
    }

    /// Releases at all members that have granted it, or still may.
    void release_everywhere()
    {
        const release_request leaving{.name = name_, .owner = owner_, .entry = entry_};
        for (unsigned i = 0; i < of_->size.members; ++i) {
            if (contains(doubtful_, i) && !has(mutant::partial_grant_kept))
                of_->leave_at(i, {leaving, of_->now()});
        }
        doubtful_ = 0;
    }

    void complete(error_code code, acquire_reply reply)
    {
        if (!done_)
            return;
        detail::timer_queue::cancel(*this);
        listed.unlink();
        std::move(std::exchange(done_, nullptr))(code, std::move(reply));
    }

    /// Completes after the grant by a quorum. The replies of the other members are still awaited.
    void grant(acquire_reply reply)
    {
        detail::timer_queue::cancel(*this);
        reply.result = acquire_reply::outcome::granted;
        granted_ = true;
        if (outstanding_ > 0)
            of_->schedule(*this, of_->now() + quorum_state::patience(lease_));
        else
            settle();
        std::move(std::exchange(done_, nullptr))(error_code(), std::move(reply));
    }

    /// Called for the reply of a member. `ours`: it has the lock for this owner. `other`: it does
    /// not. Neither: unknown.
    void count_reply(unsigned number, bool ours, bool other)
    {
        --outstanding_;
        ours_ = ours ? ours_ | bit(number) : other ? ours_ & ~bit(number) : ours_;
        others_ = other ? others_ | bit(number) : others_;
        if (!granted_)
            return;
        if (outstanding_ == 0)
            settle();
        if (const auto lock = ours ? of_->partials().find(owner_, entry_) : nullptr)
            lock->at.confirmed(number, until());
    }

    /// Creates the lock at members that got no request, did not answer, or rejected it.
    void settle()
    {
        if (!granted_ || settled_)
            return;
        settled_ = true;
        detail::timer_queue::cancel(*this);
        listed.unlink();
        if (left_ || count(ours_) == of_->size.members || has(mutant::partial_grant_not_completed))
            return;
        const auto lock = of_->partials().make({name_, owner_, lease_, entry_}, of_->size,
                                               of_->now());
        for (unsigned i = 0; i < of_->size.members; ++i) {
            if (contains(ours_, i))
                lock->at.confirmed(i, until());
        }
        for (unsigned i = 0; i < of_->size.members; ++i) {
            if (!contains(ours_ | others_, i))
                of_->create_at(i, lock, {});
        }
    }

    [[nodiscard]] clock::time_point until() const noexcept
    {
        return began_ + clock::duration(lease_) - fsm::drift_margin(clock::duration(lease_));
    }

    const std::shared_ptr<quorum_state> of_;
    const std::string name_;
    const std::string owner_;
    const std::string entry_; ///< Empty: acquires the lock.
    const std::chrono::milliseconds lease_;
    const std::chrono::milliseconds budget_;
    const clock::time_point began_; ///< Before the first request: the lease starts here.
    store::acquire_handler done_;   ///< Null: it has ended.
    mask doubtful_ = 0;             ///< Members that may have granted it.
    unsigned outstanding_ = 0;      ///< Requests without a reply.
    answers_of_members answers_;

private:
    mask ours_ = 0;   ///< Members that have the lock for this owner.
    mask others_ = 0; ///< Members with another owner.
    bool granted_ = false;
    bool settled_ = false;
    bool left_ = false;

    // A release is sent to all members, so no further request may be sent for this lock.
    void on_leave(const release_request& leaving) final
    {
        if (leaving.entry != entry_ || leaving.owner != owner_ || leaving.name != name_)
            return;
        left_ = true;
        if (!done_)
            return;
        doubtful_ = 0;
        acquire_reply reply;
        reply.may_hold = true;
        of_->post([self = shared_from_this(), done = std::exchange(done_, nullptr),
                   reply = std::move(reply)]() mutable {
            std::move(done)(errc::no_quorum, std::move(reply));
        });
        detail::timer_queue::cancel(*this);
    }
};

} // namespace leasehold::quorum

#endif
