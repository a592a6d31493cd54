#ifndef LEASEHOLD_TEST_SUPPORT_MANUAL_TIME_HPP
#define LEASEHOLD_TEST_SUPPORT_MANUAL_TIME_HPP

#include "core/turn/time_source.hpp"

#include <boost/asio/post.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

namespace leasehold::test {

/// A clock that a test moves, for one thread. Its counts remain available after its client has
/// ended.
class manual_time
{
    struct state
    {
        clock::time_point now{std::chrono::hours(1)};
        clock::time_point wake_at = clock::time_point::max();
        std::function<void()> wake;
        asio::any_io_executor strand;
        std::size_t wakes = 0;
        std::size_t requests = 0;
    };

    class source final : public detail::time_source
    {
    public:
        explicit source(std::shared_ptr<state> of) noexcept : state_(std::move(of)) {}

        clock::time_point now() const noexcept override { return state_->now; }

        void open(const asio::any_io_executor& strand, std::function<void()> wake) override
        {
            state_->strand = strand;
            state_->wake = std::move(wake);
        }

        void wake_at(clock::time_point when) override
        {
            state_->wake_at = when;
            ++state_->requests;
        }

        void close() noexcept override
        {
            state_->wake = nullptr;
            state_->strand = {};
            state_->wake_at = clock::time_point::max();
        }

    private:
        std::shared_ptr<state> state_;
    };

public:
    std::unique_ptr<detail::time_source> make_source() const
    {
        return std::make_unique<source>(state_);
    }

    clock::time_point now() const noexcept { return state_->now; }
    void set(clock::time_point now) noexcept { state_->now = now; }

    /// The time of the next wake-up, or the maximum if there is none.
    clock::time_point wake_at() const noexcept { return state_->wake_at; }

    /// Posts the due wake-up. Returns false if there is none.
    bool wake()
    {
        if (!state_->wake || state_->wake_at > state_->now)
            return false;
        state_->wake_at = clock::time_point::max();
        ++state_->wakes;
        asio::post(state_->strand, [of = state_] {
            if (of->wake)
                of->wake();
        });
        return true;
    }

    std::size_t wakes() const noexcept { return state_->wakes; } ///< Wake-ups so far.
    std::size_t requests() const noexcept
    {
        return state_->requests;
    } ///< The number of requested wake-ups.

private:
    std::shared_ptr<state> state_ = std::make_shared<state>();
};

} // namespace leasehold::test

#endif
