#ifndef LEASEHOLD_TEST_SUPPORT_RESP_CLIENT_HPP
#define LEASEHOLD_TEST_SUPPORT_RESP_CLIENT_HPP

#include "support/resp.hpp"

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::test {

/// The address of a server: a local socket or a TCP port.
using stream_endpoint = boost::asio::generic::stream_protocol::endpoint;

inline stream_endpoint local_endpoint(const std::string& path)
{
    return boost::asio::local::stream_protocol::endpoint(path);
}

inline stream_endpoint loopback_endpoint(std::uint16_t port)
{
    return boost::asio::ip::tcp::endpoint(boost::asio::ip::address_v4::loopback(), port);
}

/// The connection failed, ended, or did not answer in time.
struct resp_disconnected : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

/// The server answered with an error, or with another type than requested.
struct resp_unexpected : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

/// A connection to a Redis server for tests: one command at a time, each waits for its reply. One
/// thread at a time. Every function throws `resp_disconnected` if the server cannot be reached, or
/// after the time limit.
class resp_client
{
public:
    using words = std::vector<std::string>;

    explicit resp_client(const stream_endpoint& server,
                         std::chrono::milliseconds limit = std::chrono::seconds(10));

    /// Sends a command and returns its reply, which may be an error.
    resp_value command(const words& command);

    /// Like `command`, but these throw `resp_unexpected` if the reply is an error or cannot be
    /// converted to that type.
    std::int64_t integer(const words& command);
    std::string string(const words& command);
    std::optional<std::string> maybe_string(const words& command); ///< Empty for nil.
    std::vector<std::string> strings(const words& command);
    void done(const words& command); ///< Any reply except an error.

    /// The two halves of `command`, and for pushes of servers.
    void send(const words& command) { send_bytes(make_request(command)); }
    void send_bytes(std::string_view bytes);
    resp_value receive();

    /// Whether the server has ended the connection. Waits for that up to the limit.
    bool wait_until_closed();

    /// INFO of one section: field → value.
    std::map<std::string, std::string> info(const std::string& section);
    /// The number of executed calls of each command: lower-case name → calls.
    std::map<std::string, std::uint64_t> calls();
    std::uint64_t calls(const std::string& command);
    /// CONFIG RESETSTAT: all counts start again.
    void reset_calls() { done({"CONFIG", "RESETSTAT"}); }

    std::vector<std::string> channels(const std::string& pattern = "*");
    std::int64_t subscribers(const std::string& channel);

private:
    template <class Start>
    boost::system::error_code run(Start start);
    resp_value checked(const words& command);

    std::chrono::milliseconds limit_;
    boost::asio::io_context context_;
    boost::asio::generic::stream_protocol::socket socket_{context_};
    std::string received_;
};

} // namespace leasehold::test

#endif
