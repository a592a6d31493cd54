#include "support/worker.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

extern char** environ;

namespace example {
namespace {

void check(int error, const char* what)
{
    if (error != 0)
        throw std::system_error(error, std::generic_category(), what);
}

struct channel
{
    channel()
    {
        int ends[2];
        check(::pipe(ends) == 0 ? 0 : errno, "pipe");
        read_end = ends[0];
        write_end = ends[1];
        // Otherwise each worker would inherit the pipes of earlier workers, which then could not
        // read the end of their stdin.
        for (const int end : ends)
            ::fcntl(end, F_SETFD, FD_CLOEXEC);
    }
    ~channel()
    {
        for (const int end : {read_end, write_end}) {
            if (end >= 0)
                ::close(end);
        }
    }
    channel(const channel&) = delete;
    channel& operator=(const channel&) = delete;

    int read_end = -1;
    int write_end = -1;
};

} // namespace

worker::worker(const char* program, std::vector<std::string> arguments)
{
    std::signal(SIGPIPE,
                SIG_IGN); // the end of a worker must only be an error of write()
    channel to;
    channel from;
    std::vector<char*> words;
    std::string name = program;
    words.push_back(name.data());
    for (std::string& argument : arguments)
        words.push_back(argument.data());
    words.push_back(nullptr);

    posix_spawn_file_actions_t actions;
    check(::posix_spawn_file_actions_init(&actions), "posix_spawn");
    ::posix_spawn_file_actions_adddup2(&actions, to.read_end, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, from.write_end, STDOUT_FILENO);
    const int error = ::posix_spawnp(&process_, program, &actions, nullptr, words.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    check(error, program);
    input_ = std::exchange(to.write_end, -1);
    output_ = std::exchange(from.read_end, -1);
}

worker::~worker()
{
    close_input();
    if (output_ >= 0)
        ::close(output_);
    kill();
    wait();
}

int worker::take_output() noexcept
{
    return std::exchange(output_, -1);
}

void worker::send(std::string_view line) noexcept
{
    const std::string text = std::string(line) + '\n';
    // A line is shorter than PIPE_BUF, so it is written whole or not at all.
    [[maybe_unused]] const ssize_t written = ::write(input_, text.data(), text.size());
}

void worker::close_input() noexcept
{
    if (input_ >= 0)
        ::close(std::exchange(input_, -1));
}

void worker::kill() noexcept
{
    if (process_ > 0)
        ::kill(process_, SIGKILL);
}

int worker::wait() noexcept
{
    if (process_ > 0) {
        int status = 0;
        while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
        }
        process_ = -1;
        result_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    return result_;
}

} // namespace example
