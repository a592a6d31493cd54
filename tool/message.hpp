#ifndef LEASEHOLD_TOOL_MESSAGE_HPP
#define LEASEHOLD_TOOL_MESSAGE_HPP

#include <string_view>

namespace leasehold::tool {

/// One line to the standard error output, behind the name of the program, in one piece.
void say(std::string_view text) noexcept;

} // namespace leasehold::tool

#endif
