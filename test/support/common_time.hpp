#ifndef LEASEHOLD_TEST_SUPPORT_COMMON_TIME_HPP
#define LEASEHOLD_TEST_SUPPORT_COMMON_TIME_HPP

#include "core/turn/time_source.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace leasehold::test {

/// A clock that a test moves, for any number of users on one thread.
class common_time
{
    struct user
    {
        clock::time_point wake_at = clock::time_point::max();
        std::function<void()> wake;
        asio::any_io_executor strand;
    };
    struct state
    {
        clock::time_point now{std::chrono::hours(1)};
        std::vector<std::weak_ptr<user>> users;
    };

    class source final : public detail::time_source
    {
    public:
        explicit source(std::shared_ptr<state> of) : state_(std::move(of))
        {
            state_->users.push_back(me_);
        }

        clock::time_point now() const noexcept override { return state_->now; }
        void open(const asio::any_io_executor& strand, std::function<void()> wake) override
        {
            me_->strand = strand;
            me_->wake = std::move(wake);
        }
        void wake_at(clock::time_point when) override { me_->wake_at = when; }
        void close() noexcept override { *me_ = {}; }

    private:
        std::shared_ptr<state> state_;
        std::shared_ptr<user> me_ = std::make_shared<user>();
    };

public:
    std::unique_ptr<detail::time_source> make_source() const
    {
        return std::make_unique<source>(state_);
    }

    clock::time_point now() const noexcept { return state_->now; }
    void set(clock::time_point now) noexcept { state_->now = now; }

    /// The time of the first wake-up, or the maximum if there is none.
    clock::time_point wake_at() const
    {
        auto first = clock::time_point::max();
        for (const auto& each : state_->users)
            if (const auto known = each.lock(); known && known->wake)
                first = std::min(first, known->wake_at);
        return first;
    }

    /// Posts the due wake-ups. Returns false if there are none.
    bool wake()
    {
        bool any = false;
        for (const auto& each : state_->users) {
            const auto known = each.lock();
            if (!known || !known->wake || known->wake_at > state_->now)
                continue;
            any = true;
            known->wake_at = clock::time_point::max();
            asio::post(known->strand, [known] {
                if (known->wake)
                    known->wake();
            });
        }
        return any;
    }

private:
    std::shared_ptr<state> state_ = std::make_shared<state>();
};

} // namespace leasehold::test

#endif
