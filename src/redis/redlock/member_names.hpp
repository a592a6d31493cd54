#ifndef LEASEHOLD_SRC_REDIS_REDLOCK_MEMBER_NAMES_HPP
#define LEASEHOLD_SRC_REDIS_REDLOCK_MEMBER_NAMES_HPP

#include <string>
#include <string_view>

// The keys, channels and values of a member.
namespace leasehold::quorum {

/// The prefix of every value of a lock.
inline constexpr std::string_view mark = "lhq:";
inline std::string value_of(std::string_view owner)
{
    return std::string(mark).append(owner);
}

/// The keys and channels of a member, beside the lock itself. All begin with the prefix of
/// `redis_config::prefix`. A name is the key of a lock, so it begins with the prefix, too.
class member_keys
{
public:
    member_keys() : member_keys(std::string_view()) {}
    explicit member_keys(std::string_view prefix) : record_(prefix)
    {
        record_ += "leasehold:quorum";
    }

    /// The record of the member.
    [[nodiscard]] const std::string& record() const noexcept { return record_; }

    [[nodiscard]] std::string fence(std::string_view name) const { return of(":fence:", name); }
    [[nodiscard]] std::string entries(std::string_view name) const { return of(":entries:", name); }
    /// The channel on which releases are published.
    [[nodiscard]] std::string releases(std::string_view name) const { return of(":free:", name); }

private:
    [[nodiscard]] std::string of(std::string_view kind, std::string_view name) const
    {
        return std::string(record_).append(kind).append(name);
    }

    std::string record_;
};

} // namespace leasehold::quorum

#endif
