#ifndef LEASEHOLD_SRC_FSM_QUORUM_MEMBER_LEASES_HPP
#define LEASEHOLD_SRC_FSM_QUORUM_MEMBER_LEASES_HPP

#include "fsm/quorum/quorum_size.hpp"

#include <leasehold/clock.hpp>

#include <algorithm>
#include <array>
#include <functional>

namespace leasehold::fsm {

/// For how long each member of a quorum has a lock for its owner, as far as this client knows.
/// Decides only: it performs no I/O.
///
/// A member that has confirmed the lock grants it to no other owner before that time, even if it
/// cannot be reached. If it loses the lock, it grants nothing for that time. So while a majority
/// has the lock in this sense, it can safely be created at the other members, and these count from
/// then on.
class member_leases
{
public:
    explicit member_leases(const quorum_size& size) noexcept : size_(size) {}

    void confirmed(unsigned member, clock::time_point until) noexcept
    {
        until_[member] = std::max(until_[member], until);
    }

    /// The member has answered that the owner does not hold the lock there.
    void lacks(unsigned member) noexcept { until_[member] = clock::time_point::min(); }

    [[nodiscard]] clock::time_point until(unsigned member) const noexcept { return until_[member]; }

    /// The time until which a majority has the lock. Nothing may be created after it.
    [[nodiscard]] clock::time_point limit() const noexcept
    {
        auto all = until_;
        const auto last = all.begin() + (size_.majority() - 1);
        std::nth_element(all.begin(), last, all.end(), std::greater<>());
        return *last;
    }

    /// Whether every member has the lock at that time.
    [[nodiscard]] bool complete(clock::time_point at) const noexcept
    {
        return std::all_of(until_.begin(), until_.begin() + size_.members,
                           [at](clock::time_point each) { return each > at; });
    }

private:
    static constexpr auto none = [] {
        std::array<clock::time_point, quorum_size::most_members> all{};
        all.fill(clock::time_point::min());
        return all;
    }();

    quorum_size size_;
    std::array<clock::time_point, quorum_size::most_members> until_ = none;
};

} // namespace leasehold::fsm

#endif
