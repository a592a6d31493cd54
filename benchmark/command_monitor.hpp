#ifndef LEASEHOLD_BENCHMARK_COMMAND_MONITOR_HPP
#define LEASEHOLD_BENCHMARK_COMMAND_MONITOR_HPP

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

namespace leasehold::benchmark {

/// Counts what clients send to a server, as its MONITOR tells it: there, what runs inside scripts
/// is told apart, which the server's own counters do not. It costs the server much, so nothing is
/// timed while one of these listens. It reads on a thread of its own.
class command_monitor
{
public:
    struct counts
    {
        std::uint64_t commands = 0; ///< But for PING.
        std::uint64_t pings = 0;    ///< They keep connections alive and say nothing of locks.
    };

    /// Listens from here on.
    /// @throws boost::system::system_error nobody serves at this socket.
    explicit command_monitor(const std::string& socket);
    ~command_monitor();
    command_monitor(const command_monitor&) = delete;
    command_monitor& operator=(const command_monitor&) = delete;

    /// What was sent until now. Listens no more; once.
    counts end();

private:
    void listen();
    bool tell(std::string_view line);

    boost::asio::io_context context_{1}; // nothing runs in it
    boost::asio::local::stream_protocol::socket told_{context_};
    boost::asio::local::stream_protocol::socket asking_{context_};
    counts seen_;
    std::jthread thread_; // ends when it is told of `end`, or with the connection
};

} // namespace leasehold::benchmark

#endif
