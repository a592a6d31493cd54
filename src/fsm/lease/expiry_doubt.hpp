#ifndef LEASEHOLD_SRC_FSM_LEASE_EXPIRY_DOUBT_HPP
#define LEASEHOLD_SRC_FSM_LEASE_EXPIRY_DOUBT_HPP

#include <leasehold/clock.hpp>

#include <chrono>

namespace leasehold::fsm {

/// Whether a waiter must not rely on the TTL of the lock. A server whose clock has stepped back, or
/// has stopped, keeps the lock for longer than its holder requested.
class expiry_doubt
{
public:
    /// @param remaining The TTL of the lock. Negative: it never expires.
    /// @param lease The approximate maximum lease time.
    [[nodiscard]] bool of(std::chrono::milliseconds remaining, clock::duration lease,
                          clock::time_point now) noexcept
    {
        const bool is_unchanged = remaining == last_ && now - polled_ >= shortest;
        last_ = remaining;
        polled_ = now;
        return is_unchanged || remaining > odd_factor * lease || remaining.count() < 0;
    }

private:
    static constexpr int odd_factor = 10;
    /// Within this time, equal values may be a coincidence.
    static constexpr std::chrono::milliseconds shortest{10};

    std::chrono::milliseconds last_{-1};
    clock::time_point polled_{};
};

} // namespace leasehold::fsm

#endif
