#ifndef LEASEHOLD_TOOL_FAILURES_HPP
#define LEASEHOLD_TOOL_FAILURES_HPP

#include <stdexcept>
#include <string>
#include <vector>

namespace leasehold::tool {

/// A server cannot be reached, or does not reply in time. The text names the server.
struct unreachable : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

/// A server rejects a required command. The text names the server and has its reply.
struct refused : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

/// A signal has ended the wait for a reply.
struct interrupted : std::runtime_error
{
    interrupted() : std::runtime_error("interrupted") {}
};

/// Calls `read` and stores why it fails.
/// @returns False if it has failed.
template <class Read>
bool read_or_report(std::vector<std::string>& problems, Read read)
{
    try {
        read();
        return true;
    }
    catch (const unreachable& failed) {
        problems.emplace_back(failed.what());
    }
    catch (const refused& failed) {
        problems.emplace_back(failed.what());
    }
    return false;
}

} // namespace leasehold::tool

#endif
