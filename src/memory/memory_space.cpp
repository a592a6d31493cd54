#include "memory/memory_space_state.hpp"

#include <leasehold/clock.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace leasehold {
namespace {

/// The spaces of this process that are in use.
struct registry
{
    std::mutex mutex;
    memory::name_map<std::weak_ptr<memory_space>> spaces;
};

registry& the_registry()
{
    static registry instance;
    return instance;
}

} // namespace

// Leases are measured by the clock of the clients, so a step of the machine's clock ends none of
// them.
std::chrono::microseconds memory_space::state::ticks()
{
    return std::chrono::duration_cast<std::chrono::microseconds>(clock::now().time_since_epoch());
}

// No two requests are served in the same microsecond, as with a server: it distinguishes fences if
// the counters are lost.
memory::instant memory_space::state::now() const
{
    using std::chrono::microseconds;
    const auto wall = std::chrono::duration_cast<microseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    return {ticks(), wall_.next(wall)};
}

// The budget begins with the call: taken before the mutex, so that waiting for it counts.
std::chrono::microseconds memory_space::state::latest(std::chrono::milliseconds budget)
{
    constexpr std::chrono::milliseconds longest = std::chrono::years(100);
    return std::max(ticks() + std::clamp(budget, -longest, longest), std::chrono::microseconds(1));
}

memory::client_id memory_space::state::join(const std::shared_ptr<memory::watcher>& watcher,
                                            const asio::any_io_executor& strand)
{
    const std::scoped_lock lock(mutex_);
    const memory::client_id made = table_.join();
    clients_.emplace(made, client{watcher, strand});
    return made;
}

void memory_space::state::part(memory::client_id gone) noexcept
{
    const std::scoped_lock lock(mutex_);
    table_.part(gone);
    clients_.erase(gone);
}

acquire_reply memory_space::state::acquire(const acquire_request& request, memory::client_id by)
{
    const auto end = latest(request.budget);
    memory::granted_owner granted;
    const std::scoped_lock lock(mutex_);
    const acquire_reply reply = table_.acquire(request, {by, end, &granted}, now());
    notify(granted, request.name);
    return reply;
}

std::vector<renewal_result> memory_space::state::renew(std::span<const renewal> renewals)
{
    std::vector<renewal_result> results;
    results.reserve(renewals.size());
    const std::scoped_lock lock(mutex_);
    const memory::instant at = now();
    for (const renewal& one : renewals)
        results.push_back(table_.renew(one, at));
    return results;
}

// Posted under the mutex: after `unwatch` or `part`, nothing more is posted to the client's
// executor, which may end then. A post only takes the executor's own locks and never runs code of
// this library.
release_reply memory_space::state::release(const release_request& request, memory::client_id by)
{
    const auto end = request.next != nullptr ? latest(request.next->budget)
                                             : memory::lock_table::no_limit;
    memory::granted_owner granted;
    const std::scoped_lock lock(mutex_);
    release_reply reply = table_.release(request, {by, end, &granted}, now());
    notify(granted, request.name);
    if (reply.result != release_reply::outcome::freed)
        return reply;
    if (const auto found = watched_.find(request.name); found != watched_.end()) {
        for (const subscription& each : found->second) {
            post_wakeup(each, request.name);
            ++reply.receivers;
        }
    }
    return reply;
}

void memory_space::state::notify(const memory::granted_owner& granted, std::string_view name)
{
    const auto found = clients_.find(granted.client);
    if (found == clients_.end())
        return;
    asio::post(found->second.strand,
               [target = found->second.target, owner = granted.owner, text = std::string(name)] {
                   if (const auto alive = target.lock())
                       alive->on_grant(text, owner);
               });
}

bool memory_space::state::erase(std::string_view name)
{
    const std::scoped_lock lock(mutex_);
    return table_.erase(name, now());
}

void memory_space::state::keep_fences(std::chrono::milliseconds at_least)
{
    const std::scoped_lock lock(mutex_);
    const std::chrono::milliseconds now = table_.retention();
    const bool for_ever = now.count() <= 0 || at_least.count() <= 0;
    table_.set_retention(for_ever ? std::chrono::milliseconds(0) : std::max(now, at_least));
}

std::chrono::milliseconds memory_space::state::retention() const
{
    const std::scoped_lock lock(mutex_);
    return table_.retention();
}

void memory_space::state::clear()
{
    const std::scoped_lock lock(mutex_);
    table_.clear();
}

std::size_t memory_space::state::size() const
{
    const std::scoped_lock lock(mutex_);
    return table_.size(now());
}

bool memory_space::state::watch(std::string_view name,
                                const std::shared_ptr<memory::watcher>& watcher,
                                const asio::any_io_executor& strand)
{
    const std::scoped_lock lock(mutex_);
    std::vector<subscription>& all = watched_[std::string(name)];
    for (const subscription& each : all)
        if (each.id == watcher.get())
            return false;
    all.push_back({watcher.get(), watcher, strand});
    post_wakeup(all.back(), name);
    return true;
}

void memory_space::state::unwatch(std::string_view name, const memory::watcher* watcher)
{
    const std::scoped_lock lock(mutex_);
    const auto found = watched_.find(name);
    if (found == watched_.end())
        return;
    std::erase_if(found->second,
                  [watcher](const subscription& each) { return each.id == watcher; });
    if (found->second.empty())
        watched_.erase(found);
}

void memory_space::state::post_wakeup(const subscription& to, std::string_view name)
{
    asio::post(to.strand, [target = to.target, text = std::string(name)] {
        if (const auto alive = target.lock())
            alive->on_wakeup(text);
    });
}

memory_space::memory_space(std::chrono::milliseconds fence_retention)
    : state_(std::make_unique<state>(fence_retention))
{}

memory_space::~memory_space() = default;

std::shared_ptr<memory_space> memory_space::shared(std::string_view name,
                                                   std::chrono::milliseconds fence_retention)
{
    registry& all = the_registry();
    const std::scoped_lock lock(all.mutex);
    if (const auto found = all.spaces.find(name); found != all.spaces.end())
        if (std::shared_ptr<memory_space> space = found->second.lock()) {
            space->get().keep_fences(fence_retention);
            return space;
        }
    boost::unordered::erase_if(all.spaces, [](const auto& each) { return each.second.expired(); });
    auto space = std::make_shared<memory_space>(fence_retention);
    all.spaces.insert_or_assign(std::string(name), space);
    return space;
}

bool memory_space::erase(std::string_view name)
{
    return state_->erase(name);
}

void memory_space::clear()
{
    state_->clear();
}

std::size_t memory_space::size() const
{
    return state_->size();
}

} // namespace leasehold
