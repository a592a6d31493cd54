#ifndef LEASEHOLD_SRC_CORE_LEASE_LOST_OWNERS_HPP
#define LEASEHOLD_SRC_CORE_LEASE_LOST_OWNERS_HPP

#include "core/turn/owner_id.hpp"

#include <leasehold/clock.hpp>

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>

namespace leasehold::detail {

/// The owners whose leases this client lost. It permits no reentrant acquisition under them, even
/// while the store still has them.
class lost_owners
{
public:
    void remember(const owner_id& owner, clock::time_point until, clock::time_point now)
    {
        if (until_.size() >= tidy_at_) {
            boost::unordered::erase_if(until_,
                                       [now](const auto& each) { return each.second <= now; });
            tidy_at_ = std::max(smallest, 2 * until_.size());
        }
        until_.insert_or_assign(owner, until);
    }

    [[nodiscard]] bool contains(const owner_id& owner, clock::time_point now) const
    {
        const auto found = until_.find(owner);
        return found != until_.end() && now < found->second;
    }

private:
    static constexpr std::size_t smallest = 64;

    boost::unordered_flat_map<owner_id, clock::time_point> until_;
    std::size_t tidy_at_ = smallest;
};

} // namespace leasehold::detail

#endif
