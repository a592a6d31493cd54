#ifndef LEASEHOLD_EXAMPLE_WORKER_HPP
#define LEASEHOLD_EXAMPLE_WORKER_HPP

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace example {

/// This program once more, as a process of its own with other arguments. Its stdin and stdout are
/// pipes to here: a worker that reads the end of its stdin knows that its parent is gone. Start
/// workers before anything else of Asio exists.
class worker
{
public:
    /// @param program `argv[0]`.
    /// @throws std::system_error
    worker(const char* program, std::vector<std::string> arguments);
    /// Kills it if it still runs.
    ~worker();
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;

    /// The other end of its stdout. The caller closes it; once only.
    [[nodiscard]] int take_output() noexcept;

    /// Writes a line to its stdin; nothing when it has ended.
    void tell(std::string_view line) noexcept;

    /// Ends its stdin.
    void close_input() noexcept;

    /// SIGKILL.
    void kill() noexcept;

    /// Waits for its end. 0 when it ended with success.
    int wait() noexcept;

private:
    pid_t process_ = -1;
    int input_ = -1;
    int output_ = -1;
    int result_ = 0;
};

} // namespace example

#endif
