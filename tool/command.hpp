#ifndef LEASEHOLD_TOOL_COMMAND_HPP
#define LEASEHOLD_TOOL_COMMAND_HPP

#include "command_line.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace leasehold::tool {

/// What the program does when its first word is the command's name. Each declares its options when
/// it is made, so whatever describes them need not run it.
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

/// How a command is found.
struct command_entry
{
    std::string_view name;
    std::string_view summary; ///< What it does, behind its name; empty: not in the help.
    std::unique_ptr<command> (*make)();
};

/// All of them, in the order of the help.
[[nodiscard]] std::span<const command_entry> commands() noexcept;

} // namespace leasehold::tool

#endif
