#ifndef LEASEHOLD_TEST_INTEROP_PEER_HPP
#define LEASEHOLD_TEST_INTEROP_PEER_HPP

#include "support/process.hpp"
#include "support/redis_server.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::test {

/// A program that locks with another library at a server, whose socket and port are its last
/// arguments; of several servers the sockets, and the port of the first. It prints "ready", then
/// answers each line with one:
///
///     lock NAME LEASE WAIT     "locked" or "busy": for LEASE ms, waiting for WAIT ms at most
///     unlock NAME              "unlocked", or "lost" if it was not its own any more
///     count NAME KEY TIMES     "counted", when it has taken the lock TIMES times, and incremented
///                              the number at the key in two commands each time
///
/// NAME is in hexadecimal. The command that starts it is in the environment, LEASEHOLD_PEER.
class peer
{
public:
    using milliseconds = std::chrono::milliseconds;

    explicit peer(const redis_server& server)
        : peer({server.socket(), std::to_string(server.port())})
    {}
    explicit peer(const std::vector<std::string>& places) : program_(command(places))
    {
        program_.expect("ready", std::chrono::seconds(60));
    }

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
    [[nodiscard]] bool locked() { return answer() == "locked"; }

    [[nodiscard]] bool unlock(const std::string& name)
    {
        program_.write_line("unlock " + hex(name));
        return answer() == "unlocked";
    }

    void start_count(const std::string& name, const std::string& key, int times)
    {
        program_.write_line("count " + hex(name) + ' ' + key + ' ' + std::to_string(times));
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
    static std::vector<std::string> command(const std::vector<std::string>& places);
    static std::string hex(std::string_view name);
    std::string answer() { return program_.read_line(std::chrono::seconds(120)).value_or(""); }

    process program_;
};

} // namespace leasehold::test

#endif
