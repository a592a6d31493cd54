#ifndef LEASEHOLD_TOOL_MESSAGE_HPP
#define LEASEHOLD_TOOL_MESSAGE_HPP

#include <string_view>

namespace leasehold::tool {

/// Writes a line, with the name of the program before it, to standard error in one call.
void say(std::string_view text) noexcept;

} // namespace leasehold::tool

#endif
