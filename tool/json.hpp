#ifndef LEASEHOLD_TOOL_JSON_HPP
#define LEASEHOLD_TOOL_JSON_HPP

#include <concepts>
#include <string>
#include <string_view>

namespace leasehold::tool {

/// Writes a JSON text in one line. Invalid UTF-8 is written as U+FFFD.
class json_writer
{
public:
    json_writer& begin_object();
    json_writer& end_object();
    json_writer& begin_array();
    json_writer& end_array();

    /// Adds the key of the next value.
    json_writer& key(std::string_view name);

    json_writer& text(std::string_view value);
    json_writer& number(std::integral auto value) { return digits(std::to_string(value)); }
    /// Adds the number with the fewest digits that represent it; null if it is not finite.
    json_writer& number(double value);
    json_writer& boolean(bool value);
    json_writer& null();

    [[nodiscard]] const std::string& str() const noexcept { return text_; }

private:
    json_writer& digits(std::string_view value);
    void separate();
    void quote(std::string_view value);

    std::string text_;
    bool needs_comma_ = false;
};

} // namespace leasehold::tool

#endif
