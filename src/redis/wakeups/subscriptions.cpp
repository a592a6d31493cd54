#include "redis/wakeups/subscriptions.hpp"

#include "base/mutant.hpp"
#include "redis/protocol/key_names.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace leasehold::redis_store {
namespace {

constexpr std::chrono::milliseconds seldom{1'000};

} // namespace

void subscriptions::on_silence() noexcept
{
    stop_saying();
    names_.clear();
}

void subscriptions::watch(std::string_view name)
{
    if (listener() == nullptr)
        return;
    release_channel(name, channel_);
    std::vector<std::string>& sharing = names_[channel_];
    if (std::find(sharing.begin(), sharing.end(), name) != sharing.end())
        return;
    sharing.emplace_back(name);
    if (!is_made())
        return connect();
    say("SUBSCRIBE", channel_);
}

void subscriptions::unwatch(std::string_view name)
{
    release_channel(name, channel_);
    const auto found = names_.find(channel_);
    if (found == names_.end() || std::erase(found->second, name) == 0 || !found->second.empty())
        return;
    names_.erase(found);
    say("UNSUBSCRIBE", channel_);
}

void subscriptions::follow(clock::time_point now)
{
    if (!is_made())
        return;
    // An application's connection may fail again and again, without a pause.
    const bool again = followed_ != clock::time_point::min() && now - followed_ < seldom;
    followed_ = now;
    begin_again(errc::store_refused, {}, again ? seldom : std::chrono::milliseconds(0));
}

// All of them again, each confirmed by a push of its own.
void subscriptions::on_attempt()
{
    begin_saying();
    for (const auto& [channel, names] : names_) {
        say("SUBSCRIBE", channel);
        if (has(mutant::one_channel_again))
            break;
    }
    flush();
}

void subscriptions::on_lost(error_code why, std::string_view)
{
    if (why == condition::bad_request)
        allowed_ = false;
    stop_saying();
}

void subscriptions::on_push(const std::vector<std::string>& words)
{
    // "subscribe": the watch is in effect, and an earlier release may have been missed. "message":
    // one was published.
    if (words.size() < 2 || (words[0] != "message" && words[0] != "subscribe"))
        return;
    allowed_ = true;
    const auto found = names_.find(words[1]);
    if (found == names_.end() || listener() == nullptr)
        return;
    const std::vector<std::string> names = found->second; // the listener may unwatch them
    for (const std::string& each : names) {
        if (listener() != nullptr)
            listener()->on_wakeup(each);
    }
}

} // namespace leasehold::redis_store
