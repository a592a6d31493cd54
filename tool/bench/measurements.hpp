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

/// How long something took, each time.
class durations
{
public:
    void add(nanoseconds each) { all_.push_back(each); }
    [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
    /// That which so many of a hundred are not above; 0 without any.
    [[nodiscard]] nanoseconds percentile(double percent) const;

private:
    std::vector<nanoseconds> all_;
};

/// What the servers have spent, all together, since they were started.
struct server_work
{
    double cpu_seconds = 0;
    std::int64_t commands = 0;
};

struct measurements
{
    /// One coroutine takes and leaves a lock that nobody else wants.
    durations acquire{};
    durations release{};
    double locks_a_second = 0;

    /// Many, each its own lock.
    std::size_t coroutines = 0;
    std::size_t locks_together = 0;
    double locks_a_second_together = 0;
    /// Of one lock, taken and left; nothing where the servers do not say.
    std::optional<double> server_microseconds{};
    std::optional<double> server_commands{};

    /// Two clients want one lock: from the call that releases it to the other's having it.
    durations handover{};
    double handovers_a_second = 0;
};

[[nodiscard]] std::string as_text(const measurements& of);
[[nodiscard]] std::string as_json(const measurements& of);

} // namespace leasehold::tool::bench

#endif
