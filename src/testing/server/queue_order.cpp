#include "testing/server/queue_order.hpp"

#include "redis/commands/native_keys.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace leasehold::testing::impl {

queue_order::queue_order(keyspace& of, std::string_view name, std::int64_t now, bool in_cluster,
                         const std::function<bool(std::string_view channel)>& subscribed)
    : data_(of), name_(name)
{
    const redis_store::native_keys keys;
    keys.queue(name, queue_key_);
    keys.waiters(name, waiters_key_);
    queue_before_ = queue();
    holder_before_ = holder();
    was_free_ = holder_before_.empty() && !data_.exists(name_);
    std::string channel;
    for (const std::string& each : queue_before_) {
        namespace native = redis_store::native;
        const std::string_view client = native::client_of(native::owner_of(each));
        if (in_cluster)
            keys.grants_in(redis_store::slot_of(name), client, channel);
        else
            keys.grants(client, channel);
        before_.push_back(presence_of(each, now, subscribed(channel)));
    }
}

keyspace::items queue_order::queue() const
{
    const keyspace::items* const all = data_.list(queue_key_);
    return all == nullptr ? keyspace::items() : *all;
}

/// Empty: the lock is free, or not ours.
std::string queue_order::holder() const
{
    try {
        if (data_.type(name_) == std::string_view("hash")) {
            // The fields of entries contain a slash.
            for (const auto& [field, count] : *data_.hgetall(name_))
                if (field.find('/') == std::string::npos)
                    return field;
            return {};
        }
        const std::string* const value = data_.get(name_);
        return value == nullptr ? std::string()
                                : std::string(redis_store::native::owner_of(*value));
    }
    catch (const command_error&) {
        return {};
    }
}

/// By the record of a waiter, and by whether its client listens.
queue_order::presence queue_order::presence_of(const std::string& waiter, std::int64_t now,
                                               bool subscribed) const
{
    const std::string* const known = data_.hget(waiters_key_, waiter);
    if (known == nullptr)
        return {.present = false, .unnotified = false};
    std::istringstream fields(*known);
    std::int64_t until = 0;
    std::int64_t lease = 0;
    std::int64_t claim = 0;
    int listens = 0;
    std::int64_t open = 0;
    fields >> until >> lease >> claim >> listens;
    // As in the scripts: for a second at most.
    const bool keeps_out = (fields >> open) && open > now && open - now <= 1'000'000;
    return {.present = until >= now && (listens == 0 || subscribed),
            .unnotified = listens == 0 && !subscribed,
            .keeps_out = keeps_out && until >= now};
}

std::optional<overtaking> queue_order::overtaking_owner(const lock_request& request) const
{
    const keyspace::items after = queue();
    std::size_t last = 0;
    for (std::size_t i = 0; i < after.size(); ++i) {
        if (std::find(after.begin(), after.begin() + static_cast<std::ptrdiff_t>(i), after[i]) !=
            after.begin() + static_cast<std::ptrdiff_t>(i))
            throw std::logic_error("queue: an owner is in it twice");
        if (data_.hget(waiters_key_, after[i]) == nullptr)
            throw std::logic_error("queue: an owner in it is unknown");
        const auto found = std::find(queue_before_.begin(), queue_before_.end(), after[i]);
        const auto place = static_cast<std::size_t>(found - queue_before_.begin());
        if (place < last)
            throw std::logic_error("queue: an owner was overtaken");
        last = place;
    }
    if (data_.hlen(waiters_key_) != after.size())
        throw std::logic_error("queue: an owner is known that is not in it");

    const std::string holder_after = holder();
    for (std::size_t i = 0; i < queue_before_.size(); ++i) {
        const std::string_view each = redis_store::native::owner_of(queue_before_[i]);
        const bool stays = std::find(after.begin(), after.end(), queue_before_[i]) != after.end();
        if (before_[i].present && !stays && each != request.owner && each != holder_after)
            throw std::logic_error("queue: a present owner lost its position");
    }
    if (holder_after.empty() || holder_after == holder_before_)
        return std::nullopt;
    if (was_free_ && !request.plain && !before_.empty() && before_.front().keeps_out &&
        redis_store::native::owner_of(queue_before_.front()) != request.owner)
        throw std::logic_error("line: it was left free for others, and that was cut short");
    bool any = false;
    bool any_present = false;
    for (std::size_t i = 0; i < queue_before_.size(); ++i) {
        const std::string_view each = redis_store::native::owner_of(queue_before_[i]);
        if (each == holder_after)
            break;
        if (each == request.owner)
            continue; // it leaves
        any = true;
        any_present = any_present || before_[i].present;
    }
    return any ? std::optional(overtaking{holder_after, any_present}) : std::nullopt;
}

std::optional<std::string> queue_order::granted_unnotified(const lock_request& request) const
{
    const std::string holder_after = holder();
    if (holder_after.empty() || holder_after == holder_before_ || holder_after == request.owner)
        return std::nullopt;
    for (std::size_t i = 0; i < queue_before_.size(); ++i)
        if (before_[i].unnotified &&
            redis_store::native::owner_of(queue_before_[i]) == holder_after)
            return holder_after;
    return std::nullopt;
}

} // namespace leasehold::testing::impl
