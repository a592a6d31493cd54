#ifndef LEASEHOLD_SRC_MEMORY_DISTINCT_TIMES_HPP
#define LEASEHOLD_SRC_MEMORY_DISTINCT_TIMES_HPP

#include <chrono>

namespace leasehold::memory {

/// Makes each reading of a clock later than the one before, because requests may be faster than the
/// resolution of the clock. Follows a clock that is set back.
class distinct_times
{
public:
    using microseconds = std::chrono::microseconds;

    [[nodiscard]] microseconds next(microseconds read) noexcept
    {
        const bool set_back = last_ - read > most_ahead;
        last_ = read > last_ || set_back ? read : last_ + microseconds(1);
        return last_;
    }

private:
    static constexpr microseconds most_ahead = std::chrono::milliseconds(100);

    microseconds last_{};
};

} // namespace leasehold::memory

#endif
