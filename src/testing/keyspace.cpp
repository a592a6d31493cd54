#include "testing/keyspace.hpp"

#include <algorithm>
#include <charconv>

namespace leasehold::testing::impl {
namespace {

// What is older than this is in every replica and on every disk.
constexpr clock::duration longest_lag = std::chrono::seconds(30);

[[noreturn]] void wrong_type()
{
    throw command_error{"WRONGTYPE Operation against a key holding the wrong kind of value"};
}

template <class Fields>
auto find_field(Fields& all, std::string_view field)
{
    return std::find_if(all.begin(), all.end(),
                        [&](const auto& each) { return each.first == field; });
}

} // namespace

keyspace::value* keyspace::find(std::string_view key)
{
    const auto found = values_.find(key);
    if (found == values_.end())
        return nullptr;
    if (has_expired(found->second)) {
        values_.erase(found);
        return nullptr;
    }
    return &found->second;
}

keyspace::value* keyspace::find_hash(std::string_view key)
{
    value* const found = find(key);
    if (found != nullptr && !found->is_hash)
        wrong_type();
    return found;
}

keyspace::value& keyspace::change_hash(std::string_view key)
{
    value* found = find_hash(key);
    note(key, found);
    if (found == nullptr) {
        found = &values_[std::string(key)];
        found->is_hash = true;
    }
    return *found;
}

void keyspace::note(std::string_view key, const value* before)
{
    while (!changes_.empty() && changes_.front().when < when_ - longest_lag)
        changes_.pop_front();
    changes_.push_back(
        {when_, std::string(key), before == nullptr ? std::nullopt : std::optional(*before)});
}

std::size_t keyspace::lose_since(clock::time_point when)
{
    std::size_t gone = 0;
    for (; !changes_.empty() && changes_.back().when > when; ++gone) {
        change& last = changes_.back();
        if (last.before)
            values_[last.key] = std::move(*last.before);
        else
            values_.erase(last.key);
        changes_.pop_back();
    }
    return gone;
}

bool keyspace::del(std::string_view key)
{
    value* const found = find(key);
    if (found == nullptr)
        return false;
    note(key, found);
    values_.erase(values_.find(key));
    return true;
}

std::size_t keyspace::flush_all()
{
    const std::size_t gone = values_.size();
    for (const auto& [key, before] : values_)
        note(key, &before);
    values_.clear();
    return gone;
}

keyspace::milliseconds keyspace::pttl(std::string_view key)
{
    const value* const found = find(key);
    return found == nullptr ? -2 : found->expires == never ? -1 : found->expires - now_;
}

bool keyspace::pexpire(std::string_view key, milliseconds how_long)
{
    value* const found = find(key);
    if (found == nullptr)
        return false;
    note(key, found);
    if (how_long <= 0)
        values_.erase(values_.find(key));
    else
        found->expires = now_ + how_long;
    return true;
}

bool keyspace::persist(std::string_view key)
{
    value* const found = find(key);
    if (found == nullptr || found->expires == never)
        return false;
    note(key, found);
    found->expires = never;
    return true;
}

const std::string* keyspace::get(std::string_view key)
{
    const value* const found = find(key);
    if (found != nullptr && found->is_hash)
        wrong_type();
    return found == nullptr ? nullptr : &found->text;
}

void keyspace::set(std::string_view key, std::string_view text, milliseconds how_long)
{
    value* const found = find(key);
    note(key, found);
    value& target = found == nullptr ? values_[std::string(key)] : *found;
    target.is_hash = false;
    target.entries.clear();
    target.text = text;
    target.expires = how_long == 0 ? never : now_ + how_long;
}

const keyspace::fields* keyspace::hgetall(std::string_view key)
{
    const value* const found = find_hash(key);
    return found == nullptr ? nullptr : &found->entries;
}

const std::string* keyspace::hget(std::string_view key, std::string_view field)
{
    const fields* const all = hgetall(key);
    if (all == nullptr)
        return nullptr;
    const auto found = find_field(*all, field);
    return found == all->end() ? nullptr : &found->second;
}

std::size_t keyspace::hlen(std::string_view key)
{
    const fields* const all = hgetall(key);
    return all == nullptr ? 0 : all->size();
}

bool keyspace::hset(std::string_view key, std::string_view field, std::string_view text)
{
    fields& all = change_hash(key).entries;
    const auto found = find_field(all, field);
    if (found == all.end()) {
        all.emplace_back(field, text);
        return true;
    }
    found->second = text;
    return false;
}

bool keyspace::hsetnx(std::string_view key, std::string_view field, std::string_view text)
{
    return hget(key, field) == nullptr && hset(key, field, text);
}

std::int64_t keyspace::hincrby(std::string_view key, std::string_view field, std::int64_t by)
{
    std::int64_t count = 0;
    if (const std::string* const before = hget(key, field)) {
        const auto [last, failed] = std::from_chars(before->data(), before->data() + before->size(),
                                                    count);
        if (failed != std::errc() || last != before->data() + before->size())
            throw command_error{"ERR hash value is not an integer"};
    }
    hset(key, field, std::to_string(count + by));
    return count + by;
}

bool keyspace::hdel(std::string_view key, std::string_view field)
{
    if (hget(key, field) == nullptr)
        return false;
    fields& all = change_hash(key).entries;
    all.erase(find_field(all, field));
    if (all.empty())
        values_.erase(values_.find(key));
    return true;
}

std::size_t keyspace::hashes() const noexcept
{
    return static_cast<std::size_t>(
        std::count_if(values_.begin(), values_.end(), [this](const auto& each) {
            return each.second.is_hash && !has_expired(each.second);
        }));
}

} // namespace leasehold::testing::impl
