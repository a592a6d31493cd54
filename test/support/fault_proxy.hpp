#ifndef LEASEHOLD_TEST_SUPPORT_FAULT_PROXY_HPP
#define LEASEHOLD_TEST_SUPPORT_FAULT_PROXY_HPP

#include "support/redis_server.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::test {

/// A proxy between clients and one server, on its own thread, that simulates network faults.
///
/// Every function may be called from any thread. When a function that switches on a fault has
/// returned, the fault is in effect for bytes that the proxy has not written yet. Faults with a
/// text act on requests that contain it, once, on any connection. The proxy can separate the
/// requests of the Redis protocol and find their replies. It forwards data that it cannot read
/// (TLS) as bytes, and faults with a text do not see it. Requests and replies are forwarded as a
/// whole.
class fault_proxy
{
public:
    struct counters
    {
        std::uint64_t accepted = 0; ///< Connections since the start.
        std::uint64_t open = 0;     ///< Connections now.
        std::uint64_t resets = 0;   ///< Connections that the proxy has reset.
        std::uint64_t requests = 0; ///< Requests that clients have sent.
        std::uint64_t replies = 0;  ///< Replies that the server has sent, without pushes.
        std::uint64_t request_bytes = 0;
        std::uint64_t reply_bytes = 0;
    };
    using milliseconds = std::chrono::milliseconds;
    using predicate =
        std::function<bool(std::string_view request)>; ///< Called on the proxy's thread.
    static constexpr milliseconds default_limit = std::chrono::seconds(10);

    explicit fault_proxy(const stream_endpoint& upstream);
    explicit fault_proxy(const redis_server& upstream) : fault_proxy(upstream.endpoint()) {}
    /// @param here A local socket, at which the proxy listens instead of a port. All users may
    ///     connect to it.
    fault_proxy(const stream_endpoint& upstream, const std::string& here);
    ~fault_proxy();
    fault_proxy(const fault_proxy&) = delete;
    fault_proxy& operator=(const fault_proxy&) = delete;

    std::uint16_t port() const noexcept; ///< 0: it listens at a local socket.
    stream_endpoint endpoint() const { return loopback_endpoint(port()); }
    std::string url() const { return "redis://127.0.0.1:" + std::to_string(port()); }

    /// @name How bytes are forwarded. Each function replaces the mode set before.
    /// @{
    void forward();       ///< Stalled data is delivered. A connection that lost bytes is reset.
    void drop_requests(); ///< Drops requests, forwards replies.
    void drop_replies();  ///< Forwards requests, drops replies.
    void drop();          ///< Drops both, without closing a connection.
    /// Holds back all data, without closing a connection. `forward` delivers it later.
    void stall();
    void stall_requests(); ///< Only requests are held back.
    void stall_replies();  ///< Only replies are held back.
    /// @}

    struct translation
    {
        std::uint16_t from;
        std::uint16_t to;
    };
    /// Replaces each of these ports in replies by another, but not in pushes. For servers that
    /// announce the addresses of others.
    void translate(std::vector<translation> ports);

    void delay(milliseconds each_way); ///< Delays all data that arrives from now on.

    void reset_all(); ///< Resets every connection.
    void refuse();    ///< Refuses new connections. Existing ones continue.
    void accept();    ///< Listens again, on the same port.
    void lead_to(const stream_endpoint& other); ///< Affects new connections only.

    /// @name Faults that happen once
    /// @{

    /// Counts from the first request with this text, or, if empty, from the next byte of any
    /// client. After `count` bytes, the connection is reset on both sides. The server gets exactly
    /// these bytes.
    void cut_after_request_bytes(std::size_t count, std::string text = {});
    /// The same for the reply to that request (empty: for the next byte of the server).
    void cut_after_reply_bytes(std::size_t count, std::string text = {});
    /// The request arrives, the server answers, and the connection is reset instead of the reply.
    void forward_then_reset(std::string text);
    void forward_then_reset(predicate matches);
    /// The request does not arrive, and the connection is reset.
    void reset_before(std::string text);
    void reset_before(predicate matches);
    /// @}

    counters count() const;

    /// @name Events. Each function throws `std::runtime_error` after `limit`. Requests count from
    /// the start, or the last `forget`.
    /// @{
    void wait_for_request(const std::string& text, std::size_t times = 1,
                          milliseconds limit = default_limit);
    /// Waits until the server's reply has reached the proxy, whether it was forwarded or not.
    void wait_for_reply_to(const std::string& text, std::size_t times = 1,
                           milliseconds limit = default_limit);
    void wait_until(const std::function<bool(const counters&)>& reached,
                    milliseconds limit = default_limit);
    /// @}

    void forget(); ///< Forgets the requests and replies so far, but not the counters.

private:
    class core_fixture;
    std::unique_ptr<core_fixture> engine_;
};

} // namespace leasehold::test

#endif
