#ifndef LEASEHOLD_TOOL_PAUSE_HPP
#define LEASEHOLD_TOOL_PAUSE_HPP

#include <boost/asio/io_context.hpp>

#include <chrono>

namespace leasehold::tool {

/// Runs the context for this time. `interrupt` ends the wait.
/// @throws interrupted
void rest(boost::asio::io_context& context, std::chrono::milliseconds time);

} // namespace leasehold::tool

#endif
