#include "chaos/round_page.hpp"

#include "report/timeline.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace leasehold::test::chaos {
namespace {

using leasehold::report::look;
using leasehold::report::timeline;

constexpr std::size_t most_events = 5000;

double seconds(stamp time)
{
    return static_cast<double>(time.count()) / 1e9;
}

std::string describe(const event& e)
{
    std::string text = '#' + std::to_string(e.op) + ' ' + std::string(name_of(e.what));
    if (e.fence != 0)
        text += ", fence " + std::to_string(e.fence);
    return e.word.empty() ? text : text + ", " + e.word;
}

struct span
{
    stamp from, to;

    [[nodiscard]] bool has(stamp at) const { return at >= from && at <= to; }
};

/// The times of all events in the span, in order.
std::vector<stamp> times(const record& all, const span& within)
{
    std::vector<stamp> found;
    for (const history& client : all.clients)
        for (const event& each : client.events)
            if (within.has(each.at))
                found.push_back(each.at);
    std::sort(found.begin(), found.end());
    return found;
}

/// The span around the first violation, or at the end if there is none, with as many events as can
/// be drawn.
span shown(const record& all, const report& found)
{
    const bool wrong = !found.violations.empty();
    const stamp middle = wrong ? found.violations.front().at : stamp::max();
    span out = wrong ? span{middle - 3 * all.lease, middle + 2 * all.lease}
                     : span{stamp::min(), stamp::max()};
    const std::vector<stamp> at = times(all, out);
    if (at.size() <= most_events)
        return at.empty() ? out : span{at.front(), at.back()};
    const auto place = static_cast<std::size_t>(std::lower_bound(at.begin(), at.end(), middle) -
                                                at.begin());
    const std::size_t last = std::min(at.size(), place + most_events / 3);
    return {at[last - std::min(last, most_events)], at[last - 1]};
}

/// The events of one process.
class process_lanes
{
public:
    process_lanes(timeline& to, std::string name, stamp zero)
        : page_(to), name_(std::move(name)), zero_(zero)
    {}

    void add(const event& e)
    {
        const double at = seconds(e.at - zero_);
        if (e.what == verb::stalled) {
            const auto bar = page_.begin_bar(page_.lane(name_), seconds(stamp(e.number) - zero_),
                                             look::stopped, "stopped", "did not run");
            return page_.end_bar(bar, at);
        }
        const std::size_t lane = page_.lane(e.name.empty() ? name_ : name_ + ' ' + e.name);
        if (e.what == verb::granted) {
            held_[e.op] = page_.begin_bar(lane, at, look::lease, std::to_string(e.fence),
                                          describe(e));
            return;
        }
        const bool over = e.what == verb::lost || e.what == verb::releasing ||
                          e.what == verb::dropped;
        if (const auto held = held_.find(e.op); over && held != held_.end()) {
            page_.end_bar(held->second, at, describe(e));
            held_.erase(held);
        }
        const bool bad = e.what == verb::lost || e.what == verb::refused || e.what == verb::stale;
        page_.mark(lane, at, bad ? look::loss : look::message, describe(e));
    }

private:
    timeline& page_;
    const std::string name_;
    const stamp zero_;
    std::map<std::uint32_t, std::size_t> held_; ///< The bars by operation.
};

} // namespace

std::string page_of(const record& all, const report& found, std::string title)
{
    timeline page(std::move(title));
    const span within = shown(all, found);
    const stamp zero = within.from;
    page.fact("violations", std::to_string(found.violations.size()));
    for (const history& client : all.clients) {
        process_lanes lanes(page, client.client, zero);
        for (const event& each : client.events)
            if (within.has(each.at))
                lanes.add(each);
    }
    for (const fault& each : all.faults) {
        if (each.end < within.from || each.begin > within.to)
            continue;
        const auto bar = page.begin_bar(
            page.lane("fault: " + each.whom), seconds(std::max(each.begin, within.from) - zero),
            look::fault, each.what, each.what + (each.loses ? ", loses data" : ""));
        page.end_bar(bar, seconds(std::min(each.end, within.to) - zero));
    }
    for (const violation& each : found.violations) {
        if (within.has(each.at))
            page.mark(page.lane("WRONG"), seconds(each.at - zero), look::wrong,
                      std::string(name_of(each.broken)) + ' ' + each.name + ": " + each.text);
    }
    return page.to_json();
}

} // namespace leasehold::test::chaos
