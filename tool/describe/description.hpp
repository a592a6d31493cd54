#ifndef LEASEHOLD_TOOL_DESCRIBE_DESCRIPTION_HPP
#define LEASEHOLD_TOOL_DESCRIBE_DESCRIPTION_HPP

#include "../command_line.hpp"

#include <string>
#include <string_view>
#include <vector>

// The manual of the program and its completions for shells. They are made from the declarations
// that also read the command line.
namespace leasehold::tool {

struct described_command
{
    std::string name;
    std::string summary;
    std::string usage; ///< The text after "leasehold ".
    std::string about;
    std::string notes;
    std::vector<command_line::option> options{};
};

/// All commands, in the order of the help.
[[nodiscard]] std::vector<described_command> describe_commands();

/// Makes a page for man(1).
[[nodiscard]] std::string make_manual(const std::vector<described_command>& commands,
                                      std::string_view version);

[[nodiscard]] std::string make_bash_completions(const std::vector<described_command>& commands);
[[nodiscard]] std::string make_zsh_completions(const std::vector<described_command>& commands);
[[nodiscard]] std::string make_fish_completions(const std::vector<described_command>& commands);

/// The first sentence of a text, in one line, without the full stop.
[[nodiscard]] std::string first_sentence(std::string_view of);

} // namespace leasehold::tool

#endif
