#ifndef LEASEHOLD_TEST_SUPPORT_PORT_HPP
#define LEASEHOLD_TEST_SUPPORT_PORT_HPP

#include <cstdint>

namespace leasehold::test {

/// A loopback TCP port that no other program gets during the lifetime of this object, although
/// nothing listens on it.
///
/// A socket bound to it, which never listens, prevents its use for port 0 and for outgoing
/// connections. A server that sets SO_REUSEADDR, as redis-server and Asio's acceptors do, can
/// listen on it, end, and listen again.
class reserved_port
{
public:
    reserved_port();
    ~reserved_port();
    reserved_port(reserved_port&& other) noexcept;
    reserved_port& operator=(reserved_port&& other) noexcept;

    std::uint16_t number() const noexcept { return number_; }

private:
    int socket_ = -1;
    std::uint16_t number_ = 0;
};

} // namespace leasehold::test

#endif
