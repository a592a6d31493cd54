#ifndef LEASEHOLD_TEST_SUPPORT_UNPRIVILEGED_HPP
#define LEASEHOLD_TEST_SUPPORT_UNPRIVILEGED_HPP

#include <filesystem>
#include <string>
#include <vector>

namespace leasehold::test {

/// The first words of a command that refuses to run as root, as database servers do: root changes
/// to the user nobody. It runs in `directory`, which is given to that user.
[[nodiscard]] std::vector<std::string> unprivileged(const std::filesystem::path& directory,
                                                    std::vector<std::string> command);

/// The path of the program, from the folders of PATH, /usr/sbin or `more`; empty: there is none.
[[nodiscard]] std::string find_program(const std::string& name,
                                       const std::vector<std::filesystem::path>& more = {});

} // namespace leasehold::test

#endif
