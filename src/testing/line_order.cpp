#include "testing/line_order.hpp"

#include "store/redis/layout/native_names.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <stdexcept>

namespace leasehold::testing::impl {

line_order::line_order(keyspace& of, std::string_view name) : data_(of), name_(name)
{
    redis_store::native::line_key(name, line_key_);
    redis_store::native::waiters_key(name, waiters_key_);
    line_before_ = line();
    holder_before_ = holder();
}

keyspace::items line_order::line() const
{
    const keyspace::items* const all = data_.list(line_key_);
    return all == nullptr ? keyspace::items() : *all;
}

/// Nobody: it is free, or not ours.
std::string line_order::holder() const
{
    try {
        const std::string* const value = data_.get(name_);
        return value == nullptr ? std::string()
                                : std::string(redis_store::native::owner_of(*value));
    }
    catch (const command_error&) {
        return {};
    }
}

std::string line_order::overtaker(const lock_request& asked) const
{
    const keyspace::items after = line();
    std::size_t last = 0;
    for (std::size_t i = 0; i < after.size(); ++i) {
        if (std::find(after.begin(), after.begin() + static_cast<std::ptrdiff_t>(i), after[i]) !=
            after.begin() + static_cast<std::ptrdiff_t>(i))
            throw std::logic_error("line: somebody is in it twice");
        if (data_.hget(waiters_key_, after[i]) == nullptr)
            throw std::logic_error("line: nothing is known of one who is in it");
        const auto found = std::find(line_before_.begin(), line_before_.end(), after[i]);
        const auto place = static_cast<std::size_t>(found - line_before_.begin());
        if (place < last)
            throw std::logic_error("line: somebody was overtaken in it");
        last = place;
    }
    if (data_.hlen(waiters_key_) != after.size())
        throw std::logic_error("line: somebody is known who is not in it");

    const std::string holder_after = holder();
    if (holder_after.empty() || holder_after == holder_before_)
        return {};
    for (const std::string& each : line_before_) {
        const std::string_view first = redis_store::native::owner_of(each);
        if (first == holder_after)
            return {};
        if (first != asked.owner)
            return holder_after;
    }
    return {};
}

} // namespace leasehold::testing::impl
