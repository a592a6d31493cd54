#include "extras/metrics/label_value.hpp"

#include "base/utf8.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace leasehold::detail {
namespace {

constexpr std::size_t longest = 128;

bool is_plain(char c) noexcept
{
    return c >= ' ' && c <= '~';
}

/// The length of the first character of the text; 0 if it is not UTF-8, or a control character.
std::size_t character(std::string_view text) noexcept
{
    const std::size_t length = utf8_length(text);
    if (length == 1)
        return is_plain(text[0]) ? 1 : 0;
    const bool second_controls = text[0] == '\xc2' && length == 2 &&
                                 static_cast<unsigned char>(text[1]) < 0xa0;
    return second_controls ? 0 : length;
}

} // namespace

std::string label_value(std::string text)
{
    if (text.size() <= longest && std::all_of(text.begin(), text.end(), is_plain))
        return text;
    std::string value;
    for (std::string_view rest = text; !rest.empty() && value.size() < longest;) {
        const std::size_t length = character(rest);
        if (value.size() + length > longest)
            break;
        if (length == 0)
            value += '?';
        else
            value += rest.substr(0, length);
        rest.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return value;
}

} // namespace leasehold::detail
