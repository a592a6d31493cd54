#ifndef LEASEHOLD_TOOL_TERMINAL_HPP
#define LEASEHOLD_TOOL_TERMINAL_HPP

#include <cstddef>
#include <string>
#include <string_view>

namespace leasehold::tool {

/// Returns true if standard output is a terminal.
[[nodiscard]] bool writes_to_terminal() noexcept;

/// The same, unless `NO_COLOR` is in the environment or the terminal has no colours.
[[nodiscard]] bool writes_colour() noexcept;

struct terminal_size
{
    std::size_t columns = 80;
    std::size_t rows = 24;
};
[[nodiscard]] terminal_size size_of_terminal() noexcept;

/// The text, in bold type if `colour` is true.
[[nodiscard]] std::string bold(std::string_view text, bool colour);

/// The number of columns of a text: its UTF-8 characters, each of which counts as one.
[[nodiscard]] std::size_t width_of(std::string_view text) noexcept;
/// The text, cut or padded with spaces to `width` columns.
[[nodiscard]] std::string fit(std::string_view text, std::size_t width);

/// Writes the text to standard output, in one call if possible.
/// @returns False if the write failed; `errno` has the reason.
bool write_out(std::string_view text) noexcept;

/// The same as `write_out`, but throws if the write failed.
/// @throws std::system_error
void print(std::string_view text);

} // namespace leasehold::tool

#endif
