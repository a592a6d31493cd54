#include "redis/cluster/request_lanes.hpp"

#include <utility>

namespace leasehold::redis_store::cluster {

void request_lanes::add(const request_ptr& one)
{
    if (!one->is_renewal())
        lanes_[one->name].requests.push_back(one);
    park(one);
}

void request_lanes::leave(const request_ptr& one)
{
    one->now = request::state::answered;
    const auto found = lanes_.find(one->name);
    if (found == lanes_.end())
        return;
    std::erase(found->second.requests, one);
    if (found->second.requests.empty())
        lanes_.erase(found);
}

void request_lanes::park(const request_ptr& one)
{
    one->now = request::state::parked;
    one->place = parked_.insert(parked_.end(), one);
}

void request_lanes::unpark(request& one)
{
    if (one.now == request::state::parked)
        parked_.erase(one.place);
}

bool request_lanes::go_carefully(request& one)
{
    lane& all = lanes_[one.name];
    all.careful = true;
    return is_undone(all, one);
}

lane* request_lanes::find(const std::string& name)
{
    const auto found = lanes_.find(name);
    return found == lanes_.end() ? nullptr : &found->second;
}

bool request_lanes::may_go(lane& all, const request& one, store_partition to)
{
    for (const request_ptr& each : all.requests) {
        if (each.get() == &one)
            return true;
        if (each->now == request::state::answered)
            continue;
        if (each->now == request::state::parked)
            return false;
        if (each->at != to)
            all.careful = true;
        if (all.careful)
            return false;
    }
    return true;
}

// Handlers are destroyed one after the other: a destructor may call back into this object.
void request_lanes::forget_all() noexcept
{
    const auto parked = std::exchange(parked_, {});
    for (const request_ptr& each : parked)
        each->now = request::state::answered;
    const auto lanes = std::exchange(lanes_, {});
}

} // namespace leasehold::redis_store::cluster
