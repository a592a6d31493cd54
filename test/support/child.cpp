#include "support/child.hpp"

#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>

extern char** environ;

namespace leasehold::test {
namespace {

std::vector<std::string> merged_environment(const environment_t& added)
{
    std::vector<std::string> all;
    for (const auto& [name, value] : added)
        all.push_back(name + '=' + value);
    const std::size_t count = all.size();
    for (char** entry = environ; *entry != nullptr; ++entry) {
        bool replaced = false;
        for (std::size_t i = 0; i < count; ++i)
            replaced = replaced || std::string_view(*entry).starts_with(added[i].first + '=');
        if (!replaced)
            all.emplace_back(*entry);
    }
    return all;
}

std::vector<char*> pointers(std::vector<std::string>& words)
{
    std::vector<char*> all;
    for (std::string& word : words)
        all.push_back(word.data());
    all.push_back(nullptr);
    return all;
}

ending how(int status)
{
    return WIFSIGNALED(status) ? ending{-1, WTERMSIG(status)} : ending{WEXITSTATUS(status), 0};
}

// Asio opens its sockets without O_CLOEXEC: a child that inherits one keeps the connection open
// when the test closes it.
void close_inherited() noexcept
{
#if defined(SYS_close_range)
    if (::syscall(SYS_close_range, 3U, ~0U, 0U) == 0)
        return;
#endif
    const long count = ::sysconf(_SC_OPEN_MAX);
    for (int descriptor = 3; descriptor < (count > 0 && count < 65536 ? count : 65536);
         ++descriptor)
        ::close(descriptor);
}

// Between fork and exec: must not allocate or lock.
[[noreturn]] void become(char** arguments, char** variables, int input, int output, pid_t parent)
{
#if defined(__linux__)
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (::getppid() != parent)
        ::_exit(127);
    if (input >= 0)
        ::dup2(input, STDIN_FILENO);
    if (output >= 0)
        ::dup2(output, STDOUT_FILENO);
    close_inherited();
    environ = variables;
    ::execvp(arguments[0], arguments);
    ::_exit(127);
}

} // namespace

child::child(const launch& program)
{
    std::vector<std::string> words = program.command;
    std::vector<std::string> variables = merged_environment(program.environment);
    const std::vector<char*> word_pointers = pointers(words);
    const std::vector<char*> variable_pointers = pointers(variables);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0)
        become(const_cast<char**>(word_pointers.data()),
               const_cast<char**>(variable_pointers.data()), program.input, program.output, parent);
    if (pid_ < 0)
        throw std::system_error(errno, std::generic_category(), "fork");
}

child& child::operator=(child&& other) noexcept
{
    if (this != &other) {
        kill();
        pid_ = std::exchange(other.pid_, -1);
        ending_ = other.ending_;
    }
    return *this;
}

bool child::running()
{
    return pid_ > 0 && !wait(std::chrono::milliseconds(0));
}

void child::kill() noexcept
{
    if (pid_ <= 0)
        return;
    ::kill(pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    ending_ = how(status);
    pid_ = -1;
}

void child::signal(int number)
{
    if (pid_ <= 0 || ::kill(pid_, number) != 0)
        throw std::runtime_error("signal to a process that has ended");
}

void child::await_state(int flags)
{
    int status = 0;
    while (::waitpid(pid_, &status, flags) < 0)
        if (errno != EINTR)
            throw std::system_error(errno, std::generic_category(), "waitpid");
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
        ending_ = how(status);
        pid_ = -1;
        throw std::runtime_error("the process has ended");
    }
}

void child::pause()
{
    signal(SIGSTOP);
    await_state(WUNTRACED);
}

void child::resume()
{
    signal(SIGCONT);
    await_state(WCONTINUED);
}

std::optional<ending> child::wait(std::chrono::milliseconds limit)
{
    if (pid_ <= 0)
        return ending_;
    // No portable call waits for one process with a time limit.
    const auto end = std::chrono::steady_clock::now() + limit;
    for (;;) {
        int status = 0;
        if (::waitpid(pid_, &status, WNOHANG) == pid_) {
            pid_ = -1;
            return ending_ = how(status);
        }
        if (std::chrono::steady_clock::now() >= end)
            return std::nullopt;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

} // namespace leasehold::test
