#ifndef LEASEHOLD_TOOL_INTERRUPTION_HPP
#define LEASEHOLD_TOOL_INTERRUPTION_HPP

#include <boost/asio/io_context.hpp>

namespace leasehold::tool {

/// Ends the calls to servers that run in a context, from a handler that the context runs. These and
/// later calls throw `interrupted`.
void interrupt(boost::asio::io_context& context);
[[nodiscard]] bool is_interrupted(boost::asio::io_context& context);

} // namespace leasehold::tool

#endif
