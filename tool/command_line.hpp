#ifndef LEASEHOLD_TOOL_COMMAND_LINE_HPP
#define LEASEHOLD_TOOL_COMMAND_LINE_HPP

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::tool {

/// The command line is wrong: which argument, what it was, what is allowed.
struct usage_error : std::invalid_argument
{
    using std::invalid_argument::invalid_argument;
};

/// Whether the word is this flag.
/// @throws usage_error When a value is attached to the flag, as in `--help=1`.
[[nodiscard]] bool asks_for(std::string_view word, std::string_view flag);

/// The options of a command, from which its help is made, and whatever else describes it.
class command_line
{
public:
    struct option
    {
        std::string name;        ///< "--url"
        std::string placeholder; ///< "URL"; empty: takes no value.
        std::string help;        ///< Lines that fit a terminal.
    };

    /// Takes the value that was given; throws `usage_error` with what is allowed.
    using reader = std::function<void(std::string_view value)>;

    /// @param usage The line after "usage: leasehold ".
    /// @param about What the command does, in lines that fit a terminal.
    command_line(std::string usage, std::string about);

    void flag(std::string name, std::string help, bool& found);
    void value(std::string name, std::string placeholder, std::string help, reader read);

    /// What comes below the options in the help.
    void notes(std::string text) { notes_ = std::move(text); }

    struct words
    {
        std::vector<std::string> arguments; ///< What is no option, before `--`.
        std::vector<std::string> command;   ///< What follows `--`.
        bool asks_for_help = false;         ///< `--help` or `-h`; then nothing else counts.
    };

    /// Options may stand anywhere before `--`, as `--name value` or `--name=value`.
    /// @throws usage_error
    [[nodiscard]] words read(const std::vector<std::string>& given) const;

    [[nodiscard]] std::string help() const;

    [[nodiscard]] const std::string& usage() const noexcept { return usage_; }
    [[nodiscard]] const std::string& about() const noexcept { return about_; }
    /// What comes below the options in the help.
    [[nodiscard]] const std::string& notes() const noexcept { return notes_; }
    /// In the order of the help, `--help` at the end.
    [[nodiscard]] std::vector<option> options() const;

private:
    struct read_option : option
    {
        reader read;
    };

    [[nodiscard]] const read_option& find(std::string_view name) const;

    std::string usage_;
    std::string about_;
    std::string notes_;
    std::vector<read_option> options_;
};

} // namespace leasehold::tool

#endif
