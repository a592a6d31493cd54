#ifndef LEASEHOLD_TOOL_COMMAND_LINE_HPP
#define LEASEHOLD_TOOL_COMMAND_LINE_HPP

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::tool {

/// An invalid command line. The text names the argument, its value, and the allowed values.
struct usage_error : std::invalid_argument
{
    using std::invalid_argument::invalid_argument;
};

/// Returns true if the word is this flag.
/// @throws usage_error When a value is attached to the flag, as in `--help=1`.
[[nodiscard]] bool asks_for(std::string_view word, std::string_view flag);

/// The options of a command. Its help, manual and completions are made from them.
class command_line
{
public:
    struct option
    {
        std::string name;        ///< "--url"
        std::string placeholder; ///< "URL"; empty: the option takes no value.
        std::string help;        ///< Lines that fit into a terminal.
    };

    /// Reads the value of an option; throws `usage_error`, which names the allowed values.
    using reader = std::function<void(std::string_view value)>;

    /// @param usage The line after "usage: leasehold ".
    /// @param about A description of the command, in lines that fit into a terminal.
    command_line(std::string usage, std::string about);

    void flag(std::string name, std::string help, bool& found);
    void value(std::string name, std::string placeholder, std::string help, reader read);

    /// Sets the text below the options in the help.
    void notes(std::string text) { notes_ = std::move(text); }

    struct words
    {
        std::vector<std::string> arguments; ///< The words before `--` that are not options.
        std::vector<std::string> command;   ///< The words after `--`.
        bool asks_for_help = false;         ///< `--help` or `-h`; the rest is then ignored.
    };

    /// Reads options anywhere before `--`, as `--name value` or `--name=value`.
    /// @throws usage_error
    [[nodiscard]] words read(const std::vector<std::string>& given) const;

    [[nodiscard]] std::string help() const;

    [[nodiscard]] const std::string& usage() const noexcept { return usage_; }
    [[nodiscard]] const std::string& about() const noexcept { return about_; }
    /// The text below the options in the help.
    [[nodiscard]] const std::string& notes() const noexcept { return notes_; }
    /// The options in the order of the help, `--help` last.
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
