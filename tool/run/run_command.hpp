#ifndef LEASEHOLD_TOOL_RUN_RUN_COMMAND_HPP
#define LEASEHOLD_TOOL_RUN_RUN_COMMAND_HPP

#include <string>
#include <vector>

namespace leasehold::tool {

/// `leasehold run`: a command while locks are held.
/// @param words What follows `run`.
/// @returns The exit code.
/// @throws usage_error
int run_command(const std::vector<std::string>& words);

} // namespace leasehold::tool

#endif
