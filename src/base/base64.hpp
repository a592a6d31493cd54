#ifndef LEASEHOLD_SRC_BASE_BASE64_HPP
#define LEASEHOLD_SRC_BASE_BASE64_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace leasehold::detail {

/// The standard alphabet of RFC 4648.
inline constexpr std::string_view base64_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Encodes bytes, with padding.
inline std::string encode_base64(std::string_view bytes)
{
    std::string result;
    result.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::string_view part = bytes.substr(i, 3);
        std::uint32_t bits = 0;
        for (std::size_t k = 0; k < 3; ++k)
            bits = (bits << 8) | (k < part.size() ? static_cast<unsigned char>(part[k]) : 0U);
        for (std::size_t k = 0; k < 4; ++k)
            result += k <= part.size() ? base64_digits[(bits >> (18 - 6 * k)) & 63] : '=';
    }
    return result;
}

/// Decodes a text with padding. Nothing: the text is malformed.
inline std::optional<std::string> decode_base64(std::string_view text)
{
    if (text.size() % 4 != 0)
        return std::nullopt;
    const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
    text.remove_suffix(padding);
    std::string result;
    result.reserve(text.size() * 3 / 4);
    std::uint32_t bits = 0;
    int count = 0;
    for (const char c : text) {
        const std::size_t digit = base64_digits.find(c);
        if (digit == base64_digits.npos)
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
