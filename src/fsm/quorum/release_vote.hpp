#ifndef LEASEHOLD_SRC_FSM_QUORUM_RELEASE_VOTE_HPP
#define LEASEHOLD_SRC_FSM_QUORUM_RELEASE_VOTE_HPP

#include "fsm/quorum/quorum_size.hpp"

namespace leasehold::fsm {

/// The release of a lock at a quorum of members. All are told; what a quorum answers is what became
/// of it. Decides; does nothing itself.
class release_vote
{
public:
    enum class result : unsigned char
    {
        open,
        freed,
        left,      ///< Other entries of the owner still hold it.
        not_owner, ///< The owner, or the entry, does not hold it.
        failed,    ///< Too few answered.
    };

    explicit release_vote(const quorum_size& size) noexcept : size_(size) {}

    void freed() noexcept { ++freed_; }
    void left() noexcept { ++left_; }
    void not_owner() noexcept { ++not_owner_; }

    [[nodiscard]] unsigned answers() const noexcept { return freed_ + left_ + not_owner_; }

    /// @param pending So many have not answered, and may.
    [[nodiscard]] result decide(unsigned pending) const noexcept
    {
        if (answers() < size_.grants)
            return pending == 0 ? result::failed : result::open;
        // A member that has missed an entry frees what the others keep.
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
