#ifndef LEASEHOLD_SRC_FSM_QUORUM_REJOIN_HPP
#define LEASEHOLD_SRC_FSM_QUORUM_REJOIN_HPP

#include "fsm/quorum/quorum_size.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <span>

namespace leasehold::fsm {

/// What a member of a quorum says of itself. One whose record is gone, or that has restarted since
/// it was written, is a stranger: it may have forgotten locks and fences, and grants nothing until
/// it was made a member again.
struct member_view
{
    bool reachable = false;
    bool is_member = false;
    std::uint64_t epoch = 0;
    std::uint64_t largest = 0; ///< The largest fence of all names that it knows of.
    std::uint64_t nonce = 0; ///< Of a stranger: drawn when somebody found out; not the same twice.
    std::uint64_t began = 0; ///< `rejoin::beginning()` of the seed that made it a member; or 0.
    std::chrono::milliseconds lease{}; ///< The longest that was ever asked for.
};

/// How strangers become members. Decides; does nothing itself.
///
/// A majority of members that are none adopts a higher epoch: from then on they refuse requests of
/// older ones, so that nothing that a stranger accepted before it forgot can be completed any more.
/// What they then say is the largest fence that may have been completed is where the stranger goes
/// on, and its silence lasts until the longest lease that it may have granted is over. Reading
/// without the epoch is not enough: an acquire that the stranger had accepted would finish
/// afterwards.
///
/// Where all members are strangers at the same time there is nothing to be read: they begin anew,
/// above whatever they still know. That all are is known when two looks, one after the other, find
/// the same strangers. Some of the seeds may be lost. Each seed therefore carries the sum of all
/// nonces, and a later client sends the missing ones when that is still the sum: no member has
/// forgotten anything since, and the others have granted nothing without a majority.
///
/// Everything that is written to a stranger names its nonce: what comes late, to one that forgot
/// again meanwhile, has no effect.
class rejoin
{
public:
    enum class step : unsigned char
    {
        nothing, ///< Who can be reached is a member.
        adopt,   ///< Have all members adopt `epoch()`, and say what they answer.
        confirm, ///< Look at all once more, and say what they answer.
        finish,  ///< All began anew, but some seeds did not arrive: send them again.
        stuck,   ///< Too few members are left, and not all others can be reached.
    };

    rejoin(const quorum_size& size, std::span<const member_view> members) noexcept : size_(size)
    {
        std::copy(members.begin(), members.end(), seen_.begin());
        unsigned known = 0;
        unsigned strangers = 0;
        for (const member_view& each : members) {
            known += each.reachable && each.is_member ? 1 : 0;
            strangers += each.reachable && !each.is_member ? 1 : 0;
            epoch_ = std::max(epoch_, each.epoch);
        }
        ++epoch_;
        if (strangers == 0)
            step_ = step::nothing;
        else if (known >= size_.adopters())
            step_ = step::adopt;
        else if (strangers == size_.members)
            step_ = step::confirm;
        else if (known + strangers == size_.members && began_together())
            step_ = step::finish;
        else
            step_ = step::stuck;
    }

    /// Identifies the members that begin anew together, by their nonces; 0: they do not.
    [[nodiscard]] std::uint64_t beginning() const noexcept
    {
        return step_ == step::confirm || step_ == step::finish ? sum_of_nonces() : 0;
    }

    [[nodiscard]] step next() const noexcept { return step_; }
    [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }

    [[nodiscard]] bool is_stranger(unsigned member) const noexcept
    {
        return seen_[member].reachable && !seen_[member].is_member;
    }

    /// A member has adopted the epoch, or a later one.
    void adopted(unsigned member, std::uint64_t largest, std::chrono::milliseconds lease) noexcept
    {
        if (is_stranger(member) || !once(member))
            return;
        take(largest, lease);
    }

    /// The answer to the second look.
    void confirmed(unsigned member, const member_view& now) noexcept
    {
        if (now.is_member || now.nonce != seen_[member].nonce || !once(member))
            return;
        take(now.largest, now.lease);
    }

    /// Strangers can be made members, with what follows.
    [[nodiscard]] bool ready() const noexcept
    {
        return step_ == step::finish || (step_ == step::adopt && answers_ >= size_.adopters()) ||
               (step_ == step::confirm && answers_ == size_.members);
    }

    [[nodiscard]] std::uint64_t nonce(unsigned member) const noexcept
    {
        return seen_[member].nonce;
    }

    /// Fences have to be larger from here on.
    [[nodiscard]] std::uint64_t floor() const noexcept { return floor_; }

    /// The longest that was ever asked for: strangers have to know it, too, for the next that
    /// forgets.
    [[nodiscard]] std::chrono::milliseconds lease() const noexcept { return lease_; }

    /// From the time at which it was found that it may have forgotten.
    [[nodiscard]] std::chrono::milliseconds silence() const noexcept { return silence_; }

private:
    [[nodiscard]] std::uint64_t sum_of_nonces() const noexcept
    {
        std::uint64_t sum = 0;
        for (unsigned i = 0; i < size_.members; ++i)
            sum += seen_[i].nonce;
        return sum % (std::uint64_t(1) << 53); // a double holds it
    }

    /// Whether all were strangers at the same time, and none has forgotten anything since. What
    /// those that are members know is then what the others are to know.
    bool began_together() noexcept
    {
        const std::uint64_t beginning = sum_of_nonces();
        epoch_ = 0;
        for (unsigned i = 0; i < size_.members; ++i) {
            if (!seen_[i].is_member)
                continue;
            if (seen_[i].began != beginning)
                return false;
            epoch_ = std::max(epoch_, seen_[i].epoch);
            take(seen_[i].largest, seen_[i].lease);
        }
        return true;
    }

    bool once(unsigned member) noexcept
    {
        if (heard_[member])
            return false;
        heard_[member] = true;
        ++answers_;
        return true;
    }

    void take(std::uint64_t largest, std::chrono::milliseconds lease) noexcept
    {
        floor_ = std::max(floor_, largest);
        lease_ = std::max(lease_, lease);
        // Clocks may drift apart.
        if (lease.count() > 0)
            silence_ = std::max(silence_, lease + lease / 50 + std::chrono::milliseconds(4));
    }

    quorum_size size_;
    std::array<member_view, quorum_size::most_members> seen_{};
    std::array<bool, quorum_size::most_members> heard_{};
    step step_ = step::nothing;
    std::uint64_t epoch_ = 0;
    unsigned answers_ = 0;
    std::uint64_t floor_ = 0;
    std::chrono::milliseconds lease_{};
    std::chrono::milliseconds silence_{};
};

} // namespace leasehold::fsm

#endif
