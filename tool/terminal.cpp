#include "terminal.hpp"

#include "base/uninterrupted.hpp"

#include <cerrno>
#include <cstdlib>
#include <sys/ioctl.h>
#include <system_error>
#include <unistd.h>

namespace leasehold::tool {
namespace {

/// Returns true if the byte continues a character.
bool goes_on(char byte) noexcept
{
    return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

} // namespace

bool writes_to_terminal() noexcept
{
    return ::isatty(STDOUT_FILENO) == 1;
}

bool writes_colour() noexcept
{
    const char* const none = std::getenv("NO_COLOR");
    const char* const kind = std::getenv("TERM");
    return writes_to_terminal() && (none == nullptr || *none == '\0') && kind != nullptr &&
           std::string_view(kind) != "dumb";
}

terminal_size size_of_terminal() noexcept
{
    winsize found{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &found) != 0 || found.ws_col == 0 || found.ws_row == 0)
        return {};
    return {found.ws_col, found.ws_row};
}

std::string bold(std::string_view text, bool colour)
{
    return colour ? "\x1b[1m" + std::string(text) + "\x1b[0m" : std::string(text);
}

std::size_t width_of(std::string_view text) noexcept
{
    std::size_t width = 0;
    for (const char byte : text)
        width += goes_on(byte) ? 0 : 1;
    return width;
}

std::string fit(std::string_view text, std::size_t width)
{
    std::string result;
    std::size_t used = 0;
    for (const char byte : text) {
        if (!goes_on(byte) && used++ == width)
            break;
        result += byte;
    }
    const std::size_t there = width_of(result);
    result.append(there < width ? width - there : 0, ' ');
    return result;
}

bool write_out(std::string_view text) noexcept
{
    while (!text.empty()) {
        const ssize_t written = detail::uninterrupted(
            [&] { return ::write(STDOUT_FILENO, text.data(), text.size()); });
        if (written <= 0)
            return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

void print(std::string_view text)
{
    if (!write_out(text))
        throw std::system_error(errno, std::generic_category(), "cannot write to standard output");
}

} // namespace leasehold::tool
