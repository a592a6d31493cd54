#ifndef LEASEHOLD_TOOL_DOCTOR_DOCTOR_COMMAND_HPP
#define LEASEHOLD_TOOL_DOCTOR_DOCTOR_COMMAND_HPP

#include "../command.hpp"

#include <memory>

namespace leasehold::tool {

/// `leasehold doctor`: checks if a server is fit to keep locks.
[[nodiscard]] std::unique_ptr<command> make_doctor_command();

} // namespace leasehold::tool

#endif
