#ifndef LEASEHOLD_SRC_REDIS_REDLOCK_MEMBER_NAMES_HPP
#define LEASEHOLD_SRC_REDIS_REDLOCK_MEMBER_NAMES_HPP

#include <string>
#include <string_view>

// The keys and channels of a member.
namespace leasehold::quorum {

/// The prefix of every value of a lock.
inline constexpr std::string_view mark = "lhq:";
/// The record of the member.
inline constexpr std::string_view record_key = "leasehold:quorum";

inline std::string fence_key(std::string_view name)
{
    return std::string("leasehold:quorum:fence:").append(name);
}

inline std::string entries_key(std::string_view name)
{
    return std::string("leasehold:quorum:entries:").append(name);
}

inline std::string release_channel(std::string_view name)
{
    return std::string("leasehold:quorum:free:").append(name);
}

inline std::string value_of(std::string_view owner)
{
    return std::string(mark).append(owner);
}

} // namespace leasehold::quorum

#endif
