#include "fuzz/targets.hpp"

#include <leasehold/error.hpp>
#include <leasehold/owner.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

namespace leasehold::fuzz {
namespace {

std::optional<leasehold::owner> read(std::string_view text)
{
    try {
        return leasehold::owner::from_string(text);
    }
    catch (const boost::system::system_error& refused) {
        const std::string_view said = refused.what();
        require(refused.code() == errc::invalid_option, "refused for another reason");
        require(said.find("owner: ") != std::string_view::npos &&
                    said.find("<uuid>:<number>#<fence>") != std::string_view::npos,
                "does not say what is expected");
        return std::nullopt;
    }
}

bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

bool is_number(std::string_view text)
{
    return !text.empty() && text.size() <= 20 && (text == "0" || text.front() != '0') &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }) &&
           (text.size() < 20 || text <= "18446744073709551615");
}

// `<uuid>:<number>#<fence>`, as owner.hpp says.
bool is_owner(std::string_view text)
{
    if (text.size() < 40 || text[36] != ':')
        return false;
    for (std::size_t i = 0; i < 36; ++i) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? text[i] != '-' : !is_hex(text[i]))
            return false;
    }
    const std::size_t hash = text.find('#');
    return hash != std::string_view::npos && is_number(text.substr(37, hash - 37)) &&
           is_number(text.substr(hash + 1));
}

// Makes an owner out of these bytes.
std::string made_of(std::string_view bytes)
{
    unsigned char raw[32] = {};
    std::memcpy(raw, bytes.data(), std::min(bytes.size(), sizeof raw));
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (std::size_t i = 0; i < 16; ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            text += '-';
        text.append({digits[raw[i] >> 4], digits[raw[i] & 15]});
    }
    std::uint64_t numbers[2];
    std::memcpy(numbers, raw + 16, sizeof numbers);
    return text + ':' + std::to_string(numbers[0]) + '#' + std::to_string(numbers[1]);
}

} // namespace

void owner(std::string_view input)
{
    const auto parsed = read(input);
    require(parsed.has_value() == is_owner(input),
            "what is an owner and what is taken for one differ");
    if (parsed) {
        require(parsed->to_string() == input, "an owner that was read is written differently");
        require(parsed->id() == input.substr(0, input.find('#')),
                "the identity is not what stands before the fence");
        require(!parsed->empty() && input.size() <= 80, "an owner that is empty or too long");
    }
    const std::string text = made_of(input);
    const auto made = read(text);
    require(made.has_value() && made->to_string() == text, "an owner is not read");
    require(read(made->to_string()) == made, "an owner that was written and read is another");
}

} // namespace leasehold::fuzz
