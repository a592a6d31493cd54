#ifndef LEASEHOLD_REPORT_PAGE_HPP
#define LEASEHOLD_REPORT_PAGE_HPP

#include <iosfwd>
#include <string>
#include <string_view>

namespace leasehold::report {

/// Writes a page that is whole in itself: page.html, with these data in it.
/// @param json What the page draws: what `timeline::to_json` makes, or the figures that
///             benchmark/run writes for programs.
void write_page(std::ostream& to, std::string_view json);

/// As `write_page`, into a file.
/// @throws std::runtime_error It cannot be written.
void write_page_file(const std::string& file, std::string_view json);

/// Appends a text as JSON has it, in quotes. What is not ASCII becomes `?`.
void append_json(std::string& to, std::string_view text);

} // namespace leasehold::report

#endif
