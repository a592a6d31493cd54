#ifndef LEASEHOLD_TEST_SUPPORT_DOCUMENTED_RIGHTS_HPP
#define LEASEHOLD_TEST_SUPPORT_DOCUMENTED_RIGHTS_HPP

#include <string>
#include <string_view>
#include <vector>

namespace leasehold::test {

/// The words of the first `ACL SETUSER` in docs/production.md at or behind a text.
/// @throws std::runtime_error There is none.
[[nodiscard]] std::vector<std::string> documented_rights(std::string_view behind);

} // namespace leasehold::test

#endif
