#ifndef LEASEHOLD_SRC_BASE_BASE64_HPP
#define LEASEHOLD_SRC_BASE_BASE64_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace leasehold::detail {

/// Decodes the standard alphabet of RFC 4648, with padding. Nothing: the text is malformed.
inline std::optional<std::string> decode_base64(std::string_view text)
{
    constexpr std::string_view alphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (text.size() % 4 != 0)
        return std::nullopt;
    const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
    text.remove_suffix(padding);
    std::string result;
    result.reserve(text.size() * 3 / 4);
    std::uint32_t bits = 0;
    int count = 0;
    for (const char c : text) {
        const std::size_t digit = alphabet.find(c);
        if (digit == alphabet.npos)
            return std::nullopt;
        bits = (bits << 6) | static_cast<std::uint32_t>(digit);
        count += 6;
        if (count >= 8) {
            count -= 8;
            result += static_cast<char>((bits >> count) & 0xff);
        }
    }
    return result;
}

} // namespace leasehold::detail

#endif
