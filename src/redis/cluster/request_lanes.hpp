#ifndef LEASEHOLD_SRC_REDIS_CLUSTER_REQUEST_LANES_HPP
#define LEASEHOLD_SRC_REDIS_CLUSTER_REQUEST_LANES_HPP

#include "redis/cluster/request.hpp"

#include <functional>
#include <list>
#include <map>
#include <string>
#include <vector>

namespace leasehold::redis_store::cluster {

/// The unanswered requests, for each name in the order of the calls. Some of them wait: for a node,
/// for earlier requests, or for a time.
class request_lanes
{
public:
    /// Appends to the requests for its name. Renewals have no order and only wait.
    void add(const request_ptr& one);
    void leave(const request_ptr& one);

    void park(const request_ptr& one);
    void unpark(request& one);
    [[nodiscard]] bool any_parked() const noexcept { return !parked_.empty(); }
    [[nodiscard]] const std::list<request_ptr>& parked() const noexcept { return parked_; }
    /// A copy, for callers that change the list.
    [[nodiscard]] std::vector<request_ptr> all_parked() const
    {
        return {parked_.begin(), parked_.end()};
    }

    /// From now on, requests for its name are sent one after the other.
    /// @return Whether a later call has undone the request.
    bool go_carefully(request& one);

    /// Null if there are no requests for the name.
    [[nodiscard]] lane* find(const std::string& name);
    /// Whether all requests before it are at the node that it is sent to.
    [[nodiscard]] static bool may_go(lane& all, const request& one, store_partition to);

    /// The context ends, and all requests with it.
    void forget_all() noexcept;

private:
    std::map<std::string, lane, std::less<>> lanes_;
    std::list<request_ptr> parked_;
};

} // namespace leasehold::redis_store::cluster

#endif
