#ifndef LEASEHOLD_TOOL_FAILURES_HPP
#define LEASEHOLD_TOOL_FAILURES_HPP

#include <stdexcept>

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

} // namespace leasehold::tool

#endif
