#include "fuzz/targets.hpp"

#include <cstdio>
#include <cstdlib>

namespace leasehold::fuzz {

void fail(const std::string& promise)
{
    std::fprintf(stderr, "BROKEN: %s\n", promise.c_str());
    std::abort();
}

std::string quoted(std::string_view bytes)
{
    if (bytes.empty())
        return {};
    std::string text = "\"";
    for (const char c : bytes) {
        if (c >= ' ' && c <= '~' && c != '"' && c != '\\') {
            text += c;
            continue;
        }
        char escaped[5];
        std::snprintf(escaped, sizeof escaped, "\\x%02x",
                      static_cast<unsigned>(static_cast<unsigned char>(c)));
        text += escaped;
    }
    return text + '"';
}

std::string_view take_line(std::string_view& rest)
{
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    return line;
}

} // namespace leasehold::fuzz
