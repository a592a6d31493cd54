#include "redis/redlock/published_releases.hpp"

#include <charconv>
#include <utility>

namespace leasehold::quorum {

void published_releases::on_silence() noexcept
{
    stop_saying();
    names_.clear();
}

void published_releases::watch(std::string_view name)
{
    if (listener() == nullptr || !names_.emplace(name).second)
        return;
    if (!is_made())
        return connect();
    say("SUBSCRIBE", keys_.releases(name));
}

void published_releases::unwatch(std::string_view name)
{
    const auto found = names_.find(name);
    if (found == names_.end())
        return;
    names_.erase(found);
    say("UNSUBSCRIBE", keys_.releases(name));
}

// All of them again, each confirmed by a push of its own.
void published_releases::on_attempt()
{
    begin_saying();
    for (const std::string& each : names_)
        say("SUBSCRIBE", keys_.releases(each));
    flush();
}

void published_releases::on_lost(error_code, std::string_view)
{
    stop_saying();
    if (listener() != nullptr)
        receiver_->on_unsubscribed(member_);
}

void published_releases::on_push(const std::vector<std::string>& words)
{
    if (words.size() < 2 || words[1].size() < prefix_ || listener() == nullptr)
        return;
    const std::string name = words[1].substr(prefix_); // the listener may unwatch it
    if (!names_.contains(name))
        return;
    if (words[0] == "subscribe")
        return receiver_->on_watching(member_, name);
    if (words[0] != "message" || words.size() < 3)
        return;
    // Any text is only a reason to poll.
    const std::string& text = words[2];
    std::uint64_t largest = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), largest);
    if (failed != std::errc())
        largest = 0;
    receiver_->on_released(member_, name, std::string(end, text.data() + text.size()), largest);
}

} // namespace leasehold::quorum
