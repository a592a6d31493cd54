#ifndef LEASEHOLD_SRC_FSM_QUORUM_ACQUIRE_VOTE_HPP
#define LEASEHOLD_SRC_FSM_QUORUM_ACQUIRE_VOTE_HPP

#include "base/mutant.hpp"
#include "fsm/quorum/quorum_size.hpp"

#include <boost/assert.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace leasehold::fsm {

/// One acquire at a quorum of members: which members granted the lock, and with which fence.
/// Decides only: it performs no I/O.
///
/// First round: each member is asked for the lock and offered the same fence. A member that grants
/// the lock accepts the fence if it is larger than all that it has accepted for the name. Otherwise
/// it returns its largest. A quorum that granted and accepted makes the lease. Second round, if a
/// quorum granted but not enough accepted: the largest fence plus one is offered.
///
/// A fence is used only if a quorum has accepted it, and a member accepts each value once. For two
/// leases with one fence, or a later lease with a smaller fence, two quorums without a common
/// member would be needed. Clocks, TTLs and delays have no influence.
class acquire_vote
{
public:
    enum class answer : unsigned char
    {
        accepted, ///< The member granted the lock and accepted the fence.
        outbid,   ///< The member granted the lock; the fence is not larger than an earlier one.
        held,     ///< Another owner holds the lock there.
        refused,  ///< Not executed there.
        unknown,  ///< No reply, and none is expected.
    };

    enum class action : unsigned char
    {
        wait,
        raise,   ///< Offer `offer()` to the members that `is_asked`.
        granted, ///< With `offer()`.
        failed,  ///< The acquire cannot succeed any more.
    };

    /// @param first The first of the offered fences.
    /// @param count The number of offered fences.
    acquire_vote(const quorum_size& size, std::uint64_t first, std::uint32_t count) noexcept
        : size_(size), offer_(first), count_(count), largest_(first > 0 ? first - 1 : 0)
    {}

    /// The member is asked in the first round.
    void ask(unsigned member) noexcept { first_.expect(member); }

    /// The current round. Members that are not waited for may still grant a request.
    [[nodiscard]] unsigned round() const noexcept { return round_; }
    [[nodiscard]] std::uint64_t offer() const noexcept { return offer_; }
    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }

    /// Whether the member is asked in the second round: it has granted the lock, or may have.
    [[nodiscard]] bool is_asked(unsigned member) const noexcept
    {
        return second_.state[member] == ballot::asked;
    }

    /// @param fence The largest that the member has accepted, if it reported one.
    action answered(unsigned member, unsigned round, answer reply, std::uint64_t fence) noexcept
    {
        largest_ = std::max(largest_, fence);
        ballots& votes = round == 1 ? first_ : second_;
        if (over_ || !votes.take(member, reply))
            return action::wait;
        if (round == 1)
            granted_[member] = reply == answer::accepted || reply == answer::outbid;
        return round == round_ ? decide() : action::wait;
    }

    /// Members that have not answered by now are not waited for.
    action late() noexcept
    {
        if (over_)
            return action::wait;
        (round_ == 1 ? first_ : second_).give_up();
        return decide();
    }

    /// Enough members granted the lock and only the fence is missing. The members that could still
    /// accept it have not answered.
    [[nodiscard]] bool lingers() const noexcept
    {
        return !over_ && round_ == 1 && first_.granted() >= size_.grants;
    }

    /// For a failed vote: it could have succeeded if the members that reported another owner had
    /// granted the lock. Otherwise members were missing.
    [[nodiscard]] bool is_held() const noexcept
    {
        return first_.held > 0 && could_have(first_.held);
    }

    /// The vote could have succeeded if `more` members had granted the lock.
    [[nodiscard]] bool could_have(unsigned more) const noexcept
    {
        return first_.granted() + first_.pending + more >= size_.grants;
    }

    /// The number of members that granted the lock in the first round.
    [[nodiscard]] unsigned granted() const noexcept { return first_.granted(); }

private:
    enum class ballot : unsigned char
    {
        none,
        asked,
        answered,
    };

    struct ballots
    {
        std::array<ballot, quorum_size::most_members> state{};
        unsigned pending = 0;
        unsigned accepted = 0;
        unsigned outbid = 0;
        unsigned held = 0;

        [[nodiscard]] unsigned granted() const noexcept { return accepted + outbid; }

        void expect(unsigned member) noexcept
        {
            BOOST_ASSERT(state[member] == ballot::none);
            state[member] = ballot::asked;
            ++pending;
        }

        bool take(unsigned member, answer reply) noexcept
        {
            if (state[member] != ballot::asked)
                return false;
            state[member] = ballot::answered;
            --pending;
            const bool counts = reply == answer::accepted ||
                                (reply == answer::outbid && has(mutant::outbid_accepted));
            accepted += counts ? 1 : 0;
            outbid += reply == answer::outbid && !counts ? 1 : 0;
            held += reply == answer::held ? 1 : 0;
            return true;
        }

        void give_up() noexcept
        {
            for (ballot& each : state) {
                if (each == ballot::asked)
                    each = ballot::answered;
            }
            pending = 0;
        }
    };

    action decide() noexcept
    {
        const unsigned q = size_.grants - (has(mutant::fewer_grant) ? 1 : 0);
        if (round_ == 1) {
            if (first_.accepted >= q)
                return grant();
            if (first_.granted() + first_.pending < q)
                return fail();
            if (first_.granted() < q || first_.accepted + first_.pending >= q)
                return action::wait;
            return raise();
        }
        if (second_.accepted >= (has(mutant::fence_of_minority) ? 1 : q))
            return grant();
        return second_.accepted + second_.pending < q ? fail() : action::wait;
    }

    action raise() noexcept
    {
        round_ = 2;
        offer_ = largest_ + 1;
        // A member that has not answered may have granted it, too.
        for (unsigned i = 0; i < size_.members; ++i) {
            if (granted_[i] || first_.state[i] == ballot::asked)
                second_.expect(i);
        }
        return action::raise;
    }

    action grant() noexcept
    {
        over_ = true;
        return action::granted;
    }

    action fail() noexcept
    {
        over_ = true;
        return action::failed;
    }

    quorum_size size_;
    std::uint64_t offer_;
    std::uint32_t count_;
    std::uint64_t largest_;
    unsigned round_ = 1;
    bool over_ = false;
    ballots first_;
    ballots second_;
    std::array<bool, quorum_size::most_members> granted_{};
};

} // namespace leasehold::fsm

#endif
