#ifndef LEASEHOLD_SRC_POSTGRES_PROTOCOL_BIG_ENDIAN_HPP
#define LEASEHOLD_SRC_POSTGRES_PROTOCOL_BIG_ENDIAN_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace leasehold::postgres_store {

/// The binary format of an integer.
template <class Number>
std::array<char, sizeof(Number)> to_big_endian(Number value) noexcept
{
    std::array<char, sizeof(Number)> bytes;
    auto rest = static_cast<std::uint64_t>(value);
    for (std::size_t i = bytes.size(); i-- > 0; rest >>= 8)
        bytes[i] = static_cast<char>(rest & 0xff);
    return bytes;
}

/// Reads an integer of at most eight bytes; none is 0.
inline std::int64_t from_big_endian(std::string_view bytes) noexcept
{
    if (bytes.empty() || bytes.size() > sizeof(std::int64_t))
        return 0;
    // The sign is that of the first byte.
    std::uint64_t value = static_cast<signed char>(bytes[0]) < 0 ? ~std::uint64_t(0) : 0;
    for (const char c : bytes)
        value = (value << 8) | static_cast<unsigned char>(c);
    return static_cast<std::int64_t>(value);
}

} // namespace leasehold::postgres_store

#endif
