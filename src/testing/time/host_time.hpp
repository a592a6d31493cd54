#ifndef LEASEHOLD_SRC_TESTING_TIME_HOST_TIME_HPP
#define LEASEHOLD_SRC_TESTING_TIME_HOST_TIME_HPP

#include "core/async/posting_executor.hpp"
#include "core/turn/time_source.hpp"
#include "testing/time/host_state.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <utility>

namespace leasehold::testing::impl {

/// The clock and the alarm of a client on a host.
class host_time final : public leasehold::detail::time_source
{
public:
    host_time(host_state& on, std::uint64_t seed) : host_(on), clock_(on.lease_clock), seed_(seed)
    {}

    clock::time_point now() const noexcept override { return clock_->now(); }

    void open(const asio::any_io_executor& strand, std::function<void()> wake) override
    {
        alarm_ = std::make_shared<wake_up>(strand, std::move(wake));
    }

    void wake_at(clock::time_point when) override
    {
        if (alarm_)
            alarm_->arm(host_, when);
    }

    void close() noexcept override
    {
        if (!alarm_)
            return;
        alarm_->disarm();
        alarm_->wake = nullptr;
        alarm_.reset();
    }

    std::optional<std::uint64_t> seed() const noexcept override { return seed_; }

private:
    struct wake_up final : local_alarm, std::enable_shared_from_this<wake_up>
    {
        wake_up(const asio::any_io_executor& executor, std::function<void()> f)
            : local_alarm(true),
              strand(leasehold::detail::posting_executor(executor)),
              wake(std::move(f))
        {}

        void due() override
        {
            strand.execute([self = shared_from_this()] {
                if (self->wake)
                    self->wake();
            });
        }

        asio::any_io_executor strand;
        std::function<void()> wake;
    };

    host_state& host_;
    std::shared_ptr<machine_clock> clock_; ///< May be used after the host has ended.
    std::shared_ptr<wake_up> alarm_;
    std::uint64_t seed_;
};

} // namespace leasehold::testing::impl

#endif
