#ifndef LEASEHOLD_SRC_FSM_QUORUM_REJOIN_HPP
#define LEASEHOLD_SRC_FSM_QUORUM_REJOIN_HPP

#include "fsm/quorum/quorum_size.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <span>

namespace leasehold::fsm {

/// The report of a quorum member about itself. If its record is gone, or it has restarted since
/// the record was written, it is a blank server: it may have lost locks and fences, and grants
/// nothing until it is made a member again.
struct member_view
{
    bool reachable = false;
    bool is_member = false;
    std::uint64_t epoch = 0;
    std::uint64_t largest = 0; ///< The largest fence of all names that it knows.
    std::uint64_t nonce = 0;   ///< Of a blank server: generated at its detection; unique.
    std::uint64_t began = 0;   ///< `rejoin::beginning()` of the seed that made it a member, or 0.
    std::chrono::milliseconds lease{}; ///< The longest lease that was ever requested.
};

/// Makes blank servers members. Decides only: it performs no I/O.
///
/// A majority, without blank servers, adopts a higher epoch. From then on they reject requests
/// of older epochs, so nothing that a blank server accepted before the loss can complete. The blank
/// server continues with the largest fence that these members report, and grants nothing until the
/// longest lease that it may have granted has ended. Reading without the epoch is not enough: an
/// acquire that the blank server had accepted could finish afterwards.
///
/// If all servers are blank at the same time, nothing can be read: they begin anew, above all
/// values that they still know. Two looks in sequence that find the same blank servers prove this.
/// Some of the seeds may be lost. Each seed therefore carries the sum of all nonces. If that is
/// still the sum, a later client sends the missing seeds: no member has lost data since, and the
/// others granted nothing without a majority.
///
/// Every write to a blank server names its nonce: a late write has no effect if the blank server
/// has lost its data again.
class rejoin
{
public:
    enum class step : unsigned char
    {
        nothing, ///< No server that can be reached is blank.
        adopt,   ///< Let all members adopt `epoch()`, and pass their replies to `adopted`.
        confirm, ///< Look at all members once more, and pass their replies to `confirmed`.
        finish,  ///< All began anew, but some seeds did not arrive: send them again.
        stuck,   ///< Too few members are left, and not all others can be reached.
    };

    rejoin(const quorum_size& size, std::span<const member_view> members) noexcept : size_(size)
    {
        std::copy(members.begin(), members.end(), seen_.begin());
        unsigned known = 0;
        unsigned blank_servers = 0;
        for (const member_view& each : members) {
            known += each.reachable && each.is_member ? 1 : 0;
            blank_servers += each.reachable && !each.is_member ? 1 : 0;
            epoch_ = std::max(epoch_, each.epoch);
        }
        ++epoch_;
        if (blank_servers == 0)
            step_ = step::nothing;
        else if (known >= size_.adopters())
            step_ = step::adopt;
        else if (blank_servers == size_.members)
            step_ = step::confirm;
        else if (known + blank_servers == size_.members && began_together())
            step_ = step::finish;
        else
            step_ = step::stuck;
    }

    /// Identifies the members that begin anew together, by their nonces. 0: they do not.
    [[nodiscard]] std::uint64_t beginning() const noexcept
    {
        return step_ == step::confirm || step_ == step::finish ? sum_of_nonces() : 0;
    }

    [[nodiscard]] step next() const noexcept { return step_; }
    [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }

    [[nodiscard]] bool is_blank(unsigned member) const noexcept
    {
        return seen_[member].reachable && !seen_[member].is_member;
    }

    /// A member has adopted the epoch, or a later one.
    void adopted(unsigned member, std::uint64_t largest, std::chrono::milliseconds lease) noexcept
    {
        if (is_blank(member) || !once(member))
            return;
        take(largest, lease);
    }

    /// The reply to the second look.
    void confirmed(unsigned member, const member_view& now) noexcept
    {
        if (now.is_member || now.nonce != seen_[member].nonce || !once(member))
            return;
        take(now.largest, now.lease);
    }

    /// Blank servers can be made members, with the values below.
    [[nodiscard]] bool ready() const noexcept
    {
        return step_ == step::finish || (step_ == step::adopt && answers_ >= size_.adopters()) ||
               (step_ == step::confirm && answers_ == size_.members);
    }

    [[nodiscard]] std::uint64_t nonce(unsigned member) const noexcept
    {
        return seen_[member].nonce;
    }

    /// New fences have to be larger.
    [[nodiscard]] std::uint64_t floor() const noexcept { return floor_; }

    /// The longest lease that was ever requested. Blank servers have to record it for the next loss
    /// of data.
    [[nodiscard]] std::chrono::milliseconds lease() const noexcept { return lease_; }

    /// Counted from the detection of the loss.
    [[nodiscard]] std::chrono::milliseconds silence() const noexcept { return silence_; }

private:
    [[nodiscard]] std::uint64_t sum_of_nonces() const noexcept
    {
        std::uint64_t sum = 0;
        for (unsigned i = 0; i < size_.members; ++i)
            sum += seen_[i].nonce;
        return sum % (std::uint64_t(1) << 53); // a double can represent it
    }

    /// Whether all were blank at the same time, and none has lost data since. The others then
    /// get the values of those that are members.
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
        if (counted_[member])
            return false;
        counted_[member] = true;
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
    std::array<bool, quorum_size::most_members> counted_{};
    step step_ = step::nothing;
    std::uint64_t epoch_ = 0;
    unsigned answers_ = 0;
    std::uint64_t floor_ = 0;
    std::chrono::milliseconds lease_{};
    std::chrono::milliseconds silence_{};
};

} // namespace leasehold::fsm

#endif
