#ifndef LEASEHOLD_TOOL_DESCRIBE_DESCRIBE_COMMAND_HPP
#define LEASEHOLD_TOOL_DESCRIBE_DESCRIBE_COMMAND_HPP

#include "../command.hpp"

#include <memory>

namespace leasehold::tool {

/// `leasehold describe`: prints the manual or completions during the build. It is not in the help.
[[nodiscard]] std::unique_ptr<command> make_describe_command();

} // namespace leasehold::tool

#endif
