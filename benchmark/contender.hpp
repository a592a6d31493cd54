#ifndef LEASEHOLD_BENCHMARK_CONTENDER_HPP
#define LEASEHOLD_BENCHMARK_CONTENDER_HPP

#include <chrono>
#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

namespace leasehold::benchmark {

/// The task of one process in a contest for one name: some clients, each with some coroutines that
/// repeatedly acquire the lock and release it at once.
struct contender_task
{
    std::string url;
    std::size_t clients = 1;
    std::size_t tasks = 1; ///< Of each client.
    bool local_handoff = true;
    std::chrono::steady_clock::time_point begin; ///< Begin of the count, by the machine's clock.
    std::chrono::steady_clock::time_point end;
};

/// The results between begin and end.
struct contender_result
{
    std::vector<double> grants; ///< Of each task.
    std::vector<double> waits;  ///< Seconds from the call to the grant.
};

/// The arguments of a process that calls `contend`.
std::vector<std::string> to_words(const contender_task&);

/// Runs the task in the started process, and writes the results.
int contend(const std::vector<std::string>& words, std::ostream& out);

/// Reads the results in the starting process.
/// @throws std::runtime_error They are incomplete.
contender_result read_result(const std::string& text);

} // namespace leasehold::benchmark

#endif
