#ifndef LEASEHOLD_TOOL_VALUES_HPP
#define LEASEHOLD_TOOL_VALUES_HPP

#include <chrono>
#include <string>
#include <string_view>

namespace leasehold::tool {

/// Reads "500ms", "15s", "2.5s", "2m", "1h".
/// @throws usage_error
[[nodiscard]] std::chrono::milliseconds read_duration(std::string_view text);

/// A part of a duration: "20%", or a duration.
class share
{
public:
    explicit constexpr share(double percent) noexcept : percent_(percent) {}

    /// @throws usage_error
    [[nodiscard]] static share read(std::string_view text);

    [[nodiscard]] std::chrono::milliseconds of(std::chrono::milliseconds whole) const noexcept;

private:
    explicit constexpr share(std::chrono::milliseconds fixed) noexcept : fixed_(fixed) {}

    double percent_ = 0;
    std::chrono::milliseconds fixed_{-1}; ///< If negative, `percent_` is used.
};

/// The duration in the largest unit in which it is a whole number, such as "1500ms".
[[nodiscard]] std::string to_text(std::chrono::milliseconds);

} // namespace leasehold::tool

#endif
