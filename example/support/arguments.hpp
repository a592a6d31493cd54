#ifndef LEASEHOLD_EXAMPLE_ARGUMENTS_HPP
#define LEASEHOLD_EXAMPLE_ARGUMENTS_HPP

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace example {

/// Where a `--url` may lead.
enum class stores
{
    any,
    servers_only, ///< `redis:` without TLS, or `unix:`: what the example's own connection can reach
                  ///< as well.
};

/// The command line of an example: `--name value` or `--name=value`, in any order. The variables
/// keep their values where nothing is given.
class arguments
{
public:
    /// @param about One sentence for `--help`.
    explicit arguments(std::string about);

    /// `--url`, by default what the environment has in LEASEHOLD_URL, else what `value` has.
    void url(std::string& value, stores allowed = stores::any);
    /// `--store`, for the locks of an example that keeps other things at `--url`; by default what
    /// the environment has in LEASEHOLD_STORE, else nothing.
    void store(std::string& value);
    void text(std::string name, std::string placeholder, std::string& value, std::string help);
    void number(std::string name, int& value, int least, int most, std::string help);
    void flag(std::string name, bool& value, std::string help);
    /// For what the example tells copies of itself: not in `--help`.
    void hidden(std::string name, std::string& value);

    /// Prints to stderr and ends the program with code 2 when something is wrong; ends it with 0
    /// after
    /// `--help`.
    void parse(int argc, char** argv) const;

private:
    struct option
    {
        std::string name;
        std::string placeholder; // empty: takes no value
        std::string help;        // empty: hidden
        std::function<void(std::string_view)>
            set; // throws std::invalid_argument that says what is allowed
    };

    void print_help(std::string_view program) const;
    std::string names() const;

    std::string about_;
    std::vector<option> options_;
};

/// Says what is wrong with the command line and ends the program with code 2.
[[noreturn]] void refuse(std::string_view what);

} // namespace example

#endif
