#ifndef LEASEHOLD_TOOL_BREAK_BREAK_COMMAND_HPP
#define LEASEHOLD_TOOL_BREAK_BREAK_COMMAND_HPP

#include "command.hpp"

#include <memory>

namespace leasehold::tool {

/// `leasehold break`: removes the lock of one owner.
[[nodiscard]] std::unique_ptr<command> make_break_command();

} // namespace leasehold::tool

#endif
