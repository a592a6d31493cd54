#ifndef LEASEHOLD_TOOL_RUN_RUN_COMMAND_HPP
#define LEASEHOLD_TOOL_RUN_RUN_COMMAND_HPP

#include "../command.hpp"

#include <memory>

namespace leasehold::tool {

/// `leasehold run`: runs a command while it holds locks.
[[nodiscard]] std::unique_ptr<command> make_run_command();

} // namespace leasehold::tool

#endif
