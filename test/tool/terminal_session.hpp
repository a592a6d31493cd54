#ifndef LEASEHOLD_TEST_TOOL_TERMINAL_SESSION_HPP
#define LEASEHOLD_TEST_TOOL_TERMINAL_SESSION_HPP

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <poll.h>
#include <pty.h>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace leasehold::test {

/// A program on its own terminal. The destructor kills it.
class terminal_session
{
public:
    using variables = std::vector<std::pair<std::string, std::string>>;

    terminal_session(std::vector<std::string> command, const variables& environment)
    {
        winsize size{.ws_row = 10, .ws_col = 60, .ws_xpixel = 0, .ws_ypixel = 0};
        std::vector<char*> words;
        for (std::string& each : command)
            words.push_back(each.data());
        words.push_back(nullptr);
        child_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
        BOOST_TEST_REQUIRE(child_ >= 0);
        if (child_ != 0)
            return;
        for (const auto& [name, value] : environment)
            ::setenv(name.c_str(), value.c_str(), 1);
        ::execvp(words[0], words.data());
        ::_exit(127);
    }

    terminal_session(const terminal_session&) = delete;
    terminal_session& operator=(const terminal_session&) = delete;

    ~terminal_session()
    {
        ::close(terminal_);
        if (child_ <= 0)
            return;
        ::kill(child_, SIGKILL);
        ::waitpid(child_, nullptr, 0);
    }

    void type(std::string_view text)
    {
        BOOST_TEST(::write(terminal_, text.data(), text.size()) ==
                   static_cast<ssize_t>(text.size()));
    }

    /// Waits until the terminal shows this text after the text of the previous wait.
    void read_until(const std::string& part)
    {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        std::size_t at = 0;
        while ((at = seen_.find(part)) == std::string::npos) {
            BOOST_TEST_REQUIRE((std::chrono::steady_clock::now() < deadline),
                               "no " << part << " in " << seen_);
            pollfd ready{terminal_, POLLIN, 0};
            if (::poll(&ready, 1, 100) <= 0)
                continue;
            char bytes[4096];
            const ssize_t count = ::read(terminal_, bytes, sizeof bytes);
            // the program has ended
            BOOST_TEST_REQUIRE(count > 0, "no " << part << " in " << seen_);
            seen_.append(bytes, static_cast<std::size_t>(count));
        }
        seen_.erase(0, at + part.size());
    }

    /// The exit code of the program, or 128 plus the number of the signal that ended it.
    int wait()
    {
        int status = 0;
        BOOST_TEST(::waitpid(std::exchange(child_, -1), &status, 0) > 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

private:
    int terminal_ = -1;
    pid_t child_ = -1;
    std::string seen_;
};

} // namespace leasehold::test

#endif
