#ifndef LEASEHOLD_SRC_POSTGRES_PROTOCOL_IDENTIFIER_HPP
#define LEASEHOLD_SRC_POSTGRES_PROTOCOL_IDENTIFIER_HPP

#include <string>
#include <string_view>

namespace leasehold::postgres_store {

/// A name as SQL: in quotes.
[[nodiscard]] inline std::string quoted(std::string_view name)
{
    std::string text = "\"";
    for (const char c : name)
        text.append(c == '"' ? 2 : 1, c);
    return text + '"';
}

/// The text of `schema.sql` for a schema of another name. The text names the schema only in quotes.
[[nodiscard]] inline std::string with_schema(std::string_view text, std::string_view schema)
{
    constexpr std::string_view usual = "\"leasehold\"";
    const std::string name = quoted(schema);
    std::string result;
    for (std::size_t at = text.find(usual); at != text.npos; at = text.find(usual)) {
        result.append(text.substr(0, at)).append(name);
        text.remove_prefix(at + usual.size());
    }
    return result.append(text);
}

} // namespace leasehold::postgres_store

#endif
