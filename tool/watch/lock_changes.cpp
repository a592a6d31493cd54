#include "lock_changes.hpp"

#include <utility>

namespace leasehold::tool {

const char* name_of(lock_change::kind kind) noexcept
{
    switch (kind) {
    case lock_change::kind::held: return "held";
    case lock_change::kind::taken: return "taken";
    case lock_change::kind::passed: return "passed";
    case lock_change::kind::silent: return "silent";
    case lock_change::kind::heard: return "heard";
    case lock_change::kind::freed: break;
    }
    return "freed";
}

std::vector<lock_change> lock_changes::update(std::span<const lock_state> now, bool complete)
{
    using kind = lock_change::kind;
    std::vector<lock_change> changes;
    std::map<std::string, lock_state> seen;
    for (const lock_state& lock : now) {
        const auto known = before_.find(lock.name);
        if (known == before_.end())
            changes.push_back({updated_ ? kind::taken : kind::held, lock});
        else if (known->second.owner != lock.owner)
            changes.push_back({kind::passed, lock});
        else if (known->second.is_silent() != lock.is_silent())
            changes.push_back({lock.is_silent() ? kind::silent : kind::heard, lock});
        seen.emplace(lock.name, lock);
    }
    for (auto& [name, lock] : before_) {
        if (seen.count(name) != 0)
            continue;
        if (complete)
            changes.push_back({kind::freed, lock});
        else
            seen.emplace(name, std::move(lock));
    }
    before_ = std::move(seen);
    updated_ = updated_ || complete;
    return changes;
}

} // namespace leasehold::tool
