#ifndef LEASEHOLD_TEST_SUPPORT_REDIS_SERVER_HPP
#define LEASEHOLD_TEST_SUPPORT_REDIS_SERVER_HPP

#include "support/child.hpp"
#include "support/directory.hpp"
#include "support/port.hpp"
#include "support/resp_client.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace leasehold::test {

/// The settings of a `redis_server` besides its options.
struct redis_setup
{
    bool tcp = false; ///< Listen on a port of 127.0.0.1 as well.
    environment_t environment{};
};

/// A redis-server process for one test, on a socket in its own directory. Ended by the destructor,
/// and with the thread that started it. It keeps nothing on disk unless the options require it.
class redis_server
{
public:
    /// Starts the server and returns when it answers and has loaded its data. Throws
    /// `std::runtime_error` if it does not. `options` are words of the command line, for example
    /// `--appendonly`, `yes`.
    explicit redis_server(std::vector<std::string> options = {}, redis_setup setup = {});
    redis_server(const redis_server&) = delete;
    redis_server& operator=(const redis_server&) = delete;

    const std::string& socket() const noexcept { return socket_; }
    std::uint16_t port() const; ///< Throws if no port was requested.
    std::string url() const;    ///< The TCP URL if there is one, otherwise the local one.
    std::string unix_url() const { return "unix://" + socket_; }
    std::string tcp_url() const { return "redis://127.0.0.1:" + std::to_string(port()); }
    stream_endpoint endpoint() const { return local_endpoint(socket_); }
    const std::filesystem::path& directory() const noexcept { return directory_.path(); }
    std::string log() const;

    /// A new connection.
    resp_client connect(std::chrono::milliseconds limit = std::chrono::seconds(10)) const;

    pid_t pid() const noexcept { return process_.pid(); }
    bool running() { return process_.running(); }

    void kill() { process_.kill(); } ///< Sends SIGKILL. The server has ended when this returns.
    void pause() { process_.pause(); }
    void resume() { process_.resume(); }
    /// Sends SIGTERM. The server saves its data if configured, and has ended when this returns.
    void terminate();

    /// Starts it again after `kill` or `terminate`, with the same directory, socket, port and
    /// options.
    void start();
    /// Kills the server and starts it again.
    void restart();
    /// Like `restart`, but deletes its data from the disk in between.
    void restart_empty();

private:
    void try_to_start();
    void delete_data();

    std::vector<std::string> options_;
    redis_setup setup_;
    temporary_directory directory_;
    std::string socket_;
    std::optional<reserved_port> port_;
    child process_;
};

} // namespace leasehold::test

#endif
