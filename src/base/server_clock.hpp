#ifndef LEASEHOLD_SRC_BASE_SERVER_CLOCK_HPP
#define LEASEHOLD_SRC_BASE_SERVER_CLOCK_HPP

#include <leasehold/clock.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace leasehold::detail {

/// Whether this can be the time of a server, in microseconds: from 1970 until the year 2255.
constexpr bool is_server_time(std::int64_t us) noexcept
{
    return us > 0 && us < (std::int64_t(1) << 53);
}

/// An estimate of the server's clock, from its replies. It is late by the travel time of a reply
/// and never early, unless that clock steps back: a limit based on it rejects a little early rather
/// than grants late.
class server_clock
{
public:
    /// @param server_us `is_server_time`.
    void learn(std::int64_t server_us, clock::time_point received) noexcept
    {
        using namespace std::chrono;
        const microseconds ahead = microseconds(server_us) -
                                   duration_cast<microseconds>(received.time_since_epoch());
        // The fastest reply is the best. A newer one replaces it after a while, and at once if it
        // is far behind: the server's clock may have stepped back, and a limit that is too early
        // costs only another try.
        if (!ahead_ || ahead > *ahead_ || ahead < *ahead_ - seconds(1) ||
            received - learned_ > seconds(5)) {
            ahead_ = ahead;
            learned_ = received;
        }
    }

    /// The server's time in microseconds at `now` plus `budget`. 0, which means none, if nothing is
    /// known.
    std::int64_t limit(clock::time_point now, std::chrono::milliseconds budget) const noexcept
    {
        using namespace std::chrono;
        if (!ahead_)
            return 0;
        constexpr milliseconds longest = years(100);
        const microseconds at = duration_cast<microseconds>(now.time_since_epoch()) + *ahead_;
        return std::max<std::int64_t>(1, (at + std::clamp(budget, -longest, longest)).count());
    }

    /// The least time that it can show at `now`, in microseconds, even if the clocks have drifted
    /// apart since its last reply. 0: unknown.
    std::int64_t at_least(clock::time_point now) const noexcept
    {
        using namespace std::chrono;
        if (!ahead_)
            return 0;
        const microseconds age = duration_cast<microseconds>(now - learned_);
        const microseconds at = duration_cast<microseconds>(now.time_since_epoch()) + *ahead_;
        return std::max<std::int64_t>(0, (at - age / 1'000).count());
    }

private:
    std::optional<std::chrono::microseconds> ahead_; ///< Of the local clock.
    clock::time_point learned_;
};

} // namespace leasehold::detail

#endif
