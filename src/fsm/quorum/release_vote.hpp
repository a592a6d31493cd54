#ifndef LEASEHOLD_SRC_FSM_QUORUM_RELEASE_VOTE_HPP
#define LEASEHOLD_SRC_FSM_QUORUM_RELEASE_VOTE_HPP

#include "fsm/quorum/quorum_size.hpp"

namespace leasehold::fsm {

/// The release of a lock at a quorum of members. It is sent to all; the replies of a quorum decide
/// the outcome. Decides only: it performs no I/O.
class release_vote
{
public:
    enum class result : unsigned char
    {
        open,
        freed,
        left,      ///< Other entries of the owner still hold the lock.
        not_owner, ///< The owner, or the entry, does not hold the lock.
        failed,    ///< Too few members answered.
    };

    explicit release_vote(const quorum_size& size) noexcept : size_(size) {}

    void freed() noexcept { ++freed_; }
    void left() noexcept { ++left_; }
    void not_owner() noexcept { ++not_owner_; }

    [[nodiscard]] unsigned answers() const noexcept { return freed_ + left_ + not_owner_; }

    /// @param pending The number of members that may still answer.
    [[nodiscard]] result decide(unsigned pending) const noexcept
    {
        if (answers() < size_.grants)
            return pending == 0 ? result::failed : result::open;
        // A member that missed an entry frees a lock that the others keep.
        if (left_ > freed_)
            return result::left;
        return freed_ > 0 ? result::freed : result::not_owner;
    }

private:
    quorum_size size_;
    unsigned freed_ = 0;
    unsigned left_ = 0;
    unsigned not_owner_ = 0;
};

} // namespace leasehold::fsm

#endif
