#ifndef LEASEHOLD_TOOL_ZOOKEEPER_STATUS_WORD_HPP
#define LEASEHOLD_TOOL_ZOOKEEPER_STATUS_WORD_HPP

#include <leasehold/zookeeper_config.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace leasehold::tool {

/// The answer of a server to a command of four letters ("srvr"), without TLS. Empty: there is none
/// in this time, or the server does not allow the command.
[[nodiscard]] std::string answer_to_word(const zookeeper_config::address& at, std::string_view word,
                                         std::chrono::milliseconds limit);

/// The rest of the line that begins with `name`, in such an answer. Empty: there is no such line.
[[nodiscard]] std::string line_of(std::string_view answer, std::string_view name);

} // namespace leasehold::tool

#endif
