#ifndef LEASEHOLD_BENCHMARK_COMMAND_MONITOR_HPP
#define LEASEHOLD_BENCHMARK_COMMAND_MONITOR_HPP

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

namespace leasehold::benchmark {

/// Counts the commands that clients send to a server, by MONITOR. Unlike the server's counters,
/// MONITOR distinguishes commands inside scripts. It is expensive for the server, so nothing is
/// timed meanwhile. Reads on a thread of its own.
class command_monitor
{
public:
    struct counts
    {
        std::uint64_t commands = 0; ///< Without PING.
        std::uint64_t pings = 0;    ///< Keep connections alive, and do not depend on locks.
    };

    /// Begins to count.
    /// @throws boost::system::system_error There is no server at this socket.
    explicit command_monitor(const std::string& socket);
    ~command_monitor();
    command_monitor(const command_monitor&) = delete;
    command_monitor& operator=(const command_monitor&) = delete;

    /// Ends the count and returns it. Called once.
    counts end();

private:
    void listen();
    bool on_line(std::string_view line);

    boost::asio::io_context context_{1}; // never runs
    boost::asio::local::stream_protocol::socket monitor_{context_};
    boost::asio::local::stream_protocol::socket asking_{context_};
    counts seen_;
    std::jthread thread_; // ends after `end`, or with the connection
};

} // namespace leasehold::benchmark

#endif
