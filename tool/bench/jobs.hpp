#ifndef LEASEHOLD_TOOL_BENCH_JOBS_HPP
#define LEASEHOLD_TOOL_BENCH_JOBS_HPP

#include "measurements.hpp"

#include <leasehold/config.hpp>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace leasehold::tool::bench {

struct job_settings
{
    config where;
    std::string prefix; ///< Of all names; nobody else uses them.
    std::chrono::milliseconds time{};
    std::size_t coroutines = 0;
};

/// Runs the jobs, one after the other, and ends early at INT or TERM.
class jobs
{
public:
    explicit jobs(job_settings settings) : settings_(std::move(settings)) {}

    /// @param work What the servers have spent; nothing: they do not say.
    /// @throws boost::system::system_error What the library failed with.
    [[nodiscard]] measurements run(const std::function<std::optional<server_work>()>& work);

    /// A signal has ended it.
    [[nodiscard]] int signal() const noexcept { return signal_; }

    /// All names that are locked.
    [[nodiscard]] std::vector<std::string> names() const;

private:
    void one_after_the_other(measurements& to);
    void many_at_a_time(measurements& to);
    void two_in_turns(measurements& to);

    job_settings settings_;
    int signal_ = 0;
};

} // namespace leasehold::tool::bench

#endif
