#ifndef LEASEHOLD_TEST_GUARD_SQL_UNPRIVILEGED_HPP
#define LEASEHOLD_TEST_GUARD_SQL_UNPRIVILEGED_HPP

#include <filesystem>
#include <string>
#include <vector>

namespace leasehold::test {

/// The first words of a command that refuses to run as root, as database servers do: root changes
/// to the user nobody. It runs in `directory`, which is given to that user.
[[nodiscard]] std::vector<std::string> unprivileged(const std::filesystem::path& directory,
                                                    std::vector<std::string> command);

/// The program in one of the folders of PATH, in /usr/sbin, or in `more`; empty when it is nowhere.
[[nodiscard]] std::string find_program(const std::string& name,
                                       const std::vector<std::filesystem::path>& more = {});

} // namespace leasehold::test

#endif
