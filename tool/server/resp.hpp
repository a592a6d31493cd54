#ifndef LEASEHOLD_TOOL_SERVER_RESP_HPP
#define LEASEHOLD_TOOL_SERVER_RESP_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// What is said to a Redis server and what it answers, as RESP3 has it.
namespace leasehold::tool {

/// The bytes are no RESP.
struct resp_error : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

/// An answer: a text, a number, nothing, an error, or a list of answers.
struct resp_value
{
    enum class kind : std::uint8_t
    {
        nothing,
        text,   ///< Also a number with a point, true and false: as they are written.
        number, ///< Whole.
        error,  ///< The server's words are in `text`.
        list,   ///< Also a set; of a map each key, and its value behind it.
    };

    kind type = kind::nothing;
    std::string text{};
    std::int64_t number = 0;
    std::vector<resp_value> items{};

    [[nodiscard]] bool is_error() const noexcept { return type == kind::error; }
    [[nodiscard]] bool is_nothing() const noexcept { return type == kind::nothing; }
    /// The answer is an error of this code: its first word.
    [[nodiscard]] bool is_error(std::string_view code) const noexcept;
    /// An error, and not only that the key has another type, which means that it is another's now.
    [[nodiscard]] bool is_refusal() const noexcept { return is_error() && !is_error("WRONGTYPE"); }

    /// A number, also one that is written as a text.
    [[nodiscard]] std::optional<std::int64_t> to_number() const noexcept;

    /// The value behind a key of a map. Null: there is none.
    [[nodiscard]] const resp_value* find(std::string_view key) const noexcept;
};

using command_words = std::vector<std::string>;

/// Adds a command as it is sent.
void append_command(const command_words& words, std::string& to);

/// Puts together what comes in pieces.
class resp_reader
{
public:
    void add(std::string_view bytes) { bytes_.append(bytes); }

    /// The next answer, once all of it is there. Messages of channels are left out.
    /// @throws resp_error
    [[nodiscard]] std::optional<resp_value> next();

private:
    std::string bytes_;
};

} // namespace leasehold::tool

#endif
