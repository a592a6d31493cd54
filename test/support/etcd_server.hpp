#ifndef LEASEHOLD_TEST_SUPPORT_ETCD_SERVER_HPP
#define LEASEHOLD_TEST_SUPPORT_ETCD_SERVER_HPP

#include "support/child.hpp"
#include "support/directory.hpp"
#include "support/port.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace leasehold::test {

/// An etcd server that belongs to the test, on a port of 127.0.0.1. It runs as an unprivileged
/// user.
class etcd_server
{
public:
    /// Returns when the server accepts requests.
    /// @param options Of the command, beside those for its addresses.
    /// @param scheme "http" or "https".
    explicit etcd_server(std::vector<std::string> options = {}, std::string scheme = "http");

    /// A member of a cluster. Returns at once.
    /// @param peer_url The URL at which the others reach it. "unix://name:1" is a local socket in
    ///     the directory of each server: see `file`.
    /// @param members The names of all members and their URLs: "a=http://10.0.0.1:1,b=...".
    etcd_server(const std::string& name, const std::string& peer_url, const std::string& members);

    /// Sends SIGKILL.
    void kill() { server_.kill(); }
    /// Starts the server after `kill`, with its data and options.
    void start();
    /// Stops the server, without closing a connection.
    void pause() { server_.pause(); }
    void resume() { server_.resume(); }

    /// Waits until the server has a leader.
    void wait_until_ready();

    [[nodiscard]] std::uint16_t port() const noexcept { return port_.number(); }
    [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port()); }
    /// The path of a file in the directory in which the server runs.
    [[nodiscard]] std::string file(const std::string& name) const { return directory_.file(name); }
    [[nodiscard]] std::string log() const { return text_of(directory_.file("log")); }

    /// The reason why no server can be started here; empty: it can.
    [[nodiscard]] static std::string missing();

private:
    void launch_server();

    temporary_directory directory_;
    reserved_port port_;
    reserved_port health_port_;   ///< Without TLS.
    reserved_port own_peer_port_; ///< Of a server without others.
    std::string scheme_ = "http";
    std::vector<std::string> options_;
    child server_;
};

} // namespace leasehold::test

#endif
