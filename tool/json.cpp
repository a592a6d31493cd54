#include "json.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

namespace leasehold::tool {
namespace {

/// How many bytes the first character has. 0: it is no UTF-8.
std::size_t length_of_first(std::string_view text)
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
    // Longer than need be, halves of a pair, and what is beyond the last character.
    const unsigned char second = byte(1);
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
        return 0;
    return length;
}

} // namespace

void json_writer::separate()
{
    if (needs_comma_)
        text_ += ',';
    needs_comma_ = true;
}

json_writer& json_writer::begin_object()
{
    separate();
    text_ += '{';
    needs_comma_ = false;
    return *this;
}

json_writer& json_writer::end_object()
{
    text_ += '}';
    needs_comma_ = true;
    return *this;
}

json_writer& json_writer::begin_array()
{
    separate();
    text_ += '[';
    needs_comma_ = false;
    return *this;
}

json_writer& json_writer::end_array()
{
    text_ += ']';
    needs_comma_ = true;
    return *this;
}

json_writer& json_writer::key(std::string_view name)
{
    separate();
    quote(name);
    text_ += ':';
    needs_comma_ = false;
    return *this;
}

json_writer& json_writer::text(std::string_view value)
{
    separate();
    quote(value);
    return *this;
}

json_writer& json_writer::digits(std::string_view value)
{
    separate();
    text_ += value;
    return *this;
}

json_writer& json_writer::number(double value)
{
    if (!std::isfinite(value))
        return null();
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    return digits({text.data(), static_cast<std::size_t>(end - text.data())});
}

json_writer& json_writer::boolean(bool value)
{
    separate();
    text_ += value ? "true" : "false";
    return *this;
}

json_writer& json_writer::null()
{
    separate();
    text_ += "null";
    return *this;
}

void json_writer::quote(std::string_view value)
{
    constexpr char hex[] = "0123456789abcdef";
    text_ += '"';
    while (!value.empty()) {
        const char first = value.front();
        const auto byte = static_cast<unsigned char>(first);
        const std::size_t length = length_of_first(value);
        if (first == '"' || first == '\\')
            text_.append({'\\', first});
        else if (byte < ' ' || byte == 0x7f)
            text_.append({'\\', 'u', '0', '0', hex[byte >> 4], hex[byte & 15]});
        else if (length == 0)
            text_.append("\\ufffd");
        else
            text_.append(value.substr(0, length));
        value.remove_prefix(length == 0 ? 1 : length);
    }
    text_ += '"';
}

} // namespace leasehold::tool
