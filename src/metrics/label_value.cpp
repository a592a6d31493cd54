#include "metrics/label_value.hpp"

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

bool is_continuation(char c) noexcept
{
    return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

/// How long the character is that the text begins with; 0 when that is no UTF-8, or a control
/// character.
std::size_t character(std::string_view text) noexcept
{
    if (is_plain(text[0]))
        return 1;
    const auto lead = static_cast<unsigned char>(text[0]);
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || text.size() < length ||
        !std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(length),
                     is_continuation))
        return 0;
    // Longer than need be, a surrogate, above the last character, or one of the second set of
    // control characters.
    const auto second = static_cast<unsigned char>(text[1]);
    const bool wrong = (lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
                       (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F) ||
                       (lead == 0xC2 && second < 0xA0);
    return wrong ? 0 : length;
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
