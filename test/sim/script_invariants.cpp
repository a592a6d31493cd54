#include "sim/script_invariants.hpp"

#include "redis/commands/native_keys.hpp"
#include "redis/protocol/key_names.hpp"
#include "redis/redlock/member_names.hpp"

#include <algorithm>
#include <cstddef>

namespace leasehold::test {

using testing::impl::lock_effect;
using testing::impl::lock_request;
using testing::impl::message;
using testing::impl::words;

namespace {

/// The owner in the value of a lock, without the flags behind it.
std::string owner_in(std::string_view value)
{
    if (value.starts_with(quorum::mark))
        return std::string(value.substr(quorum::mark.size()));
    const std::string_view owner = redis_store::native::owner_of(value);
    return std::string(owner.empty() ? value : owner);
}

bool contains(const std::vector<std::string>& all, std::string_view one)
{
    return std::find(all.begin(), all.end(), one) != all.end();
}

std::string counter_of(const lock_request& asked)
{
    if (asked.layout == redis_config::key_layout::native)
        return std::string(redis_store::native_keys().fence());
    std::string key;
    redis_store::fence_key(asked.name, key);
    return key;
}

} // namespace

/// The fields of entries contain a slash. Another library may have added its own field.
std::vector<std::string> script_invariants::holders(std::string_view name)
{
    std::vector<std::string> all;
    const std::string_view type = model_.data.type(name);
    if (type == "string")
        all.push_back(owner_in(*model_.data.get(name)));
    else if (type == "hash")
        for (const auto& [field, count] : *model_.data.hgetall(name))
            if (field.find('/') == std::string::npos)
                all.push_back(field);
    return all;
}

bool script_invariants::holds(std::string_view owner)
{
    return contains(holders(asked_->name), owner);
}

bool script_invariants::promises(std::string_view name)
{
    if (model_.data.type(name) != std::string_view("string"))
        return false;
    const std::string& value = *model_.data.get(name);
    const std::size_t flags = value.find('|');
    return flags != std::string::npos && value.find('g', flags) != std::string::npos;
}

void script_invariants::before(words command)
{
    asked_ = testing::impl::lock_request_of(command);
    if (!asked_)
        return forget_fences(command);
    group_.clear();
    if (asked_->group)
        for (const lock_request& each : testing::impl::releases_of(command))
            group_.emplace_back(each, holders(each.name));
    // A counter that another client has set far beyond the clock begins at the clock again after
    // its retention.
    constexpr std::uint64_t beyond_clock = std::uint64_t(1) << 52;
    if (const auto last = fences_.find(counter_of(*asked_));
        last != fences_.end() && last->second > beyond_clock && !model_.data.exists(last->first))
        fences_.erase(last);
    holders_ = holders(asked_->name);
    promised_ = promises(asked_->name);
    left_ = model_.data.pttl(asked_->name);
}

/// If another client writes a counter, its fences start again.
void script_invariants::forget_fences(words command)
{
    if (command[0] == "FLUSHALL")
        fences_.clear();
    if (command.size() < 2 || command[0] == "EVAL" || command[0] == "EVALSHA")
        return;
    if (const auto found = fences_.find(command[1]); found != fences_.end())
        fences_.erase(found);
}

std::string script_invariants::after(words command, const message& said)
{
    if (!asked_)
        return {};
    if (asked_->group)
        return after_group(said);
    const bool renews = asked_->what == lock_request::kind::renew;
    const bool by_holder = !renews && contains(holders_, asked_->owner);
    if (holders_.size() == 1 && !by_holder && !promised_ && holders(asked_->name) != holders_)
        return "a call of another owner took the lock from " + holders_.front();
    if (said.is_error())
        return {};
    if (renews)
        return after_renewal(command, said);
    const lock_effect effect = testing::impl::effect_of(*asked_, said);
    // Otherwise the lock may be granted to the same owner, which also waits for it.
    const bool freed = effect.left && (said.size() == 1 || said.nodes()[1].value == "1");
    if (freed && effect.owner != asked_->owner && holds(asked_->owner))
        return "the lock is still of the owner that released it";
    return effect.taken ? after_grant(effect) : std::string();
}

std::string script_invariants::after_grant(const lock_effect& effect)
{
    if (!holds(effect.owner))
        return "granted to " + std::string(effect.owner) + ", which does not have it";
    if (left_ != -1 && model_.data.pttl(asked_->name) < 0)
        return "granted without a time to live";
    if (effect.fences == 0 || asked_->of_member)
        return {};
    std::uint64_t& last = fences_[counter_of(*asked_)];
    // A repeated acquire gets the existing fence of its owner, and Lua counts to 2^53.
    constexpr std::uint64_t largest = std::uint64_t(1) << 53;
    if (!contains(holders_, effect.owner) && effect.first_fence <= last && last < largest)
        return "the fence " + std::to_string(effect.first_fence) + " is not larger than " +
               std::to_string(last);
    last = std::max(last, effect.first_fence + effect.fences - 1);
    return {};
}

/// Only the release of its owner frees a lock.
std::string script_invariants::after_group(const message& said)
{
    for (std::size_t i = 0; i < group_.size(); ++i) {
        const lock_request& asked = group_[i].first;
        const std::vector<std::string>& before = group_[i].second;
        const std::vector<std::string> now = holders(asked.name);
        const bool by_holder = std::any_of(group_.begin(), group_.end(), [&](const auto& each) {
            return each.first.name == asked.name && contains(before, each.first.owner);
        });
        if (now != before && !by_holder)
            return "a group of other owners took the lock from " + before.front();
        if (!said.is_error() && testing::impl::is_freed(asked, said, i) &&
            contains(now, asked.owner))
            return "the lock is still of the owner that released it in a group";
    }
    return {};
}

/// For the first of several locks.
std::string script_invariants::after_renewal(words command, const message& said)
{
    const bool renewed = said.nodes().size() > 1 && said.nodes()[1].value == "1";
    if (!renewed)
        return {};
    const std::size_t keys = static_cast<std::size_t>(std::stoul(std::string(command[2])));
    const std::size_t owner = 3 + keys + (asked_->of_member ? 1 : 0);
    const std::string_view word = command[owner];
    const std::string whose = owner_in(word.substr(0, word.find('/')));
    // Another client may have removed the owner of an entry.
    const bool reentered = word.find('/') != std::string_view::npos &&
                           model_.data.hget(asked_->name, word) != nullptr;
    if (!reentered && !holds(whose))
        return "renewed for " + whose + ", which does not have it";
    const std::int64_t left = model_.data.pttl(asked_->name);
    if (left != -1 &&
        left < std::max<std::int64_t>(left_, std::stoll(std::string(command[owner + 1]))))
        return "renewed, and expires before the lease ends";
    return {};
}

} // namespace leasehold::test
