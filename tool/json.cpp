#include "json.hpp"

#include "base/utf8.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

namespace leasehold::tool {

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
        const std::size_t length = detail::utf8_length(value);
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
