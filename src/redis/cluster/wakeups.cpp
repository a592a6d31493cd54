#include "redis/cluster/wakeups.hpp"

#include "redis/protocol/key_names.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace leasehold::redis_store::cluster {
namespace {

// A waiter polls at a third of its presence, ten seconds: a channel that was not needed since then
// can go. Until then the next waiter there need not subscribe.
constexpr std::chrono::seconds lingering{30};

} // namespace

void grant_channels::belongs_to(std::string_view owner)
{
    if (client_.empty())
        client_ = native::client_of(owner);
}

bool grant_channels::is_subscribed(slot_number slot, store_partition node) const
{
    const auto found = slots_.find(slot);
    return channels_ != nullptr && found != slots_.end() &&
           channels_->is_subscribed(found->second.channel, node);
}

void grant_channels::listen(slot_number slot, clock::time_point now)
{
    if (channels_ == nullptr || client_.empty())
        return;
    slot_state& state = slots_[slot];
    if (state.channel.empty()) {
        keys_.grants_in(slot, client_, state.channel);
        channels_->want(state.channel, slot);
        changed_ = true;
    }
    state.until = now + lingering;
}

void grant_channels::joined(slot_number slot, std::string_view name, std::string_view owner)
{
    const auto found = slots_.find(slot);
    if (found == slots_.end())
        return;
    auto& all = found->second.waiters;
    if (std::none_of(all.begin(), all.end(),
                     [&](const waiter& each) { return each.owner == owner; }))
        all.push_back({std::string(name), std::string(owner)});
}

void grant_channels::left(slot_number slot, std::string_view owner)
{
    if (const auto found = slots_.find(slot); found != slots_.end())
        std::erase_if(found->second.waiters,
                      [&](const waiter& each) { return each.owner == owner; });
}

void grant_channels::on_subscribed(store_listener& listener, const std::string& channel,
                                   store_partition node, bool first)
{
    // After an interruption all waiters there poll; later only those of the new slot.
    if (first)
        return listener.on_listening(node);
    const auto found = std::find_if(slots_.begin(), slots_.end(), [&](const auto& each) {
        return each.second.channel == channel;
    });
    if (found == slots_.end())
        return;
    const std::vector<waiter> waiters = found->second.waiters; // they may leave meanwhile
    for (const waiter& each : waiters) {
        if (channels_ == nullptr)
            return;
        listener.on_grant(each.name, each.owner);
    }
}

void grant_channels::on_message(store_listener& listener, const std::string& text)
{
    // "<value of the owner> <name>"
    const std::string_view all = text;
    const std::size_t space = all.find(' ');
    const std::string_view owner = native::owner_of(all.substr(0, space));
    if (space != std::string_view::npos && !owner.empty())
        listener.on_grant(all.substr(space + 1), owner);
}

void grant_channels::check(clock::time_point now)
{
    if (channels_ == nullptr)
        return;
    for (auto i = slots_.begin(); i != slots_.end();) {
        if (now < i->second.until) {
            ++i;
            continue;
        }
        channels_->unwant(i->second.channel);
        i = slots_.erase(i);
    }
}

clock::time_point grant_channels::next_check() const
{
    auto next = clock::time_point::max();
    for (const auto& [slot, state] : slots_)
        next = std::min(next, state.until);
    return next;
}

void grant_channels::close() noexcept
{
    channels_ = nullptr;
    slots_.clear();
}

void watched_names::watch(std::string_view name)
{
    release_channel(name, channel_);
    std::vector<std::string>& sharing = names_[channel_];
    if (std::find(sharing.begin(), sharing.end(), name) != sharing.end())
        return;
    sharing.emplace_back(name);
    channels_.want(channel_, slot_of(channel_));
}

void watched_names::unwatch(std::string_view name)
{
    release_channel(name, channel_);
    const auto found = names_.find(channel_);
    if (found == names_.end() || std::erase(found->second, name) == 0 || !found->second.empty())
        return;
    names_.erase(found);
    channels_.unwant(channel_);
}

void watched_names::on_wakeup(const std::string& channel,
                              const std::function<void(std::string_view)>& report)
{
    const auto found = names_.find(channel);
    if (found == names_.end())
        return;
    const std::vector<std::string> names = found->second; // the listener may unwatch them
    for (const std::string& each : names)
        report(each);
}

} // namespace leasehold::redis_store::cluster
