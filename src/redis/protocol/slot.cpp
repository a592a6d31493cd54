#include "redis/protocol/slot.hpp"

#include <boost/crc.hpp>

#include <array>
#include <charconv>
#include <vector>

namespace leasehold::redis_store {
namespace {

slot_number hash(std::string_view text) noexcept
{
    boost::crc_optimal<16, 0x1021, 0, 0, false, false> crc; // known as XMODEM
    crc.process_bytes(text.data(), text.size());
    return static_cast<slot_number>(crc.checksum() % slot_count);
}

std::string_view write(std::uint32_t number, std::array<char, 10>& digits) noexcept
{
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    return {digits.data(), static_cast<std::size_t>(end - digits.data())};
}

/// The smallest number for each slot; the largest of them is 109757.
std::vector<std::uint32_t> find_tags()
{
    constexpr std::uint32_t none = 0xffffffff;
    std::vector<std::uint32_t> found(slot_count, none);
    std::array<char, 10> digits{};
    std::size_t missing = slot_count;
    for (std::uint32_t number = 0; missing > 0; ++number) {
        std::uint32_t& place = found[hash(write(number, digits))];
        if (place == none) {
            place = number;
            --missing;
        }
    }
    return found;
}

} // namespace

std::string_view hash_tag(std::string_view key) noexcept
{
    const std::size_t begin = key.find('{');
    if (begin == std::string_view::npos)
        return {};
    const std::size_t end = key.find('}', begin + 1);
    return end == std::string_view::npos ? std::string_view()
                                         : key.substr(begin + 1, end - begin - 1);
}

slot_number slot_of(std::string_view key) noexcept
{
    const std::string_view tag = hash_tag(key);
    return hash(tag.empty() ? key : tag);
}

void append_short_tag(slot_number slot, std::string& to)
{
    static const std::vector<std::uint32_t> tags = find_tags();
    std::array<char, 10> digits{};
    to += write(tags[slot], digits);
}

} // namespace leasehold::redis_store
