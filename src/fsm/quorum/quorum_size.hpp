#ifndef LEASEHOLD_SRC_FSM_QUORUM_QUORUM_SIZE_HPP
#define LEASEHOLD_SRC_FSM_QUORUM_QUORUM_SIZE_HPP

namespace leasehold::fsm {

/// How many of a quorum's members have to agree.
struct quorum_size
{
    /// More would not fit into a mask of members, and help nobody.
    static constexpr unsigned most_members = 9;

    unsigned members = 3; ///< N: odd, 3 at least.
    unsigned grants = 2;  ///< q: those that have to grant a lock and accept its fence.

    /// Any two of this size share a member.
    [[nodiscard]] constexpr unsigned majority() const noexcept { return members / 2 + 1; }

    /// So many may be down, and locks can still be had.
    [[nodiscard]] constexpr unsigned may_be_down() const noexcept { return members - grants; }

    /// So many may forget their fences at the same time, and none is given out twice or too late.
    [[nodiscard]] constexpr unsigned may_forget() const noexcept
    {
        return 2 * grants - members - 1;
    }

    /// So many others have to adopt a new epoch before one that forgot is a member again. They
    /// share a member with whatever granted a lock together with that one (that takes N - q + 1),
    /// and with the others of every earlier epoch (that takes a majority).
    [[nodiscard]] constexpr unsigned adopters() const noexcept { return majority(); }

    [[nodiscard]] constexpr bool valid() const noexcept
    {
        return members >= 3 && members <= most_members && members % 2 == 1 &&
               grants >= majority() && grants <= members;
    }
};

} // namespace leasehold::fsm

#endif
