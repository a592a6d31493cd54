#ifndef LEASEHOLD_TEST_SUPPORT_ZOOKEEPER_SERVER_HPP
#define LEASEHOLD_TEST_SUPPORT_ZOOKEEPER_SERVER_HPP

#include "support/child.hpp"
#include "support/directory.hpp"
#include "support/port.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace leasehold::test {

/// A ZooKeeper server that belongs to the test, on a port of 127.0.0.1. It runs as an unprivileged
/// user, and does not wait for the disk.
class zookeeper_server
{
public:
    static constexpr std::chrono::milliseconds tick{200};

    /// @param settings Lines of its configuration file.
    /// @param number Its number in an ensemble. 0: there is none. Returns when the server accepts
    ///     connections, or has been started as a part of an ensemble.
    explicit zookeeper_server(std::vector<std::string> settings = {}, int number = 0);

    /// Sends SIGKILL.
    void kill() { server_.kill(); }
    /// Starts the server after `kill`, with its data and settings.
    void start();
    /// Stops the server, without closing a connection.
    void pause() { server_.pause(); }
    void resume() { server_.resume(); }

    /// Waits until the server serves clients.
    void wait_until_ready();
    /// "standalone", "leader", "follower", or empty while it does not serve clients.
    [[nodiscard]] std::string mode() const;

    [[nodiscard]] std::uint16_t port() const noexcept { return port_.number(); }
    [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port()); }
    [[nodiscard]] std::string log() const { return text_of(directory_.file("log")); }

    /// The reason why no server can be started here; empty: it can.
    [[nodiscard]] static std::string missing();

private:
    void launch_server();

    temporary_directory directory_;
    reserved_port port_;
    const bool alone_;
    child server_;
};

} // namespace leasehold::test

#endif
