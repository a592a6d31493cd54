#ifndef LEASEHOLD_TEST_SUPPORT_REDIS_COMMAND_HPP
#define LEASEHOLD_TEST_SUPPORT_REDIS_COMMAND_HPP

#include <string>
#include <string_view>
#include <vector>

namespace leasehold::test {

/// Sends one command over a connection of its own and waits for the answer, whose elements are joined by blanks.
/// An error is returned with its leading '-'.
std::string redis_command(const std::string& socket, const std::vector<std::string_view>& words);

} // namespace leasehold::test

#endif
