#ifndef LEASEHOLD_SRC_STORE_QUORUM_ACQUIRING_HPP
#define LEASEHOLD_SRC_STORE_QUORUM_ACQUIRING_HPP

#include "base/mutant.hpp"
#include "store/quorum/answers_of_members.hpp"
#include "store/quorum/quorum_state.hpp"

#include <leasehold/store.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace leasehold::quorum {

/// An acquire, or a re-entry, that members are asked for: it is held by a quorum of them, or given
/// back by all that may have granted it.
class acquiring : public operation
{
protected:
    acquiring(std::shared_ptr<quorum_state> of, const acquire_request& asked,
              store::acquire_handler done)
        : of_(std::move(of)),
          name_(asked.name),
          owner_(asked.owner),
          entry_(asked.entry),
          lease_(asked.lease),
          budget_(asked.budget),
          done_(std::move(done))
    {}

    /// At all members that may have granted it, or may still.
    void give_back()
    {
        for (unsigned i = 0; i < of_->size.members; ++i) {
            if (contains(doubtful_, i) && !has(mutant::partial_grant_kept))
                of_->leave_at(i, name_, owner_, entry_);
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

    const std::shared_ptr<quorum_state> of_;
    const std::string name_;
    const std::string owner_;
    const std::string entry_; ///< Empty: takes the lock.
    const std::chrono::milliseconds lease_;
    const std::chrono::milliseconds budget_;
    store::acquire_handler done_; ///< Null: it has ended.
    mask doubtful_ = 0;           ///< Members that may have granted it.
    answers_of_members answers_;

private:
    // Whoever releases it tells all members; nothing more is to be sent for it.
    void on_leave(const release_request& leaving) final
    {
        if (!done_ || leaving.entry != entry_ || leaving.owner != owner_ || leaving.name != name_)
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
