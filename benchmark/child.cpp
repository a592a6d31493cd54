#include "child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace leasehold::benchmark {

child::child(const std::vector<std::string>& words)
{
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        throw std::system_error(errno, std::generic_category(), "pipe");
    std::string self = "/proc/self/exe";
    std::vector<std::string> all = words;
    std::vector<char*> arguments{self.data()};
    for (std::string& each : all)
        arguments.push_back(each.data());
    arguments.push_back(nullptr);

    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    const int failed = ::posix_spawn(&id_, self.c_str(), &actions, nullptr, arguments.data(),
                                     environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    output_ = ends[0];
    if (failed != 0) {
        ::close(output_);
        throw std::system_error(failed, std::generic_category(), self);
    }
}

child::child(child&& other) noexcept
    : id_(std::exchange(other.id_, -1)), output_(std::exchange(other.output_, -1))
{}

child::~child()
{
    if (output_ >= 0)
        ::close(output_);
    if (id_ > 0) {
        ::kill(id_, SIGKILL);
        ::waitpid(id_, nullptr, 0);
    }
}

std::string child::wait()
{
    std::string text;
    std::array<char, 65'536> part{};
    for (;;) {
        const ssize_t count = ::read(output_, part.data(), part.size());
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            break;
        text.append(part.data(), static_cast<std::size_t>(count));
    }
    int status = 0;
    while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    id_ = -1;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        throw std::runtime_error("a process of the measurement failed");
    return text;
}

} // namespace leasehold::benchmark
