#ifndef LEASEHOLD_SRC_FSM_CONTENTION_BACKOFF_HPP
#define LEASEHOLD_SRC_FSM_CONTENTION_BACKOFF_HPP

#include <leasehold/clock.hpp>

#include <boost/assert.hpp>

#include <algorithm>
#include <random>

namespace leasehold::fsm {

using random_source = std::mt19937_64;

/// A random duration from `low` to `high`, both included.
inline clock::duration pick(random_source& random, clock::duration low, clock::duration high)
{
    return clock::duration(std::uniform_int_distribution<clock::rep>(
        low.count(), std::max(low, high).count())(random));
}

/// Exponential backoff with full jitter: each pause is random below a bound that doubles from the
/// floor to the ceiling. With equal pauses, clients that collide once collide every time.
class backoff
{
public:
    backoff() = default;
    backoff(clock::duration floor, clock::duration ceiling) noexcept
        : floor_(floor), ceiling_(ceiling), bound_(floor)
    {
        BOOST_ASSERT(floor > clock::duration::zero() && floor <= ceiling);
    }

    clock::duration next(random_source& random)
    {
        const clock::duration bound = bound_;
        BOOST_ASSERT(bound >= floor_ && bound <= ceiling_);
        bound_ = bound_ > ceiling_ / 2 ? ceiling_ : bound_ * 2;
        // Never close to zero: a pause shorter than a round trip only adds load.
        return pick(random, std::min(floor_, bound) / 2, bound);
    }

    void reset() noexcept { bound_ = floor_; }

    [[nodiscard]] clock::duration floor() const noexcept { return floor_; }
    [[nodiscard]] clock::duration ceiling() const noexcept { return ceiling_; }

private:
    clock::duration floor_ = std::chrono::milliseconds(20);
    clock::duration ceiling_ = std::chrono::seconds(1);
    clock::duration bound_ = floor_;
};

} // namespace leasehold::fsm

#endif
