#ifndef LEASEHOLD_TEST_CHAOS_PROGRESS_HPP
#define LEASEHOLD_TEST_CHAOS_PROGRESS_HPP

#include <chrono>
#include <functional>
#include <string>

namespace leasehold::test::chaos {

/// Prints the progress: once a second on a line that is overwritten on a terminal, otherwise every
/// ten seconds on a new one.
class progress
{
public:
    progress();
    ~progress() { end_line(); }
    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;

    void say(const std::function<std::string()>& text);

    /// The next output begins on a new line.
    void end_line();

private:
    using steady = std::chrono::steady_clock;

    const bool terminal_;
    steady::time_point said_ = steady::now();
    bool open_ = false;
};

} // namespace leasehold::test::chaos

#endif
