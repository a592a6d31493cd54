#include "full_screen.hpp"

#include "terminal.hpp"

namespace leasehold::tool {

full_screen::full_screen()
{
    print("\x1b[?1049h\x1b[?25l");
}

full_screen::~full_screen()
{
    write_out("\x1b[?25h\x1b[?1049l");
}

void full_screen::show(const std::vector<std::string>& lines)
{
    const terminal_size size = size_of_terminal();
    std::string text = "\x1b[H";
    for (std::size_t i = 0; i < lines.size() && i < size.rows; ++i)
        text.append(i > 0 ? "\r\n" : "").append(lines[i]).append("\x1b[K");
    print(text + "\x1b[J");
}

} // namespace leasehold::tool
