#ifndef LEASEHOLD_TEST_SIM_SESSION_SESSION_NETWORK_HPP
#define LEASEHOLD_TEST_SIM_SESSION_SESSION_NETWORK_HPP

#include "testing/time/random.hpp"

#include <leasehold/clock.hpp>
#include <leasehold/testing/world.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>

namespace leasehold::test::sessions {

/// The path between a host and the service.
struct path
{
    explicit path(std::uint64_t seed) : random(seed) {}

    clock::duration delay(clock::time_point now)
    {
        return std::chrono::microseconds(random.between(200, now < slow_until ? 500'000 : 2000));
    }

    testing::impl::generator random;
    clock::time_point slow_until{};
    clock::time_point no_requests_until{}; ///< Earlier requests are lost.
    clock::time_point no_replies_until{};  ///< Earlier replies are lost.
};

/// Messages of one direction of a connection. They arrive in order. After a lost message, all later
/// ones are lost.
class channel
{
public:
    /// @param lost_until Messages that are sent before this time are lost.
    channel(testing::world& in, path& along, const clock::time_point& lost_until)
        : world_(in), path_(along), lost_until_(lost_until)
    {}

    /// @param owner Keeps this channel, while messages are on their way.
    /// @param stalled_until The receiver does not read before that time.
    void send(std::shared_ptr<void> owner, std::function<void()> arrive,
              const clock::time_point& stalled_until)
    {
        lossy_ = lossy_ || world_.now() < lost_until_;
        if (lossy_ || closed_)
            return;
        messages_.push_back(std::move(arrive));
        last_ = std::max(world_.now() + path_.delay(world_.now()),
                         last_ + std::chrono::microseconds(1));
        expect(std::move(owner), last_, stalled_until);
    }

    /// Messages on their way are lost.
    void close()
    {
        closed_ = true;
        messages_.clear();
    }

private:
    void expect(std::shared_ptr<void> owner, clock::time_point when,
                const clock::time_point& stalled_until)
    {
        world_.at(when, [this, owner = std::move(owner), &stalled_until] {
            if (messages_.empty())
                return;
            if (world_.now() < stalled_until)
                return expect(owner, stalled_until, stalled_until);
            const auto arrive = std::move(messages_.front());
            messages_.pop_front();
            arrive();
        });
    }

    testing::world& world_;
    path& path_;
    const clock::time_point& lost_until_;
    std::deque<std::function<void()>> messages_;
    clock::time_point last_{};
    bool lossy_ = false;
    bool closed_ = false;
};

} // namespace leasehold::test::sessions

#endif
