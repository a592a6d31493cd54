#include "core/turn/time_source.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <algorithm>
#include <optional>
#include <random>

namespace leasehold::detail {
namespace {

/// Asio's timers use a clock that stops while the machine is suspended. A check at least once a
/// second bounds how late a deadline that passed meanwhile is noticed; `lease::valid` does not
/// depend on it.
struct suspend_aware_wait
{
    static clock::duration to_wait_duration(clock::duration d)
    {
        return std::min<clock::duration>(d, std::chrono::seconds(1));
    }

    static clock::duration to_wait_duration(clock::time_point t)
    {
        return to_wait_duration(t - clock::now());
    }
};

class system_time final : public time_source
{
public:
    clock::time_point now() const noexcept override { return clock::now(); }

    void open(const asio::any_io_executor& strand, std::function<void()> wake) override
    {
        state_ = std::make_shared<state>(strand, std::move(wake));
    }

    void wake_at(clock::time_point when) override
    {
        if (!state_)
            return;
        state_->timer.expires_at(when);
        state_->timer.async_wait(
            [weak = std::weak_ptr<state>(state_)](boost::system::error_code aborted) {
                auto self = weak.lock();
                if (!aborted && self && self->wake)
                    self->wake();
            });
    }

    void close() noexcept override
    {
        if (state_) {
            state_->wake = nullptr;
            state_->timer.cancel();
            state_.reset();
        }
    }

private:
    using timer_type = asio::basic_waitable_timer<clock, suspend_aware_wait, asio::any_io_executor>;

    struct state
    {
        state(const asio::any_io_executor& strand, std::function<void()> f)
            : timer(strand), wake(std::move(f))
        {}
        timer_type timer;
        std::function<void()> wake;
    };

    std::shared_ptr<state> state_;
};

} // namespace

std::unique_ptr<time_source> make_system_time()
{
    return std::make_unique<system_time>();
}

std::uint64_t seed_of(const time_source& time)
{
    if (const auto given = time.seed())
        return *given;
    std::random_device device;
    return (static_cast<std::uint64_t>(device()) << 32) | device();
}

} // namespace leasehold::detail
