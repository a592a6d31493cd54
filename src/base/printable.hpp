#ifndef LEASEHOLD_SRC_BASE_PRINTABLE_HPP
#define LEASEHOLD_SRC_BASE_PRINTABLE_HPP

#include <string>
#include <string_view>

namespace leasehold::detail {

/// The text with its control characters written as \x00. It may quote external text: a NUL would
/// truncate it, and a line end or an escape would forge a line of a log.
inline std::string printable(std::string_view text)
{
    constexpr char digits[] = "0123456789abcdef";
    std::string result;
    result.reserve(text.size());
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= ' ' && byte != 0x7f)
            result += c;
        else
            result.append({'\\', 'x', digits[byte >> 4], digits[byte & 15]});
    }
    return result;
}

} // namespace leasehold::detail

#endif
