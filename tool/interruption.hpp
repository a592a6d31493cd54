#ifndef LEASEHOLD_TOOL_INTERRUPTION_HPP
#define LEASEHOLD_TOOL_INTERRUPTION_HPP

#include <boost/asio/io_context.hpp>

#include <functional>

namespace leasehold::tool {

/// Ends the calls to servers that run in a context, from a handler that the context runs. These and
/// later calls throw `interrupted`.
void interrupt(boost::asio::io_context& context);
[[nodiscard]] bool is_interrupted(boost::asio::io_context& context);

/// Runs the context until the condition holds.
/// @throws interrupted
void run_until(boost::asio::io_context& context, const std::function<bool()>& reached);

} // namespace leasehold::tool

#endif
