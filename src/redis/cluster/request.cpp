#include "redis/cluster/request.hpp"

#include <algorithm>

namespace leasehold::redis_store::cluster {

bool is_undone(const lane& all, request& one)
{
    const auto place = std::find_if(all.requests.begin(), all.requests.end(),
                                    [&](const request_ptr& each) { return each.get() == &one; });
    if (place == all.requests.end())
        return false;
    const auto is_left = [&](const std::string& owner, const std::string& entry) {
        return std::any_of(place + 1, all.requests.end(), [&](const request_ptr& later) {
            return std::holds_alternative<release_work>(later->work) && later->owner == owner &&
                   later->entry == entry;
        });
    };
    if (std::holds_alternative<acquire_work>(one.work))
        return is_left(one.owner, one.entry);
    if (auto* const leaving = std::get_if<release_work>(&one.work)) {
        if (!leaving->next_owner.empty() && is_left(leaving->next_owner, {}))
            leaving->next_owner.clear();
    }
    return false;
}

} // namespace leasehold::redis_store::cluster
