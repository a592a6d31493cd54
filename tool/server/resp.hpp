#ifndef LEASEHOLD_TOOL_SERVER_RESP_HPP
#define LEASEHOLD_TOOL_SERVER_RESP_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Commands to a Redis server and its replies, in RESP3.
namespace leasehold::tool {

/// The bytes are not RESP.
struct resp_error : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

/// A reply: a text, a number, nothing, an error, or a list of replies.
struct resp_value
{
    enum class kind : std::uint8_t
    {
        nothing,
        text,   ///< Also a decimal number, true and false, as text.
        number, ///< An integer.
        error,  ///< The error text is in `text`.
        list,   ///< Also a set, and a map as keys with their values after them.
    };

    kind type = kind::nothing;
    std::string text{};
    std::int64_t number = 0;
    std::vector<resp_value> items{};

    [[nodiscard]] bool is_error() const noexcept { return type == kind::error; }
    [[nodiscard]] bool is_nothing() const noexcept { return type == kind::nothing; }
    /// Returns true if the reply is an error with this code, its first word.
    [[nodiscard]] bool is_error(std::string_view code) const noexcept;
    /// Returns true for an error other than WRONGTYPE, which means that the key is now used
    /// otherwise.
    [[nodiscard]] bool is_refusal() const noexcept { return is_error() && !is_error("WRONGTYPE"); }

    /// Returns a number, also one written as text.
    [[nodiscard]] std::optional<std::int64_t> to_number() const noexcept;

    /// Returns the value of a key in a map, or null.
    [[nodiscard]] const resp_value* find(std::string_view key) const noexcept;
};

using command_words = std::vector<std::string>;

/// Appends a command in the format in which it is sent.
void append_command(const command_words& words, std::string& to);

/// Assembles replies that arrive in pieces.
class resp_reader
{
public:
    void add(std::string_view bytes) { bytes_.erase(0, std::exchange(begin_, 0)).append(bytes); }

    /// Returns the next complete reply, or nothing. Skips messages of channels.
    /// @throws resp_error
    [[nodiscard]] std::optional<resp_value> next();

private:
    std::string bytes_;
    std::size_t begin_ = 0; ///< The bytes before it were returned.
};

} // namespace leasehold::tool

#endif
