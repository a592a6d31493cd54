#ifndef LEASEHOLD_TEST_SUPPORT_RESP_HPP
#define LEASEHOLD_TEST_SUPPORT_RESP_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::test {

/// One value of the Redis protocol, version 2 or 3.
struct resp_value
{
    enum class kind : std::uint8_t
    {
        nil,
        status,
        error,
        integer,
        string, ///< Types with a text: bulk and verbatim strings, doubles and big numbers.
        boolean,
        array, ///< Also sets. Maps are arrays of alternating keys and values.
        push,
    };

    kind type = kind::nil;
    std::string text;              ///< The text of a status, an error or a string.
    std::int64_t number = 0;       ///< The value of an integer or a boolean.
    std::vector<resp_value> items; ///< The values of an array or a push.

    bool is_nil() const noexcept { return type == kind::nil; }
    bool is_error() const noexcept { return type == kind::error; }
};

/// The bytes are not valid in the Redis protocol.
struct resp_malformed : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

/// The first value of `bytes`, and its length. Empty if it is not complete. Throws
/// `resp_malformed`.
std::optional<std::pair<resp_value, std::size_t>> parse_resp(std::string_view bytes);

/// A command in the form of clients.
std::string make_request(const std::vector<std::string>& words);

/// As text for a failing check, for example `[1, "x", nil]`.
std::string describe(const resp_value& value);

} // namespace leasehold::test

#endif
