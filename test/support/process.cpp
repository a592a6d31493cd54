#include "support/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace leasehold::test {
namespace {

using steady = std::chrono::steady_clock;

// A socket pair instead of a pipe: writing to a program that has ended is then an error and not a
// signal.
std::pair<int, int> channel()
{
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        throw std::system_error(errno, std::generic_category(), "socketpair");
    for (const int end : ends)
        ::fcntl(end, F_SETFD, FD_CLOEXEC);
    return {ends[0], ends[1]};
}

void close_and_forget(int& descriptor)
{
    if (descriptor >= 0)
        ::close(std::exchange(descriptor, -1));
}

} // namespace

process::process(std::vector<std::string> command, environment_t environment)
{
    auto [to_child, child_input] = channel();
    auto [from_child, child_output] = channel();
    input_ = to_child;
    output_ = from_child;
    child_ = child({.command = std::move(command),
                    .environment = std::move(environment),
                    .input = child_input,
                    .output = child_output});
    ::close(child_input);
    ::close(child_output);
}

process::~process()
{
    close_and_forget(input_);
    close_and_forget(output_);
}

void process::write_line(std::string_view line)
{
    std::string all(line);
    all += '\n';
    for (std::size_t sent = 0; sent < all.size();) {
        const ssize_t size = ::send(input_, all.data() + sent, all.size() - sent, MSG_NOSIGNAL);
        if (size < 0 && errno != EINTR)
            throw std::system_error(errno, std::generic_category(), "the program does not read");
        sent += size > 0 ? static_cast<std::size_t>(size) : 0;
    }
}

void process::close_input()
{
    close_and_forget(input_);
}

// Returns false if there was no output within the limit. The end of the output counts as output.
bool process::fill(std::chrono::milliseconds limit)
{
    pollfd watched{.fd = output_, .events = POLLIN, .revents = 0};
    if (::poll(&watched, 1, static_cast<int>(limit.count())) <= 0)
        return false;
    std::array<char, 4096> buffer;
    const ssize_t size = ::read(output_, buffer.data(), buffer.size());
    if (size > 0)
        received_.append(buffer.data(), static_cast<std::size_t>(size));
    else if (size == 0 || errno != EINTR)
        output_ended_ = true;
    return true;
}

std::optional<std::string> process::read_line(std::chrono::milliseconds limit)
{
    const auto end = steady::now() + limit;
    for (;;) {
        if (const std::size_t at = received_.find('\n'); at != std::string::npos) {
            std::string line = received_.substr(0, at);
            received_.erase(0, at + 1);
            return line;
        }
        if (output_ended_) {
            if (received_.empty())
                return std::nullopt;
            return std::exchange(received_, {});
        }
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - steady::now());
        if (left.count() <= 0 || (!fill(left) && steady::now() >= end))
            throw std::runtime_error("the program printed no line in time");
    }
}

void process::expect(std::string_view line, std::chrono::milliseconds limit)
{
    const auto end = steady::now() + limit;
    for (;;) {
        const auto next = read_line(
            std::chrono::ceil<std::chrono::milliseconds>(end - steady::now()));
        if (!next)
            throw std::runtime_error("the program ended without printing: " + std::string(line));
        if (*next == line)
            return;
    }
}

bool process::has_line()
{
    while (received_.find('\n') == std::string::npos && !output_ended_ &&
           fill(std::chrono::milliseconds(0))) {
    }
    return received_.find('\n') != std::string::npos;
}

ending process::wait(std::chrono::milliseconds limit)
{
    if (const auto how = child_.wait(limit))
        return *how;
    throw std::runtime_error("the program does not end");
}

} // namespace leasehold::test
