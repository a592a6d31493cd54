#ifndef LEASEHOLD_TOOL_TRACE_TRACE_COMMAND_HPP
#define LEASEHOLD_TOOL_TRACE_TRACE_COMMAND_HPP

#include "command.hpp"

#include <memory>

namespace leasehold::tool {

/// `leasehold trace`: records the life of some locks.
[[nodiscard]] std::unique_ptr<command> make_trace_command();

} // namespace leasehold::tool

#endif
