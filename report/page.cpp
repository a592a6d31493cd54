#include "page.hpp"

#include <leasehold_report_page.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <ostream>
#include <stdexcept>

namespace leasehold::report {
namespace {

constexpr std::string_view gap = "%DATA%";

} // namespace

void write_page(std::ostream& to, std::string_view json)
{
    const std::string_view page = page_html;
    const auto at = page.find(gap);
    to << page.substr(0, at);
    // The data must not end the script element that contains them.
    for (const char c : json) {
        if (c == '<')
            to << "\\u003c";
        else
            to << c;
    }
    to << page.substr(at + gap.size());
}

void write_page_file(const std::string& file, std::string_view json)
{
    std::ofstream out(file, std::ios::binary);
    write_page(out, json);
    if (!out.flush())
        throw std::runtime_error("cannot write " + file);
}

void append_json(std::string& to, std::string_view text)
{
    to += '"';
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            to += '\\';
            to += c;
        }
        else if (byte < 0x20) {
            std::array<char, 8> code{};
            std::snprintf(code.data(), code.size(), "\\u%04x", static_cast<unsigned>(byte));
            to += code.data();
        }
        else {
            to += byte < 0x80 ? c : '?';
        }
    }
    to += '"';
}

} // namespace leasehold::report
