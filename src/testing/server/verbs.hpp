#ifndef LEASEHOLD_SRC_TESTING_SERVER_VERBS_HPP
#define LEASEHOLD_SRC_TESTING_SERVER_VERBS_HPP

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string_view>

namespace leasehold::testing::impl {

/// The words of a command.
using words = std::span<const std::string_view>;

inline bool is_one_of(std::string_view verb, std::initializer_list<std::string_view> all)
{
    return std::find(all.begin(), all.end(), verb) != all.end();
}

/// Of channels that belong to a shard of a cluster.
inline bool is_shard_subscription(std::string_view verb)
{
    return is_one_of(verb, {"SSUBSCRIBE", "SUNSUBSCRIBE"});
}

inline bool is_subscription(std::string_view verb)
{
    return is_one_of(verb, {"SUBSCRIBE", "UNSUBSCRIBE"}) || is_shard_subscription(verb);
}

} // namespace leasehold::testing::impl

#endif
