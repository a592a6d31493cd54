#ifndef LEASEHOLD_SRC_BASE_UTF8_HPP
#define LEASEHOLD_SRC_BASE_UTF8_HPP

#include <cstddef>
#include <string_view>

namespace leasehold::detail {

/// The number of bytes of the first character of the text. 0: it is not UTF-8.
/// @param text Not empty.
[[nodiscard]] inline std::size_t utf8_length(std::string_view text) noexcept
{
    const auto byte = [&](std::size_t place) { return static_cast<unsigned char>(text[place]); };
    const unsigned char first = byte(0);
    if (first < 0x80)
        return 1;
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < length)
        return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if (byte(i) < 0x80 || byte(i) > 0xbf)
            return 0;
    }
    // Overlong forms, surrogates, and values beyond the last character.
    const unsigned char second = byte(1);
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
        return 0;
    return length;
}

} // namespace leasehold::detail

#endif
