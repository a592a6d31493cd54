#ifndef LEASEHOLD_TOOL_SCHEMA_SCHEMA_COMMAND_HPP
#define LEASEHOLD_TOOL_SCHEMA_SCHEMA_COMMAND_HPP

#include "command.hpp"

#include <memory>

namespace leasehold::tool {

/// `leasehold schema`: prints the SQL text that installs the tables and functions of the locks.
[[nodiscard]] std::unique_ptr<command> make_schema_command();

} // namespace leasehold::tool

#endif
