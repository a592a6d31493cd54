#ifndef LEASEHOLD_TEST_SUPPORT_COMMAND_LINE_HPP
#define LEASEHOLD_TEST_SUPPORT_COMMAND_LINE_HPP

#include <charconv>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace leasehold::test {

/// Names the wrong argument and the permitted ones.
struct bad_argument : std::invalid_argument
{
    using std::invalid_argument::invalid_argument;

    /// "--minutes is '0'; it must be a number from 0.1 to 1440".
    bad_argument(std::string_view option, std::string_view given, std::string_view must_be)
        : std::invalid_argument(std::string(option)
                                    .append(" is '")
                                    .append(given)
                                    .append("'; it must be ")
                                    .append(must_be))
    {}
};

/// The options of a program, in any order. If an option is repeated, the last one counts.
class command_line
{
public:
    using action = std::function<void()>;
    using reader = std::function<void(const std::string& value)>;

    /// An option without a value.
    command_line& flag(std::string_view name, action found)
    {
        options_.push_back({name, std::move(found), nullptr});
        return *this;
    }
    command_line& flag(std::string_view name, bool& found)
    {
        return flag(name, [&found] { found = true; });
    }

    /// An option with a value.
    command_line& value(std::string_view name, reader found)
    {
        options_.push_back({name, nullptr, std::move(found)});
        return *this;
    }
    command_line& value(std::string_view name, std::string& to)
    {
        return value(name, [&to](const std::string& given) { to = given; });
    }

    /// An option with a whole number.
    /// @param to A `std::uint64_t`, or an optional one.
    template <class Number>
    command_line& number(std::string_view name, Number& to)
    {
        return value(name, [name, &to](const std::string& given) { to = whole(name, given); });
    }

    /// @throws bad_argument
    void read(int count, const char* const* words) const
    {
        for (int i = 1; i < count; ++i) {
            const option& known = find(words[i]);
            if (!known.with_value)
                known.alone();
            else if (i + 1 == count)
                throw bad_argument(std::string(known.name) + " needs a value");
            else
                known.with_value(words[++i]);
        }
    }

private:
    struct option
    {
        std::string_view name;
        action alone;
        reader with_value;
    };

    static std::uint64_t whole(std::string_view name, const std::string& given)
    {
        std::uint64_t number = 0;
        const char* const end = given.data() + given.size();
        const auto [stopped, failed] = std::from_chars(given.data(), end, number);
        if (failed != std::errc() || stopped != end)
            throw bad_argument(name, given, "a whole number, not negative, below 2^64");
        return number;
    }

    [[nodiscard]] const option& find(std::string_view word) const
    {
        std::string all;
        for (const option& each : options_) {
            if (each.name == word)
                return each;
            all.append(all.empty() ? "" : ", ").append(each.name);
        }
        throw bad_argument(
            std::string("unknown argument '").append(word).append("'; allowed: ").append(all));
    }

    std::vector<option> options_;
};

} // namespace leasehold::test

#endif
