#include "redis/redlock/watched_names.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace leasehold::quorum {
namespace {

// The time in which members report one release, or a watch.
constexpr clock::duration merge_time = std::chrono::milliseconds(10);
constexpr clock::duration watch_time = std::chrono::milliseconds(50);

} // namespace

bool watched_names::remove(std::string_view name)
{
    const auto found = names_.find(name);
    if (found == names_.end())
        return false;
    names_.erase(found);
    return true;
}

bool watched_names::watching(unsigned member, std::string_view name, mask needed,
                             clock::time_point now)
{
    const auto found = names_.find(name);
    return found != names_.end() &&
           take(found->second, found->second.merged.watching(member, needed), now + watch_time);
}

bool watched_names::released(unsigned member, std::string_view name, std::string_view sign,
                             unsigned enough, clock::time_point now)
{
    const auto found = names_.find(name);
    return found != names_.end() &&
           take(found->second, found->second.merged.released(member, sign, enough),
                now + merge_time);
}

void watched_names::unsubscribed(unsigned member, unsigned majority) noexcept
{
    for (auto& [name, each] : names_)
        each.merged.unsubscribed(member, majority);
}

bool watched_names::take(watched& of, release_merge::report what, clock::time_point latest) noexcept
{
    if (what == release_merge::report::soon) {
        of.due = std::min(of.due, latest);
        next_ = std::min(next_, of.due);
    }
    return what == release_merge::report::now;
}

std::vector<std::string> watched_names::due(clock::time_point now, unsigned majority)
{
    std::vector<std::string> names;
    next_ = clock::time_point::max();
    for (auto& [name, each] : names_) {
        if (each.due <= now) {
            each.due = clock::time_point::max();
            if (each.merged.due(majority))
                names.push_back(name);
        }
        next_ = std::min(next_, each.due);
    }
    return names;
}

} // namespace leasehold::quorum
