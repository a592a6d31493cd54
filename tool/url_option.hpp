#ifndef LEASEHOLD_TOOL_URL_OPTION_HPP
#define LEASEHOLD_TOOL_URL_OPTION_HPP

#include "command_line.hpp"

#include <leasehold/redis.hpp>

#include <string>

namespace leasehold::tool {

/// Declares `--url`, and sets the text to its default.
void declare_url(command_line& options, std::string& url);

/// Reads the URL of locks that processes share.
/// @throws usage_error, boost::system::system_error
[[nodiscard]] redis_config read_url(const std::string& url);

} // namespace leasehold::tool

#endif
