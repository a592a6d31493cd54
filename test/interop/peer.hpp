#ifndef LEASEHOLD_TEST_INTEROP_PEER_HPP
#define LEASEHOLD_TEST_INTEROP_PEER_HPP

#include "support/process.hpp"
#include "support/redis_server.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::test {

/// A program that locks at a server. It prints "ready", then answers each line with one:
///
///     lock NAME LEASE WAIT     "locked" or "busy": for LEASE ms, waiting for WAIT ms at most
///     unlock NAME              "unlocked", or "lost" if it was not its own any more
///     count NAME COUNTER TIMES "counted", when it has taken the lock TIMES times, and incremented
///                              the counter each time: it reads, then writes
///
/// NAME is in hexadecimal. In Redis the counter is a key; otherwise it is a file, and there is a
/// pause before the write. A library whose locks end with a session does not use LEASE.
class peer
{
public:
    using milliseconds = std::chrono::milliseconds;

    /// Another library at a Redis server. The socket and the port are the last arguments.
    explicit peer(const redis_server& server)
        : peer(other_library({server.socket(), std::to_string(server.port())}))
    {}
    explicit peer(const std::vector<std::string>& command) : program_(command)
    {
        program_.expect("ready", std::chrono::seconds(60));
    }

    /// The command of the other library, from the environment variable LEASEHOLD_PEER.
    /// @param places Its last arguments.
    [[nodiscard]] static std::vector<std::string> other_library(
        const std::vector<std::string>& places);

    [[nodiscard]] bool lock(const std::string& name, milliseconds lease,
                            milliseconds wait = milliseconds(0))
    {
        start_lock(name, lease, wait);
        return locked();
    }

    void start_lock(const std::string& name, milliseconds lease, milliseconds wait)
    {
        program_.write_line("lock " + hex(name) + ' ' + std::to_string(lease.count()) + ' ' +
                            std::to_string(wait.count()));
    }
    [[nodiscard]] bool has_answered() { return program_.has_line(); }
    [[nodiscard]] bool locked() { return answer_is("locked", "busy"); }

    [[nodiscard]] bool unlock(const std::string& name)
    {
        program_.write_line("unlock " + hex(name));
        return answer_is("unlocked", "lost");
    }

    void start_count(const std::string& name, const std::string& counter, int times)
    {
        program_.write_line("count " + hex(name) + ' ' + counter + ' ' + std::to_string(times));
    }
    [[nodiscard]] bool counted() { return answer() == "counted"; }

    /// For features of a single library: the reply to "VERB NAME".
    [[nodiscard]] std::string ask(std::string_view verb, const std::string& name)
    {
        program_.write_line(std::string(verb) + ' ' + hex(name));
        return answer();
    }

    void kill() { program_.kill(); }

private:
    static std::string hex(std::string_view name);
    /// Throws `std::runtime_error` if it is neither.
    bool answer_is(std::string_view yes, std::string_view no);
    std::string answer() { return program_.read_line(std::chrono::seconds(120)).value_or(""); }

    process program_;
};

} // namespace leasehold::test

#endif
