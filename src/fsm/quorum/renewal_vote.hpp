#ifndef LEASEHOLD_SRC_FSM_QUORUM_RENEWAL_VOTE_HPP
#define LEASEHOLD_SRC_FSM_QUORUM_RENEWAL_VOTE_HPP

#include "base/mutant.hpp"
#include "fsm/quorum/quorum_size.hpp"

#include <cstdint>

namespace leasehold::fsm {

/// The renewal of one lock at a quorum of members. Decides only: it performs no I/O.
///
/// A majority that still has the lock for its owner keeps all other owners from a majority. Only
/// then is the lock created at members that lack it. These do not count, with one exception: if too
/// few members that have the lock answer, they count while a majority has it by `member_leases`.
class renewal_vote
{
public:
    enum class result : std::uint8_t
    {
        open,
        renewed,
        gone,   ///< Too many members do not have the lock: no majority can.
        failed, ///< Too few members have answered.
    };

    explicit renewal_vote(const quorum_size& size) noexcept : size_(size) {}

    void renewed() noexcept { ++renewed_; }
    void gone() noexcept { ++gone_; }
    /// A member that was counted as gone has the lock again.
    void created() noexcept
    {
        --gone_;
        ++renewed_;
    }

    /// @param pending The number of members that may still answer.
    [[nodiscard]] result decide(unsigned pending) const noexcept
    {
        if (renewed_ >= size_.majority() - (has(mutant::minority_renews) ? 1 : 0))
            return result::renewed;
        if (size_.members - gone_ < size_.majority())
            return result::gone;
        return pending == 0 ? result::failed : result::open;
    }

private:
    quorum_size size_;
    std::uint8_t renewed_ = 0;
    std::uint8_t gone_ = 0;
};

} // namespace leasehold::fsm

#endif
