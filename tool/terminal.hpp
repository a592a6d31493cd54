#ifndef LEASEHOLD_TOOL_TERMINAL_HPP
#define LEASEHOLD_TOOL_TERMINAL_HPP

#include <cstddef>
#include <string>
#include <string_view>

namespace leasehold::tool {

/// Whether the standard output is a terminal.
[[nodiscard]] bool writes_to_terminal() noexcept;

/// As that, unless `NO_COLOR` is in the environment or the terminal knows none.
[[nodiscard]] bool writes_colour() noexcept;

struct terminal_size
{
    std::size_t columns = 80;
    std::size_t rows = 24;
};
[[nodiscard]] terminal_size size_of_terminal() noexcept;

/// The text emphasised, where there is colour.
[[nodiscard]] std::string bold(std::string_view text, bool colour);

/// How many columns a text takes: characters of UTF-8, each of which counts as one.
[[nodiscard]] std::size_t width_of(std::string_view text) noexcept;
/// The first so many columns of it, filled up to as many.
[[nodiscard]] std::string fit(std::string_view text, std::size_t width);

/// Writes the text to the standard output, in one piece if possible.
/// @returns False when the output rejects it; `errno` says why.
bool write_out(std::string_view text) noexcept;

/// As `write_out`, and throws when the output rejects the text.
/// @throws std::system_error
void print(std::string_view text);

} // namespace leasehold::tool

#endif
