#ifndef LEASEHOLD_BENCHMARK_CONTENDER_HPP
#define LEASEHOLD_BENCHMARK_CONTENDER_HPP

#include <chrono>
#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

namespace leasehold::benchmark {

/// What one process does in a contest for one name: some clients, each with some coroutines that
/// take the lock and leave it at once, over and over.
struct contender_task
{
    std::string url;
    std::size_t clients = 1;
    std::size_t tasks = 1; ///< Of each client.
    bool local_handoff = true;
    std::chrono::steady_clock::time_point begin; ///< What is counted; the clock is the machine's.
    std::chrono::steady_clock::time_point end;
};

/// What it saw between begin and end.
struct contender_result
{
    std::vector<double> grants; ///< Of each task.
    std::vector<double> waits;  ///< Seconds from asking to holding.
};

/// The words that `contend` takes, so that a process can be started for it.
std::vector<std::string> to_words(const contender_task&);

/// In the process that was started: does it, and writes what it saw.
int contend(const std::vector<std::string>& words, std::ostream& out);

/// In the process that started it: reads what was written.
/// @throws std::runtime_error it is not whole.
contender_result read_result(const std::string& text);

} // namespace leasehold::benchmark

#endif
