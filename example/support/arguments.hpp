#ifndef LEASEHOLD_EXAMPLE_ARGUMENTS_HPP
#define LEASEHOLD_EXAMPLE_ARGUMENTS_HPP

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace example {

/// The stores that `--url` may name.
enum class stores
{
    any,
    servers_only, ///< `redis:` without TLS, or `unix:`: the example's own connection must reach it.
    redis_or_database, ///< The same, `postgres:`, `mysql:`, `zookeeper:` or `etcd:`.
};

/// The command line of an example: `--name value` or `--name=value`, in any order. The variable of
/// a missing option keeps its value.
class arguments
{
public:
    /// @param about One sentence for `--help`.
    explicit arguments(std::string about);

    /// `--url`. Default: the environment variable LEASEHOLD_URL, otherwise `value`.
    void url(std::string& value, stores allowed = stores::any);
    /// `--store`, for the locks of an example whose data is at `--url`. Default: the environment
    /// variable LEASEHOLD_STORE, otherwise empty.
    void store(std::string& value);
    void text(std::string name, std::string placeholder, std::string& value, std::string help);
    void number(std::string name, int& value, int least, int most, std::string help);
    void flag(std::string name, bool& value, std::string help);
    /// An option that the example passes to copies of itself; not in `--help`.
    void hidden(std::string name, std::string& value);

    /// After an error, prints it to stderr and ends the program with code 2. After `--help`, ends
    /// it with code 0.
    void parse(int argc, char** argv) const;

private:
    struct option
    {
        std::string name;
        std::string placeholder; // empty: takes no value
        std::string help;        // empty: hidden
        std::function<void(std::string_view)>
            set; // throws std::invalid_argument with the allowed values
    };

    void print_help(std::string_view program) const;
    std::string names() const;

    std::string about_;
    std::vector<option> options_;
};

/// Prints an error of the command line and ends the program with code 2.
[[noreturn]] void refuse(std::string_view what);

} // namespace example

#endif
