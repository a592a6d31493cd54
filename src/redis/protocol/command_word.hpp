#ifndef LEASEHOLD_SRC_REDIS_PROTOCOL_COMMAND_WORD_HPP
#define LEASEHOLD_SRC_REDIS_PROTOCOL_COMMAND_WORD_HPP

#include <boost/redis/request.hpp>

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>

namespace leasehold::redis_store {

/// A word of a command, by the customization point of Boost.Redis: what that does with a string, in
/// a third of the instructions. Words would else be a sixth of what a client does for a free lock.
struct command_word
{
    std::string_view text; ///< Stays where it is until the command is made.

    friend void boost_redis_to_bulk(std::string& payload, const command_word& word)
    {
        char head[24] = "$";
        char* end = std::to_chars(std::begin(head) + 1, std::end(head), word.text.size()).ptr;
        *end++ = '\r';
        *end++ = '\n';
        const auto length = static_cast<std::size_t>(end - std::begin(head));
        const std::size_t before = payload.size();
        payload.resize(before + length + word.text.size() + 2);
        char* to = payload.data() + before;
        std::memcpy(to, head, length);
        if (!word.text.empty())
            std::memcpy(to + length, word.text.data(), word.text.size());
        to[length + word.text.size()] = '\r';
        to[length + word.text.size() + 1] = '\n';
    }
};

/// A number, likewise.
template <std::integral Number>
struct command_number
{
    Number value;

    friend void boost_redis_to_bulk(std::string& payload, const command_number& number)
    {
        char digits[24];
        const char* const end =
            std::to_chars(std::begin(digits), std::end(digits), number.value).ptr;
        boost_redis_to_bulk(payload, command_word{{std::begin(digits), end}});
    }
};

inline command_word as_word(std::string_view text) noexcept
{
    return {text};
}

template <std::integral Number>
command_number<Number> as_word(Number value) noexcept
{
    return {value};
}

/// Adds a command, as `request::push` does.
template <class... Words>
void push_command(boost::redis::request& to, std::string_view command, const Words&... words)
{
    to.push(command, as_word(words)...);
}

} // namespace leasehold::redis_store

#endif
