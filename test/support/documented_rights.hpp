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

/// Grants the rights that a user may have if the server knows the commands.
void permit_conditional_deletes(resp_client& server, const std::string& user);

/// The server's log of the commands that it denied to its users, since it was emptied.
[[nodiscard]] std::string refused_by(resp_client& server);

} // namespace leasehold::test

#endif
