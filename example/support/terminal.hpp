#ifndef LEASEHOLD_EXAMPLE_TERMINAL_HPP
#define LEASEHOLD_EXAMPLE_TERMINAL_HPP

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace example {

/// Whether stdout is a terminal.
inline bool on_terminal()
{
    static const bool result = ::isatty(STDOUT_FILENO) == 1;
    return result;
}

inline std::string coloured(std::string_view code, std::string_view text)
{
    const bool colour = on_terminal() && std::getenv("NO_COLOR") == nullptr;
    return colour ? "\033[" + std::string(code) + 'm' + std::string(text) + "\033[0m"
                  : std::string(text);
}

inline std::string good(std::string_view text)
{
    return coloured("32", text);
}

inline std::string bad(std::string_view text)
{
    return coloured("31;1", text);
}

} // namespace example

#endif
