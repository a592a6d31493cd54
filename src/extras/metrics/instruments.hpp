#ifndef LEASEHOLD_SRC_EXTRAS_METRICS_INSTRUMENTS_HPP
#define LEASEHOLD_SRC_EXTRAS_METRICS_INSTRUMENTS_HPP

#include <leasehold/error.hpp>
#include <leasehold/extras/metrics.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string_view>
#include <vector>

namespace leasehold::detail {

using nanoseconds = std::chrono::nanoseconds;

[[nodiscard]] inline double in_seconds(std::uint64_t of_nanoseconds) noexcept
{
    return static_cast<double>(of_nanoseconds) / 1e9;
}

/// Counted on several strands at a time, unlike `counter` in core/turn.
class shared_counter
{
public:
    void add(std::uint64_t by = 1) noexcept { value_.fetch_add(by, std::memory_order_relaxed); }
    void add(nanoseconds time) noexcept
    {
        add(static_cast<std::uint64_t>(std::max(time.count(), nanoseconds::rep(0))));
    }
    [[nodiscard]] std::uint64_t value() const noexcept
    {
        return value_.load(std::memory_order_relaxed);
    }

private:
    std::atomic<std::uint64_t> value_ = 0;
};

class gauge
{
public:
    void up() noexcept { value_.fetch_add(1, std::memory_order_relaxed); }
    void down() noexcept { value_.fetch_sub(1, std::memory_order_relaxed); }
    [[nodiscard]] std::int64_t value() const noexcept
    {
        return value_.load(std::memory_order_relaxed);
    }

private:
    std::atomic<std::int64_t> value_ = 0;
};

class histogram
{
public:
    /// @param bounds Ascending; must outlive this object.
    explicit histogram(const std::vector<nanoseconds>& bounds)
        : bounds_(bounds), counts_(bounds.size() + 1)
    {}

    void add(nanoseconds value) noexcept
    {
        const auto place = std::lower_bound(bounds_.begin(), bounds_.end(), value);
        counts_[static_cast<std::size_t>(place - bounds_.begin())].add();
        sum_.add(value);
    }

    void write(metric_family::point& to) const
    {
        std::uint64_t total = 0;
        for (std::size_t i = 0; i < counts_.size(); ++i) {
            total += counts_[i].value();
            const double upper = i < bounds_.size()
                                     ? std::chrono::duration<double>(bounds_[i]).count()
                                     : std::numeric_limits<double>::infinity();
            to.buckets.push_back({upper, total});
        }
        to.sum = in_seconds(sum_.value());
    }

private:
    const std::vector<nanoseconds>& bounds_;
    std::vector<shared_counter> counts_;
    shared_counter sum_;
};

/// A count for each reason.
class reason_counter
{
public:
    void add(error_code why) noexcept;

    /// Calls `f(reason, count)` for each that has occurred, and for those that are always exported:
    /// a series that begins at 1 shows no increase in a rate.
    template <class F>
    void each(std::initializer_list<errc> always, F f) const
    {
        for (std::size_t i = 0; i < counts_.size(); ++i) {
            const bool shown = std::any_of(always.begin(), always.end(),
                                           [i](errc e) { return place(e) == i; });
            if (const auto count = counts_[i].value(); count > 0 || shown)
                f(name(i), count);
        }
    }

private:
    static constexpr std::size_t others = 0;    ///< Of no category of this library.
    static constexpr std::size_t cancelled = 1; ///< By the caller.
    static constexpr std::size_t first = 2;     ///< Those of `errc`, in their order.
    static constexpr auto size = static_cast<std::size_t>(errc::silent) + first;

    [[nodiscard]] static constexpr std::size_t place(errc e) noexcept
    {
        return static_cast<std::size_t>(e) - 1 + first;
    }

    [[nodiscard]] static std::string_view name(std::size_t at) noexcept;

    std::array<shared_counter, size> counts_;
};

} // namespace leasehold::detail

#endif
