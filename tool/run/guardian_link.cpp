#include "guardian_link.hpp"

#include "base/uninterrupted.hpp"

#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <system_error>
#include <type_traits>
#include <unistd.h>

namespace leasehold::tool {

using detail::uninterrupted;

void make_guardian_links(int (&sockets)[2])
{
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
        throw std::system_error(errno, std::generic_category(), "cannot create a pair of sockets");
}

guardian_link::~guardian_link()
{
    if (socket_ >= 0)
        ::close(socket_);
}

bool guardian_link::send(std::string_view message) const noexcept
{
    // A send to a closed end not only fails, but also drops the messages received from it.
    pollfd other{socket_, 0, 0};
    if (::poll(&other, 1, 0) == 1 && (other.revents & POLLHUP) != 0) {
        errno = EPIPE;
        return false;
    }
    return uninterrupted(
               [&] { return ::send(socket_, message.data(), message.size(), MSG_NOSIGNAL); }) >= 0;
}

void guardian_link::start(const std::vector<std::string>& environment) const
{
    std::string message(1, static_cast<char>(order::start));
    for (const std::string& each : environment)
        message.append(each).push_back('\0');
    if (!send(message) && errno != EPIPE)
        throw std::system_error(errno, std::generic_category(),
                                "cannot send the start of the command");
}

void guardian_link::check() const noexcept
{
    const char message = static_cast<char>(order::check);
    send({&message, 1});
}

void guardian_link::forward(int signal) const noexcept
{
    const char message[] = {static_cast<char>(order::forward), static_cast<char>(signal)};
    send({message, sizeof(message)});
}

bool guardian_link::receive(outcome& to) const noexcept
{
    static_assert(std::is_trivially_copyable_v<outcome>);
    const auto read = [&] {
        return uninterrupted([&] { return ::recv(socket_, &to, sizeof(to), 0); });
    };
    ssize_t size = read();
    // The other end was closed before it had read everything; its messages can still be read.
    if (size < 0 && errno == ECONNRESET)
        size = read();
    return size == static_cast<ssize_t>(sizeof(to));
}

std::string guardian_link::receive_order() const
{
    // Reads the length first: a message that does not fit is truncated.
    ssize_t size = uninterrupted([&] { return ::recv(socket_, nullptr, 0, MSG_PEEK | MSG_TRUNC); });
    if (size <= 0)
        return {};
    std::string message(static_cast<std::size_t>(size), '\0');
    size = uninterrupted([&] { return ::recv(socket_, message.data(), message.size(), 0); });
    message.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return message;
}

void guardian_link::notify(const outcome& what) const noexcept
{
    char bytes[sizeof(what)];
    std::memcpy(bytes, &what, sizeof(what));
    send({bytes, sizeof(bytes)});
}

} // namespace leasehold::tool
