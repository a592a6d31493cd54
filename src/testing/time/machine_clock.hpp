#ifndef LEASEHOLD_SRC_TESTING_TIME_MACHINE_CLOCK_HPP
#define LEASEHOLD_SRC_TESTING_TIME_MACHINE_CLOCK_HPP

#include <leasehold/clock.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>

namespace leasehold::testing::impl {

/// The true time of a world. Shared, because leases may outlive the world and read it.
struct true_time
{
    clock::time_point now{std::chrono::hours(1)};
};

/// A clock that runs a little too fast or too slow, and may be stepped.
class machine_clock
{
public:
    machine_clock(std::shared_ptr<const true_time> time, clock::duration ahead) noexcept
        : time_(std::move(time)), true_base_(time_->now), base_(true_base_ + ahead)
    {}

    [[nodiscard]] clock::time_point now() const noexcept { return shows(time_->now); }

    [[nodiscard]] clock::time_point shows(clock::time_point truth) const noexcept
    {
        const auto passed = (truth - true_base_).count();
        // In two steps, so that it does not overflow within years.
        return base_ + clock::duration(passed + passed / 1000 * rate_ / 1000);
    }

    /// The true time at which it shows `local`, or a little later.
    [[nodiscard]] clock::time_point when_shows(clock::time_point local) const noexcept
    {
        if (local <= base_)
            return true_base_;
        if (local - base_ > std::chrono::years(30))
            return clock::time_point::max();
        const auto wanted = (local - base_).count();
        clock::time_point truth = true_base_ +
                                  clock::duration(wanted - wanted / (1'000'000 + rate_) * rate_);
        // The divisions were rounded; a few steps at most.
        while (shows(truth) < local)
            truth += std::max(clock::duration(1), local - shows(truth));
        return truth;
    }

    void drift(std::int64_t parts_per_million) noexcept
    {
        rebase();
        rate_ = parts_per_million;
    }

    void step(clock::duration by) noexcept
    {
        rebase();
        base_ += by;
    }

private:
    void rebase() noexcept
    {
        base_ = now();
        true_base_ = time_->now;
    }

    std::shared_ptr<const true_time> time_;
    clock::time_point true_base_;
    clock::time_point base_;
    std::int64_t rate_ = 0;
};

} // namespace leasehold::testing::impl

#endif
