#include "values.hpp"

#include "command_line.hpp"

#include <charconv>
#include <cmath>
#include <system_error>

namespace leasehold::tool {
namespace {

using std::chrono::milliseconds;

/// Reads a number and removes it from the text. Returns false if there is none.
bool take_number(std::string_view& text, double& number)
{
    const char* const end = text.data() + text.size();
    const auto [stopped, failed] = std::from_chars(text.data(), end, number,
                                                   std::chars_format::fixed);
    if (failed != std::errc() || !std::isfinite(number) || number < 0)
        return false;
    text.remove_prefix(static_cast<std::size_t>(stopped - text.data()));
    return true;
}

struct unit
{
    std::string_view name;
    double length; // in milliseconds
};

constexpr unit units[] = {{"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}};

} // namespace

milliseconds read_duration(std::string_view text)
{
    std::string_view rest = text;
    double number = 0;
    if (take_number(rest, number)) {
        for (const unit& each : units) {
            // At most a thousand years, so that sums do not overflow.
            if (rest == each.name && number * each.length < 3.2e13)
                return milliseconds(std::llround(number * each.length));
        }
    }
    throw usage_error("is '" + std::string(text) +
                      "'; it must be a number with a unit (ms, s, m, h), such as 15s or 500ms");
}

share share::read(std::string_view text)
{
    if (!text.ends_with('%'))
        return share(read_duration(text));
    std::string_view rest = text;
    double percent = 0;
    if (!take_number(rest, percent) || rest != "%" || percent > 100)
        throw usage_error("is '" + std::string(text) +
                          "'; it must be from 0% to 100%, or a duration such as 500ms");
    return share(percent);
}

milliseconds share::of(milliseconds whole) const noexcept
{
    if (fixed_.count() >= 0)
        return fixed_;
    return milliseconds(std::llround(static_cast<double>(whole.count()) * percent_ / 100));
}

std::string to_text(milliseconds duration)
{
    const unit* best = units;
    for (const unit& each : units) {
        if (duration.count() != 0 && duration.count() % static_cast<long long>(each.length) == 0)
            best = &each;
    }
    return std::to_string(duration.count() / static_cast<long long>(best->length))
        .append(best->name);
}

} // namespace leasehold::tool
