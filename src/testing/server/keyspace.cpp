#include "testing/server/keyspace.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace leasehold::testing::impl {
namespace {

// Every replica and every disk has changes that are older than this.
constexpr clock::duration longest_lag = std::chrono::seconds(30);

[[noreturn]] void wrong_type()
{
    throw command_error{"WRONGTYPE Operation against a key holding the wrong kind of value"};
}

template <class Fields>
auto find_in(Fields& all, std::string_view field)
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

keyspace::value* keyspace::find(std::string_view key, kind type)
{
    value* const found = find(key);
    if (found != nullptr && found->type != type)
        wrong_type();
    return found;
}

keyspace::value& keyspace::prepare(std::string_view key, kind type)
{
    value* found = find(key, type);
    note(key, found);
    if (found == nullptr) {
        found = &values_[std::string(key)];
        found->type = type;
    }
    return *found;
}

void keyspace::note(std::string_view key, const value* before)
{
    ++all_changes_;
    while (!changes_.empty() && changes_.front().when < when_ - longest_lag)
        changes_.pop_front();
    changes_.push_back(
        {when_, std::string(key), before == nullptr ? std::nullopt : std::optional(*before)});
}

bool keyspace::move(std::string_view key, keyspace& to)
{
    const value* const found = find(key);
    if (found == nullptr)
        return true;
    if (to.find(key) != nullptr)
        return false;
    value& there = to.prepare(key, found->type);
    there = *found;
    if (found->expires != never)
        there.expires = to.now_ + found->expires - now_;
    del(key);
    return true;
}

std::size_t keyspace::lose_since(clock::time_point when, std::vector<std::string>* keys)
{
    std::size_t gone = 0;
    for (; !changes_.empty() && changes_.back().when > when; ++gone) {
        change& last = changes_.back();
        if (keys != nullptr)
            keys->push_back(last.key);
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
    const value* const found = find(key, kind::string);
    return found == nullptr ? nullptr : &found->text;
}

void keyspace::set(std::string_view key, std::string_view text, milliseconds how_long)
{
    value* const found = find(key);
    note(key, found);
    value& target = found == nullptr ? values_[std::string(key)] : *found;
    target.type = kind::string;
    target.entries.clear();
    target.elements.clear();
    target.text = text;
    target.expires = how_long == 0 ? never : now_ + how_long;
}

void keyspace::set_text(std::string_view key, std::string_view text)
{
    const value* const found = find(key);
    const milliseconds expires = found == nullptr ? never : found->expires;
    set(key, text, 0);
    find(key)->expires = expires;
}

std::int64_t keyspace::incrby(std::string_view key, std::int64_t by)
{
    std::int64_t count = 0;
    if (const std::string* const before = get(key)) {
        const char* const end = before->data() + before->size();
        const auto [last, failed] = std::from_chars(before->data(), end, count);
        // Only the number in the form in which it would be written.
        if (failed != std::errc() || last != end || std::to_string(count) != *before)
            throw command_error{"ERR value is not an integer or out of range"};
    }
    if (by > 0 ? count > std::numeric_limits<std::int64_t>::max() - by
               : count < std::numeric_limits<std::int64_t>::min() - by)
        throw command_error{"ERR increment or decrement would overflow"};
    prepare(key, kind::string).text = std::to_string(count + by);
    return count + by;
}

const keyspace::fields* keyspace::hgetall(std::string_view key)
{
    const value* const found = find(key, kind::hash);
    return found == nullptr ? nullptr : &found->entries;
}

const std::string* keyspace::hget(std::string_view key, std::string_view field)
{
    return find_field(hgetall(key), field);
}

const std::string* keyspace::find_field(const fields* all, std::string_view field)
{
    if (all == nullptr)
        return nullptr;
    const auto found = find_in(*all, field);
    return found == all->end() ? nullptr : &found->second;
}

std::size_t keyspace::hlen(std::string_view key)
{
    const fields* const all = hgetall(key);
    return all == nullptr ? 0 : all->size();
}

bool keyspace::hset(std::string_view key, std::string_view field, std::string_view text)
{
    fields& all = prepare(key, kind::hash).entries;
    const auto found = find_in(all, field);
    if (found == all.end()) {
        all.emplace_back(field, text);
        return true;
    }
    found->second = text;
    return false;
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
    fields& all = prepare(key, kind::hash).entries;
    all.erase(find_in(all, field));
    if (all.empty())
        values_.erase(values_.find(key));
    return true;
}

const keyspace::items* keyspace::list(std::string_view key)
{
    const value* const found = find(key, kind::list);
    return found == nullptr ? nullptr : &found->elements;
}

const std::string* keyspace::lindex(std::string_view key, std::size_t place)
{
    const items* const all = list(key);
    return all == nullptr || place >= all->size() ? nullptr : &(*all)[place];
}

std::size_t keyspace::rpush(std::string_view key, std::string_view text)
{
    items& all = prepare(key, kind::list).elements;
    all.emplace_back(text);
    return all.size();
}

bool keyspace::lpop(std::string_view key)
{
    if (list(key) == nullptr)
        return false;
    items& all = prepare(key, kind::list).elements;
    all.erase(all.begin());
    if (all.empty())
        values_.erase(values_.find(key));
    return true;
}

std::optional<std::size_t> keyspace::lpos(std::string_view key, std::string_view text,
                                          std::size_t most)
{
    const items* const all = list(key);
    if (all == nullptr)
        return std::nullopt;
    const auto found = std::find(all->begin(), all->end(), text);
    const auto place = static_cast<std::size_t>(found - all->begin());
    return found == all->end() || place >= most ? std::nullopt : std::optional(place);
}

bool keyspace::lrem(std::string_view key, std::string_view text)
{
    if (!lpos(key, text, std::numeric_limits<std::size_t>::max()))
        return false;
    items& all = prepare(key, kind::list).elements;
    all.erase(std::find(all.begin(), all.end(), text));
    if (all.empty())
        values_.erase(values_.find(key));
    return true;
}

const char* keyspace::type(std::string_view key)
{
    const value* const found = find(key);
    if (found == nullptr)
        return "none";
    switch (found->type) {
    case kind::string: return "string";
    case kind::hash: return "hash";
    case kind::list: return "list";
    }
    return "none";
}

} // namespace leasehold::testing::impl
