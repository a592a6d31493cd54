#ifndef LEASEHOLD_BENCHMARK_CHILD_HPP
#define LEASEHOLD_BENCHMARK_CHILD_HPP

#include <sys/types.h>

#include <string>
#include <vector>

namespace leasehold::benchmark {

/// A process with the same program and other arguments. The destructor kills it if it still runs.
class child
{
public:
    explicit child(const std::vector<std::string>& words);
    ~child();
    child(child&&) noexcept;
    child& operator=(child&&) = delete;

    /// Waits for its end, and returns its standard output. Its standard error is that of this
    /// process.
    /// @throws std::runtime_error The process failed.
    std::string wait();

private:
    pid_t id_ = -1;
    int output_ = -1;
};

} // namespace leasehold::benchmark

#endif
