#ifndef LEASEHOLD_TOOL_LS_LS_COMMAND_HPP
#define LEASEHOLD_TOOL_LS_LS_COMMAND_HPP

#include "command.hpp"

#include <memory>

namespace leasehold::tool {

/// `leasehold ls`: lists the held locks and their holders.
[[nodiscard]] std::unique_ptr<command> make_ls_command();

} // namespace leasehold::tool

#endif
