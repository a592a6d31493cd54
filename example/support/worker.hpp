#ifndef LEASEHOLD_EXAMPLE_WORKER_HPP
#define LEASEHOLD_EXAMPLE_WORKER_HPP

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace example {

/// A process with the same program and other arguments. Its stdin and stdout are pipes to this
/// process. The end of its stdin shows a worker that its parent has ended. Start workers before
/// anything of Asio exists.
class worker
{
public:
    /// @param program `argv[0]`.
    /// @throws std::system_error
    worker(const char* program, std::vector<std::string> arguments);
    /// Kills the worker if it still runs.
    ~worker();
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;

    /// Returns the read end of its stdout, once. The caller closes it.
    [[nodiscard]] int take_output() noexcept;

    /// Writes a line to its stdin; does nothing if it has ended.
    void send(std::string_view line) noexcept;

    /// Closes its stdin.
    void close_input() noexcept;

    /// Sends SIGKILL.
    void kill() noexcept;

    /// Waits for its end. Returns 0 after success.
    int wait() noexcept;

private:
    pid_t process_ = -1;
    int input_ = -1;
    int output_ = -1;
    int result_ = 0;
};

} // namespace example

#endif
