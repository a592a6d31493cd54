#ifndef LEASEHOLD_SRC_EXTRAS_LOG_LINE_LIMIT_HPP
#define LEASEHOLD_SRC_EXTRAS_LOG_LINE_LIMIT_HPP

#include <leasehold/clock.hpp>

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace leasehold::detail {

/// Decides which lines a log writes: each topic once a minute, and a number of lines a minute.
class line_limit
{
public:
    enum class verdict : std::uint8_t
    {
        write,
        repeated, ///< The topic was written less than a minute ago.
        last,     ///< The first line beyond the number: say that lines are left out.
        too_many,
    };

    static constexpr std::uint32_t lines = 20;
    static constexpr std::chrono::minutes period{1};

    [[nodiscard]] verdict judge(std::string_view topic, clock::time_point now);

private:
    struct written
    {
        std::string topic;
        clock::time_point at;
    };

    std::deque<written> topics_; ///< Of the last minute, so there are at most `lines`.
    bool silent_ = false;
};

} // namespace leasehold::detail

#endif
