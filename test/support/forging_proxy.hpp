#ifndef LEASEHOLD_TEST_SUPPORT_FORGING_PROXY_HPP
#define LEASEHOLD_TEST_SUPPORT_FORGING_PROXY_HPP

#include "support/redis_server.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace leasehold::test {

/// A proxy between clients and one server, on its own thread, that answers for the server with
/// malformed bytes. Every function may be called from any thread.
class forging_proxy
{
public:
    /// The pieces in which the bytes are sent. On a local socket, each is sent when the client has
    /// read the one before, so that it reads them one by one.
    using pieces = std::vector<std::string>;

    /// Listens on a local socket, or on a port of 127.0.0.1.
    explicit forging_proxy(const redis_server& upstream, bool tcp = false);
    ~forging_proxy();
    forging_proxy(const forging_proxy&) = delete;
    forging_proxy& operator=(const forging_proxy&) = delete;

    std::string url() const;
    std::uint16_t port() const noexcept; ///< 0 if it listens on a local socket.

    /// Each request with this text, on any connection, gets one of the replies, in this order, and
    /// does not reach the server. After that, the connection is silent, and remains open until the
    /// client ends it. When all replies are used, requests pass again.
    void forge(std::string text, std::vector<pieces> answers);

    /// The number of unused replies.
    std::size_t left() const;

    /// Waits until all replies were used, and the clients have ended each connection that got one.
    /// Throws `std::runtime_error` after `limit`.
    void wait_until_ended(std::chrono::milliseconds limit = std::chrono::seconds(60));

private:
    class engine;
    std::unique_ptr<engine> engine_;
};

} // namespace leasehold::test

#endif
