#include "core/async/context_lifetime.hpp"

#include <algorithm>
#include <utility>

namespace leasehold::detail {

boost::asio::execution_context::id context_lifetime::id;

void context_lifetime::add(const std::shared_ptr<context_observer>& user)
{
    const std::scoped_lock lock(mutex_);
    if (users_.size() >= tidy_at_) {
        std::erase_if(users_, [](const auto& each) { return each.expired(); });
        tidy_at_ = std::max<std::size_t>(16, 2 * users_.size());
    }
    users_.push_back(user);
}

void context_lifetime::notify(void (context_observer::*how)() noexcept)
{
    std::vector<std::weak_ptr<context_observer>> users;
    {
        const std::scoped_lock lock(mutex_);
        users = std::exchange(users_, {});
    }
    // In reverse order: earlier observers use later ones, and must not use one that has ended.
    for (auto each = users.rbegin(); each != users.rend(); ++each)
        if (const auto alive = each->lock())
            ((*alive).*how)();
}

void context_lifetime::shutdown()
{
    notify(&context_observer::on_context_end);
}

void context_lifetime::notify_fork(boost::asio::execution_context::fork_event event)
{
    if (event == boost::asio::execution_context::fork_child)
        notify(&context_observer::on_fork);
}

} // namespace leasehold::detail
