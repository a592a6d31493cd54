#include "memory/waiter_queue.hpp"

#include <algorithm>
#include <utility>

namespace leasehold::memory {

std::optional<std::size_t> waiter_queue::position(std::string_view owner) const noexcept
{
    const auto found = std::find_if(waiters_.begin(), waiters_.end(),
                                    [owner](const waiter& each) { return each.owner == owner; });
    if (found == waiters_.end())
        return std::nullopt;
    return static_cast<std::size_t>(found - waiters_.begin());
}

std::size_t waiter_queue::join(waiter added)
{
    const std::optional<std::size_t> in = position(added.owner);
    if (!in) {
        waiters_.push_back(std::move(added));
        return waiters_.size() - 1;
    }
    waiters_[*in] = std::move(added);
    return *in;
}

bool waiter_queue::leave(std::string_view owner) noexcept
{
    return std::erase_if(waiters_, [owner](const waiter& each) { return each.owner == owner; }) > 0;
}

} // namespace leasehold::memory
