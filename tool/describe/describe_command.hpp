#ifndef LEASEHOLD_TOOL_DESCRIBE_DESCRIBE_COMMAND_HPP
#define LEASEHOLD_TOOL_DESCRIBE_DESCRIBE_COMMAND_HPP

#include "../command.hpp"

#include <memory>

namespace leasehold::tool {

/// `leasehold describe`, which no help names: prints the manual, or completions, when the program
/// is built.
[[nodiscard]] std::unique_ptr<command> make_describe_command();

} // namespace leasehold::tool

#endif
