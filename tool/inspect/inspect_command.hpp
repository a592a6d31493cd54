#ifndef LEASEHOLD_TOOL_INSPECT_INSPECT_COMMAND_HPP
#define LEASEHOLD_TOOL_INSPECT_INSPECT_COMMAND_HPP

#include "command.hpp"

#include <memory>

namespace leasehold::tool {

/// `leasehold inspect`: shows all details of one lock.
[[nodiscard]] std::unique_ptr<command> make_inspect_command();

} // namespace leasehold::tool

#endif
