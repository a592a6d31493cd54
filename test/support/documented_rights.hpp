#ifndef LEASEHOLD_TEST_SUPPORT_DOCUMENTED_RIGHTS_HPP
#define LEASEHOLD_TEST_SUPPORT_DOCUMENTED_RIGHTS_HPP

#include "support/resp_client.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace leasehold::test {

/// The words of the first `ACL SETUSER` in docs/production.md at or behind a text.
/// @throws std::runtime_error There is none.
[[nodiscard]] std::vector<std::string> documented_rights(std::string_view behind);

/// Gives the rights that a user may have where the server knows the commands.
void permit_conditional_deletes(resp_client& server, const std::string& user);

/// What the server refused to its users since its log of that was emptied, as it says it.
[[nodiscard]] std::string refused_by(resp_client& server);

} // namespace leasehold::test

#endif
