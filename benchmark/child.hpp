#ifndef LEASEHOLD_BENCHMARK_CHILD_HPP
#define LEASEHOLD_BENCHMARK_CHILD_HPP

#include <sys/types.h>

#include <string>
#include <vector>

namespace leasehold::benchmark {

/// This program once more, with other words. Killed when the object goes and it still runs.
class child
{
public:
    explicit child(const std::vector<std::string>& words);
    ~child();
    child(child&&) noexcept;
    child& operator=(child&&) = delete;

    /// What it wrote until it ended. Its standard error is this program's.
    /// @throws std::runtime_error it failed.
    std::string wait();

private:
    pid_t id_ = -1;
    int output_ = -1;
};

} // namespace leasehold::benchmark

#endif
