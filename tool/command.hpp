#ifndef LEASEHOLD_TOOL_COMMAND_HPP
#define LEASEHOLD_TOOL_COMMAND_HPP

#include "command_line.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace leasehold::tool {

/// A command of the program, chosen by the first argument. The constructor declares the options, so
/// that they can be described without running the command.
class command
{
public:
    command(const command&) = delete;
    command& operator=(const command&) = delete;
    virtual ~command() = default;

    [[nodiscard]] command_line& options() noexcept { return options_; }

    /// @returns The exit code.
    /// @throws usage_error
    virtual int run(const command_line::words& given) = 0;

protected:
    command(std::string usage, std::string about) : options_(std::move(usage), std::move(about)) {}

private:
    command_line options_;
};

/// An entry of the table of commands.
struct command_entry
{
    std::string_view name;
    std::string_view summary; ///< The text after its name in the help; empty: not in the help.
    std::unique_ptr<command> (*make)();
};

/// All commands, in the order of the help.
[[nodiscard]] std::span<const command_entry> commands() noexcept;

} // namespace leasehold::tool

#endif
