#include "support/port.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace leasehold::test {

reserved_port::reserved_port() : socket_(::socket(AF_INET, SOCK_STREAM, 0))
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    const int on = 1;
    if (socket_ < 0 || ::fcntl(socket_, F_SETFD, FD_CLOEXEC) != 0 ||
        ::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        ::bind(socket_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
        const std::error_code why(errno, std::generic_category());
        if (socket_ >= 0)
            ::close(socket_);
        throw std::system_error(why, "no loopback port to reserve");
    }
    number_ = ntohs(address.sin_port);
}

reserved_port::~reserved_port()
{
    if (socket_ >= 0)
        ::close(socket_);
}

reserved_port::reserved_port(reserved_port&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      number_(std::exchange(other.number_, std::uint16_t{0}))
{}

reserved_port& reserved_port::operator=(reserved_port&& other) noexcept
{
    std::swap(socket_, other.socket_);
    std::swap(number_, other.number_);
    return *this;
}

} // namespace leasehold::test
