#include "redis/commands/answers.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace leasehold::redis_store {

std::shared_ptr<const diagnostics> held_by(std::string holder)
{
    const auto made = std::make_shared<diagnostics>();
    made->holder = std::move(holder);
    return made;
}

std::shared_ptr<const diagnostics> held_by(std::int64_t first_bits)
{
    char digits[16];
    std::snprintf(digits, sizeof digits, "%08x",
                  static_cast<unsigned>(static_cast<std::uint32_t>(first_bits)));
    return held_by(std::string(digits));
}

std::chrono::milliseconds time_left(std::int64_t ms) noexcept
{
    using std::chrono::milliseconds;
    return std::clamp<milliseconds>(milliseconds(ms), milliseconds(-1), std::chrono::years(100));
}

error_code read_renewals(const reply& answer, std::span<renewal_result> results)
{
    if (!answer.is(results.size()))
        return errc::outcome_unknown;
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (answer.numbers[i] == 1)
            results[i] = renewal_result::renewed;
        else if (answer.numbers[i] == 0)
            results[i] = renewal_result::gone;
    }
    return {};
}

} // namespace leasehold::redis_store
