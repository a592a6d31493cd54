#ifndef LEASEHOLD_TEST_SUPPORT_DOCUMENTED_RIGHTS_HPP
#define LEASEHOLD_TEST_SUPPORT_DOCUMENTED_RIGHTS_HPP

#include "support/resp_client.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace leasehold::test {

/// The words of the first `ACL SETUSER` in docs/production.md at or behind a text.
/// @throws std::runtime_error if there is none.
[[nodiscard]] std::vector<std::string> documented_rights(std::string_view behind);

/// Grants the conditional deletes that the server knows.
void permit_conditional_deletes(resp_client& server, const std::string& user);

/// The commands that the server has denied to its users since its log was emptied.
[[nodiscard]] std::string refused_by(resp_client& server);

} // namespace leasehold::test

#endif
