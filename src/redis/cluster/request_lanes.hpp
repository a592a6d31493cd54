#ifndef LEASEHOLD_SRC_REDIS_CLUSTER_REQUEST_LANES_HPP
#define LEASEHOLD_SRC_REDIS_CLUSTER_REQUEST_LANES_HPP

#include "redis/cluster/request.hpp"

#include <functional>
#include <list>
#include <map>
#include <string>
#include <vector>

namespace leasehold::redis_store::cluster {

/// The requests that have no answer, in the order of the calls for each name, and those among them
/// that wait: for a node, for their turn, or for time to pass.
class request_lanes
{
public:
    /// Behind all others for its name. Renewals are in no order, and wait only.
    void enter(const request_ptr& one);
    void leave(const request_ptr& one);

    void park(const request_ptr& one);
    void unpark(request& one);
    [[nodiscard]] bool any_parked() const noexcept { return !parked_.empty(); }
    [[nodiscard]] const std::list<request_ptr>& parked() const noexcept { return parked_; }
    /// As they are now: for who changes them.
    [[nodiscard]] std::vector<request_ptr> all_parked() const
    {
        return {parked_.begin(), parked_.end()};
    }

    /// From now on requests for its name go one after the other.
    /// @return The request has been undone by a later one.
    bool go_carefully(request& one);

    /// Null: there are no requests for the name.
    [[nodiscard]] lane* find(const std::string& name);
    /// All that is before it is at the node that it goes to.
    [[nodiscard]] static bool may_go(lane& all, const request& one, store_partition to);

    /// The context ends, and all with it.
    void forget_all() noexcept;

private:
    std::map<std::string, lane, std::less<>> lanes_;
    std::list<request_ptr> parked_;
};

} // namespace leasehold::redis_store::cluster

#endif
