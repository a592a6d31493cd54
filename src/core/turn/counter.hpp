#ifndef LEASEHOLD_SRC_CORE_TURN_COUNTER_HPP
#define LEASEHOLD_SRC_CORE_TURN_COUNTER_HPP

#include <atomic>
#include <cstdint>

namespace leasehold::detail {

/// Counted on the strand, read anywhere. With one writer at a time, counting needs no locked
/// instruction: a handover counts six times.
class counter
{
public:
    counter& operator++() noexcept { return set(value() + 1); }
    counter& operator--() noexcept { return set(value() - 1); }
    void clear() noexcept { set(0); }

    [[nodiscard]] std::uint64_t value() const noexcept
    {
        return value_.load(std::memory_order_relaxed);
    }

private:
    counter& set(std::uint64_t value) noexcept
    {
        value_.store(value, std::memory_order_relaxed);
        return *this;
    }

    std::atomic<std::uint64_t> value_ = 0;
};

} // namespace leasehold::detail

#endif
