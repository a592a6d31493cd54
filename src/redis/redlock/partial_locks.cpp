#include "redis/redlock/partial_locks.hpp"

namespace leasehold::quorum {

partial_locks::pointer partial_locks::find(std::string_view owner, std::string_view entry) const
{
    if (locks_.empty())
        return nullptr;
    const auto found = locks_.find({std::string(owner), std::string(entry)});
    return found != locks_.end() ? found->second : nullptr;
}

partial_locks::pointer partial_locks::make(const renewal& what, const fsm::quorum_size& size,
                                           clock::time_point now)
{
    if (locks_.size() >= limit_) {
        // The loss of a lease is not reported here.
        std::erase_if(locks_, [now](const auto& each) { return each.second->at.limit() <= now; });
        limit_ = 2 * locks_.size() + 100;
    }
    pointer& made = locks_[{std::string(what.owner), std::string(what.entry)}];
    if (!made)
        made = std::make_shared<partial_lock>(what, size);
    return made;
}

} // namespace leasehold::quorum
