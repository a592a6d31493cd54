#ifndef LEASEHOLD_SRC_BASE_URL_HPP
#define LEASEHOLD_SRC_BASE_URL_HPP

#include <leasehold/detail/export.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

// Boost.URL is not used because it must be compiled. The library needs only header-only parts of
// Boost.
namespace leasehold::detail {

/// "<part> is '<value>', must be <allowed>"
[[nodiscard]] LEASEHOLD_EXPORT std::string wrong_value(std::string_view part,
                                                       std::string_view value,
                                                       std::string_view allowed);

/// @throws boost::system::system_error `errc::invalid_url` with this text.
[[noreturn]] LEASEHOLD_EXPORT void refuse_url(const std::string& text);
/// As above, with the text of `wrong_value`.
[[noreturn]] LEASEHOLD_EXPORT void refuse_url(std::string_view part, std::string_view value,
                                              std::string_view allowed);

/// "a, b or c"
template <class Range>
std::string one_of(const Range& names)
{
    std::string text;
    std::size_t left = std::size(names);
    for (const auto& each : names) {
        text.append(text.empty() ? "" : left == 1 ? " or " : ", ").append(each);
        --left;
    }
    return text;
}

/// The parts of a URL, still encoded. `user` and `query` may contain secrets.
struct url_parts
{
    std::string scheme; ///< In lower case. Empty: there is none, and no other part.
    bool has_authority = false;
    std::string_view user; ///< The part before the '@'.
    std::string_view hosts;
    std::string_view path;
    std::string_view query;
};

/// Views into `url`.
/// @throws boost::system::system_error `errc::invalid_url` for a fragment or an '@' after the
/// hosts.
[[nodiscard]] LEASEHOLD_EXPORT url_parts split_url(std::string_view url);

/// Decodes percent-encoding. An error names only the part, because the text may be a secret.
[[nodiscard]] LEASEHOLD_EXPORT std::string decode_url(std::string_view text, std::string_view part);

/// Appends the percent-encoding of a character: "%2F".
LEASEHOLD_EXPORT void append_encoded(std::string& to, char c);

/// Appends a text. Its letters, digits and those of `marks` stay, the rest is percent-encoded.
LEASEHOLD_EXPORT void append_encoded(std::string& to, std::string_view text,
                                     std::string_view marks);

/// Returns the text before `mark`, and removes it and the mark from `text`. Without a mark it
/// returns all of `text`.
[[nodiscard]] LEASEHOLD_EXPORT std::string_view take_until(std::string_view& text, char mark);

/// A host of a URL, decoded.
struct url_host
{
    std::string name; ///< A name, or a numeric address without brackets.
    std::uint16_t port;
};

/// The hosts, separated by commas. `port` is used where none is given.
[[nodiscard]] LEASEHOLD_EXPORT std::vector<url_host> read_hosts(std::string_view hosts,
                                                                std::uint16_t port);

/// False: the text is not a number of this type.
template <class Number>
bool read_number(std::string_view text, Number& value)
{
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    return failure == std::errc() && end == text.data() + text.size();
}

/// Calls `f` with the name and the value of each parameter, decoded.
template <class F>
void each_parameter(std::string_view query, F f)
{
    std::set<std::string> seen;
    while (!query.empty()) {
        std::string_view value = take_until(query, '&');
        const std::string name = decode_url(take_until(value, '='), "parameter");
        if (!seen.insert(name).second)
            refuse_url("parameter", name, "given once");
        f(name, decode_url(value, "parameter " + name));
    }
}

} // namespace leasehold::detail

#endif
