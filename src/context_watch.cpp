#include "context_watch.hpp"

#include <algorithm>
#include <utility>

namespace leasehold::detail {

boost::asio::execution_context::id context_watch::id;

void context_watch::add(const std::shared_ptr<context_user>& user)
{
    const std::scoped_lock lock(mutex_);
    if (users_.size() >= tidy_at_) {
        std::erase_if(users_, [](const auto& each) { return each.expired(); });
        tidy_at_ = std::max<std::size_t>(16, 2 * users_.size());
    }
    users_.push_back(user);
}

void context_watch::shutdown()
{
    std::vector<std::weak_ptr<context_user>> users;
    {
        const std::scoped_lock lock(mutex_);
        users = std::exchange(users_, {});
    }
    for (const auto& each : users)
        if (const auto alive = each.lock())
            alive->on_context_end();
}

void context_watch::notify_fork(boost::asio::execution_context::fork_event event)
{
    if (event == boost::asio::execution_context::fork_child)
        shutdown();
}

} // namespace leasehold::detail
