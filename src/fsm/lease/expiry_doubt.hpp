#ifndef LEASEHOLD_SRC_FSM_LEASE_EXPIRY_DOUBT_HPP
#define LEASEHOLD_SRC_FSM_LEASE_EXPIRY_DOUBT_HPP

#include <leasehold/clock.hpp>

#include <chrono>

namespace leasehold::fsm {

/// Whether one who waits may sleep until the lock ends. A server whose clock has stepped back, or
/// stands still, keeps it for longer than its holder asked for.
class expiry_doubt
{
public:
    /// @param remaining The time to live of the lock; negative: it never ends.
    /// @param lease What a lease should take at most, or thereabouts.
    [[nodiscard]] bool of(std::chrono::milliseconds remaining, clock::duration lease,
                          clock::time_point now) noexcept
    {
        const bool stands_still = remaining == last_ && now - looked_ >= shortest;
        last_ = remaining;
        looked_ = now;
        return stands_still || remaining > odd_factor * lease || remaining.count() < 0;
    }

private:
    static constexpr int odd_factor = 10;
    /// Sooner it may be the same by chance.
    static constexpr std::chrono::milliseconds shortest{10};

    std::chrono::milliseconds last_{-1};
    clock::time_point looked_{};
};

} // namespace leasehold::fsm

#endif
