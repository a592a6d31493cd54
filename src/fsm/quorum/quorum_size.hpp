#ifndef LEASEHOLD_SRC_FSM_QUORUM_QUORUM_SIZE_HPP
#define LEASEHOLD_SRC_FSM_QUORUM_QUORUM_SIZE_HPP

namespace leasehold::fsm {

/// The numbers of members, and of those that must agree.
struct quorum_size
{
    /// The maximum: the mask of members has no room for more, which would bring no benefit.
    static constexpr unsigned most_members = 9;

    unsigned members = 3; ///< N: odd, at least 3.
    unsigned grants = 2;  ///< q: the members that must grant a lock and accept its fence.

    /// Any two majorities share a member.
    [[nodiscard]] constexpr unsigned majority() const noexcept { return members / 2 + 1; }

    /// The number of others that have to adopt a new epoch before a member that lost its data
    /// rejoins. They share a member with every quorum that granted a lock with it (this takes N - q
    /// + 1), and with the adopters of every earlier epoch (this takes a majority).
    [[nodiscard]] constexpr unsigned adopters() const noexcept { return majority(); }

    [[nodiscard]] constexpr bool valid() const noexcept
    {
        return members >= 3 && members <= most_members && members % 2 == 1 &&
               grants >= majority() && grants <= members;
    }
};

} // namespace leasehold::fsm

#endif
