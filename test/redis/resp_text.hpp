#ifndef LEASEHOLD_TEST_REDIS_RESP_TEXT_HPP
#define LEASEHOLD_TEST_REDIS_RESP_TEXT_HPP

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::test {

/// The words of each of several consecutive commands.
inline std::vector<std::vector<std::string>> commands_in(std::string_view text)
{
    const auto number = [&] {
        std::size_t value = 0;
        const std::size_t end = text.find("\r\n");
        std::from_chars(text.data() + 1, text.data() + end, value);
        text.remove_prefix(end + 2);
        return value;
    };
    std::vector<std::vector<std::string>> all;
    while (!text.empty()) {
        auto& command = all.emplace_back();
        for (std::size_t count = number(); count > 0; --count) {
            const std::size_t size = number();
            command.emplace_back(text.substr(0, size));
            text.remove_prefix(size + 2);
        }
    }
    return all;
}

/// @name The replies of a server
/// @{
inline std::string bulk(std::string_view text)
{
    return '$' + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}

inline std::string numbers(std::initializer_list<std::int64_t> all)
{
    std::string text = '*' + std::to_string(all.size()) + "\r\n";
    for (const std::int64_t each : all)
        text += ':' + std::to_string(each) + "\r\n";
    return text;
}
/// @}

} // namespace leasehold::test

#endif
