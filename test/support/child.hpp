#ifndef LEASEHOLD_TEST_SUPPORT_CHILD_HPP
#define LEASEHOLD_TEST_SUPPORT_CHILD_HPP

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace leasehold::test {

using environment_t = std::vector<std::pair<std::string, std::string>>;

/// How a child is started. The first word of `command` is looked up in PATH.
struct launch
{
    std::vector<std::string> command;
    environment_t environment{}; ///< Added to the environment of this process.
    int input = -1;              ///< A descriptor that becomes its standard input; -1: inherited.
    int output = -1;             ///< The same for standard output.
};

/// How a process ended: by `exit(code)` or by a signal.
struct ending
{
    int code = -1;
    int signal = 0;
};

/// A process started by this one. Killed and reaped by the destructor. On Linux, it is also killed
/// when the *thread* that started it ends, so start it from a thread that lives long enough.
class child
{
public:
    child() = default;
    explicit child(const launch& program);
    ~child() { kill(); }
    child(child&& other) noexcept : pid_(std::exchange(other.pid_, -1)), ending_(other.ending_) {}
    child& operator=(child&& other) noexcept;

    pid_t pid() const noexcept { return pid_; }
    /// Whether it has started and has not ended. A stopped process counts as running.
    bool running();

    /// Sends SIGKILL, and returns when the process has ended. No effect if it has ended already.
    void kill() noexcept;
    /// Sends SIGSTOP, and returns when it has stopped.
    void pause();
    /// Sends SIGCONT, and returns when it continues.
    void resume();
    void signal(int number);

    /// Waits until the process ends. Empty if it did not within `limit`.
    std::optional<ending> wait(std::chrono::milliseconds limit);

private:
    void await_state(int flags);

    pid_t pid_ = -1;
    ending ending_;
};

} // namespace leasehold::test

#endif
