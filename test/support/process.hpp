#ifndef LEASEHOLD_TEST_SUPPORT_PROCESS_HPP
#define LEASEHOLD_TEST_SUPPORT_PROCESS_HPP

#include "support/child.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::test {

/// A helper program that communicates with a test in lines, through its standard input and output.
/// Killed by the destructor, and with the thread that started it. One thread at a time.
class process
{
public:
    static constexpr std::chrono::milliseconds default_limit = std::chrono::seconds(10);

    explicit process(std::vector<std::string> command, environment_t environment = {});
    ~process();
    process(const process&) = delete;
    process& operator=(const process&) = delete;

    void write_line(
        std::string_view line); ///< Throws `std::runtime_error` if the program no longer reads.
    void close_input();         ///< Ends the input of the program.

    /// The next line without its end. Empty at the end of the output. Throws `std::runtime_error`
    /// after `limit`.
    std::optional<std::string> read_line(std::chrono::milliseconds limit = default_limit);
    /// Reads lines until one is `line`. Throws `std::runtime_error` if the output ends before, or
    /// after `limit`.
    void expect(std::string_view line, std::chrono::milliseconds limit = default_limit);
    bool has_line(); ///< Whether a line can be read without waiting.

    pid_t pid() const noexcept { return child_.pid(); }
    bool running() { return child_.running(); }
    void kill() { child_.kill(); }
    void pause() { child_.pause(); }
    void resume() { child_.resume(); }
    void signal(int number) { child_.signal(number); }
    /// Throws `std::runtime_error` if it does not end within `limit`.
    ending wait(std::chrono::milliseconds limit = default_limit);

private:
    bool fill(std::chrono::milliseconds limit);

    child child_;
    int input_ = -1;
    int output_ = -1;
    std::string received_;
    bool output_ended_ = false;
};

} // namespace leasehold::test

#endif
