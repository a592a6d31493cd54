#ifndef LEASEHOLD_TOOL_WATCH_WATCH_COMMAND_HPP
#define LEASEHOLD_TOOL_WATCH_WATCH_COMMAND_HPP

#include "command.hpp"

#include <memory>

namespace leasehold::tool {

/// `leasehold watch`: shows changes of locks as they happen.
[[nodiscard]] std::unique_ptr<command> make_watch_command();

} // namespace leasehold::tool

#endif
