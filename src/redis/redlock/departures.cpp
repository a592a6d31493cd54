#include "redis/redlock/departures.hpp"

#include <chrono>
#include <cstddef>
#include <utility>

namespace leasehold::quorum {
namespace {

// The limit of releases that are kept for a member that cannot be reached.
constexpr std::size_t most_departures = 10'000;

} // namespace

void departures::add(departure leaving)
{
    if (waiting_.size() == most_departures)
        waiting_.pop_front();
    waiting_.push_back(std::move(leaving));
}

std::deque<departure> departures::take() noexcept
{
    return std::exchange(waiting_, {});
}

void departures::may_run(std::string_view owner, std::string_view entry, clock::time_point limit,
                         clock::time_point now)
{
    std::erase_if(late_, [now](const late_request& each) { return each.limit <= now; });
    if (limit > now && late_.size() < most_departures)
        late_.push_back({std::string(owner), std::string(entry), limit});
}

std::optional<departure> departures::again(const release_request& leaving, clock::time_point sent,
                                           clock::time_point now) const
{
    for (const late_request& each : late_) {
        if (each.limit <= sent || each.owner != leaving.owner || each.entry != leaving.entry)
            continue;
        departure again(leaving, now);
        again.not_before = each.limit + std::chrono::milliseconds(1);
        return again;
    }
    return std::nullopt;
}

} // namespace leasehold::quorum
