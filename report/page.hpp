#ifndef LEASEHOLD_REPORT_PAGE_HPP
#define LEASEHOLD_REPORT_PAGE_HPP

#include <iosfwd>
#include <string>
#include <string_view>

namespace leasehold::report {

/// Writes a self-contained page: page.html with these data.
/// @param json The result of `timeline::to_json`, or the JSON of benchmark/run.
void write_page(std::ostream& to, std::string_view json);

/// The same, to a file.
/// @throws std::runtime_error The file cannot be written.
void write_page_file(const std::string& file, std::string_view json);

/// Appends a text as a JSON string. Characters other than ASCII become `?`.
void append_json(std::string& to, std::string_view text);

} // namespace leasehold::report

#endif
