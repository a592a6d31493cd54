#ifndef LEASEHOLD_TOOL_BENCH_MEASUREMENTS_HPP
#define LEASEHOLD_TOOL_BENCH_MEASUREMENTS_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace leasehold::tool::bench {

using std::chrono::nanoseconds;

/// The durations of an operation.
class durations
{
public:
    void add(nanoseconds each) { all_.push_back(each); }
    [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
    /// The smallest duration that `percent` percent of them do not exceed; 0 if there is none.
    [[nodiscard]] nanoseconds percentile(double percent) const;

private:
    std::vector<nanoseconds> all_;
};

/// The total work of the servers since their start.
struct server_work
{
    double cpu_seconds = 0;
    std::int64_t commands = 0;
};

struct measurements
{
    /// One coroutine acquires and releases a free lock.
    durations acquire{};
    durations release{};
    double locks_a_second = 0;

    /// Many coroutines, each with its own lock.
    std::size_t coroutines = 0;
    std::size_t locks_together = 0;
    double locks_a_second_together = 0;
    /// For one acquire and release; without a value if the servers do not report it.
    std::optional<double> server_microseconds{};
    std::optional<double> server_commands{};

    /// Two clients share one lock: from the call of the release until the other one holds it.
    durations handoff{};
    double handoffs_a_second = 0;
};

[[nodiscard]] std::string as_text(const measurements& of);
[[nodiscard]] std::string as_json(const measurements& of);

} // namespace leasehold::tool::bench

#endif
