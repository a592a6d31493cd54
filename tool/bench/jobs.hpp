#ifndef LEASEHOLD_TOOL_BENCH_JOBS_HPP
#define LEASEHOLD_TOOL_BENCH_JOBS_HPP

#include "measurements.hpp"

#include <leasehold/store.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace leasehold::tool::bench {

struct job_settings
{
    std::function<std::shared_ptr<store>()> make_store; ///< Each client has its own.
    std::string prefix; ///< The prefix of all names, which no other process uses.
    std::chrono::milliseconds time{};
    std::size_t coroutines = 0;
};

/// Runs the jobs one after the other. INT and TERM end them early.
class jobs
{
public:
    explicit jobs(job_settings settings) : settings_(std::move(settings)) {}

    /// @param work Returns the work of the servers, or no value if they do not report it.
    /// @throws boost::system::system_error The error of the library.
    [[nodiscard]] measurements run(const std::function<std::optional<server_work>()>& work);

    /// The signal that ended the jobs; 0: none.
    [[nodiscard]] int signal() const noexcept { return signal_; }

    /// The names of all locks.
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
