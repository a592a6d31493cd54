#include "heartbeat.hpp"

#include <boost/asio/deferred.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>

namespace leasehold::benchmark {

boost::asio::awaitable<void> heartbeat::run(steady::time_point end)
{
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
    while (steady::now() < end) {
        timer.expires_after(std::chrono::milliseconds(1));
        co_await timer.async_wait(boost::asio::deferred);
        delays_.push_back(seconds(steady::now() - timer.expiry()));
    }
    std::sort(delays_.begin(), delays_.end());
}

double heartbeat::longest_delay() const
{
    return delays_.empty() ? 0 : delays_.back();
}

double heartbeat::delay_of(double part) const
{
    if (delays_.empty())
        return 0;
    const auto at = static_cast<std::size_t>(part * static_cast<double>(delays_.size()));
    return delays_[std::min(at, delays_.size() - 1)];
}

} // namespace leasehold::benchmark
