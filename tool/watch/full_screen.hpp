#ifndef LEASEHOLD_TOOL_WATCH_FULL_SCREEN_HPP
#define LEASEHOLD_TOOL_WATCH_FULL_SCREEN_HPP

#include <string>
#include <vector>

namespace leasehold::tool {

/// Shows the alternate screen of the terminal, without a cursor, during its lifetime.
class full_screen
{
public:
    full_screen();
    full_screen(const full_screen&) = delete;
    full_screen& operator=(const full_screen&) = delete;
    ~full_screen();

    /// Shows these lines, except those below the last row.
    void show(const std::vector<std::string>& lines);
};

} // namespace leasehold::tool

#endif
