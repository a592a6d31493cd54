#ifndef LEASEHOLD_SRC_TESTING_SCRIPT_MODELS_HPP
#define LEASEHOLD_SRC_TESTING_SCRIPT_MODELS_HPP

#include "testing/redis_model.hpp"
#include "testing/script_calls.hpp"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

// What the scripts of the library do, line for line, by layout.
namespace leasehold::testing::impl {

message run_redisson(known_script called, script_calls& redis, words keys, words arguments);
message run_native(known_script called, script_calls& redis, words keys, words arguments);
message run_quorum(known_script called, script_calls& redis, words keys, words arguments);

inline std::optional<std::int64_t> to_integer(std::string_view text)
{
    std::int64_t value = 0;
    const auto [last, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    return failed == std::errc() && last == text.data() + text.size() ? std::optional(value)
                                                                      : std::nullopt;
}

/// As in Lua.
inline std::optional<double> to_number(const std::string& text)
{
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (end == text.c_str())
        return std::nullopt;
    while (*end == ' ')
        ++end;
    return *end == '\0' ? std::optional(value) : std::nullopt;
}

/// As a number of Lua becomes an answer; what is too large is what usual processors make of it.
inline std::int64_t as_integer(double number)
{
    constexpr double limit = 9223372036854775808.0;
    return number < limit ? static_cast<std::int64_t>(number)
                          : std::numeric_limits<std::int64_t>::min();
}

/// As "%.0f" writes a whole number.
inline std::string whole(double number)
{
    return std::to_string(as_integer(number));
}

inline bool is_wrong_type(const command_error& failed)
{
    return failed.text.starts_with("WRONGTYPE");
}

/// What the check of either layout answers, which looks at these commands.
inline message check_rights(script_calls& redis, std::initializer_list<const char*> commands)
{
    for (const char* const each : commands) {
        try {
            redis.permit(each);
        }
        catch (const command_error& refused) {
            return message::error("NOPERM " + std::string(each) +
                                  ", which locks need: " + refused.text);
        }
    }
    return message::number(1);
}

} // namespace leasehold::testing::impl

#endif
