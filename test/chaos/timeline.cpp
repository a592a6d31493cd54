#include "chaos/timeline.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace leasehold::test::chaos {
namespace {

// An amount that can be read.
constexpr std::size_t most_lines = 120;

std::string milliseconds_text(stamp time)
{
    char text[32];
    std::snprintf(text, sizeof text, "%+.2f", static_cast<double>(time.count()) / 1e6);
    return text;
}

std::string describe(const event& e, stamp zero)
{
    std::string text(name_of(e.what));
    if (e.op != 0)
        text = '#' + std::to_string(e.op) + ' ' + text;
    if (e.fence != 0)
        text += ", fence " + std::to_string(e.fence);
    switch (e.what) {
    case verb::granted:
    case verb::renewed:
    case verb::lost:
    case verb::releasing:
    case verb::dropped:
        if (e.number != 0)
            text += ", deadline " + milliseconds_text(e.deadline() - zero) +
                    (e.flag ? ", valid" : ", not valid");
        break;
    case verb::stalled: text += " since " + milliseconds_text(stamp(e.number) - zero); break;
    case verb::read:
    case verb::writing:
    case verb::wrote:
    case verb::refused: text += ", value " + std::to_string(e.number); break;
    default: break;
    }
    return e.word.empty() ? text : text + ", " + e.word;
}

} // namespace

void print_timeline(std::ostream& to, const record& all, const violation& around)
{
    const stamp zero = around.at;
    std::vector<std::pair<stamp, std::string>> lines;
    for (const history& client : all.clients) {
        for (const event& each : client.events) {
            const bool meant = each.name.empty() ? each.what != verb::stalled ||
                                                       each.at - stamp(each.number) > all.lease / 10
                                                 : around.name.empty() || each.name == around.name;
            if (meant && each.at > zero - 2 * all.lease && each.at < zero + all.lease)
                lines.emplace_back(each.at, client.client + ' ' + describe(each, zero));
        }
    }
    for (const fault& each : all.faults) {
        if (!each.name.empty() && !around.name.empty() && each.name != around.name)
            continue;
        if (each.end < zero - 3 * all.lease || each.begin > zero + all.lease)
            continue;
        const std::string text = "*** " + each.what + " (" + each.whom +
                                 (each.loses ? ", loses data)" : ")");
        lines.emplace_back(each.begin, text + " begins");
        lines.emplace_back(each.end, text + " is over");
    }
    std::stable_sort(lines.begin(), lines.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    auto middle = std::find_if(lines.begin(), lines.end(),
                               [&](const auto& each) { return each.first >= zero; });
    const auto before = std::min<std::size_t>(static_cast<std::size_t>(middle - lines.begin()),
                                              most_lines * 2 / 3);
    const auto after = std::min<std::size_t>(static_cast<std::size_t>(lines.end() - middle),
                                             most_lines - before);
    for (auto each = middle - static_cast<std::ptrdiff_t>(before);
         each != middle + static_cast<std::ptrdiff_t>(after); ++each) {
        char time[32];
        std::snprintf(time, sizeof time, "%12.2f ms  ",
                      static_cast<double>((each->first - zero).count()) / 1e6);
        to << time << each->second << '\n';
    }
}

} // namespace leasehold::test::chaos
