#ifndef LEASEHOLD_BENCHMARK_HEARTBEAT_HPP
#define LEASEHOLD_BENCHMARK_HEARTBEAT_HPP

#include "sample.hpp"

#include <vector>

namespace leasehold::benchmark {

/// Beats every millisecond on a loop and records the delay of each beat: other handlers of that
/// loop have the same delay.
class heartbeat
{
public:
    /// Beats until `end`.
    boost::asio::awaitable<void> run(steady::time_point end);

    [[nodiscard]] double longest_delay() const; ///< Seconds.
    [[nodiscard]] double delay_of(
        double part) const; ///< Seconds; the quantile `part` of the delays.

private:
    std::vector<double> delays_;
};

} // namespace leasehold::benchmark

#endif
