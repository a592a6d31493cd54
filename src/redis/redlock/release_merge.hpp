#ifndef LEASEHOLD_SRC_REDIS_REDLOCK_RELEASE_MERGE_HPP
#define LEASEHOLD_SRC_REDIS_REDLOCK_RELEASE_MERGE_HPP

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace leasehold::quorum {

/// A set of members.
using mask = std::uint32_t;

[[nodiscard]] constexpr mask bit(unsigned member) noexcept
{
    return mask(1) << member;
}

[[nodiscard]] constexpr unsigned count(mask of) noexcept
{
    return static_cast<unsigned>(std::popcount(of));
}

[[nodiscard]] constexpr bool contains(mask of, unsigned member) noexcept
{
    return (of & bit(member)) != 0;
}

/// Combines the reports of the members about one name into those of one store: that the watch is in
/// effect, and each release when enough members are free for an acquire. If these take long, also
/// before, for the members that are free by then.
class release_merge
{
public:
    enum class report : std::uint8_t
    {
        none,
        soon, ///< Report after a short delay, unless reported before.
        now,
    };

    /// The member reports releases from now on. `needed`: the members that must do so before the
    /// watch is in effect.
    report watching(unsigned member, mask needed) noexcept
    {
        watching_ |= bit(member);
        if (in_effect_)
            return report::none;
        if ((watching_ & needed) != needed)
            return report::soon;
        in_effect_ = true;
        return report::now;
    }

    void unsubscribed(unsigned member, unsigned majority) noexcept
    {
        watching_ &= ~bit(member);
        if (count(watching_) < majority)
            in_effect_ = false;
    }

    report released(unsigned member, std::string_view sign, unsigned enough)
    {
        if (sign == reported_)
            return report::none;
        if (sign != sign_) {
            sign_ = sign;
            from_ = 0;
            reported_from_ = 0;
        }
        from_ |= bit(member);
        if (count(from_) < enough)
            return from_ != reported_from_ ? report::soon : report::none;
        reported_ = sign_;
        return report::now;
    }

    /// The moment has passed. Whether there is something to report.
    bool due(unsigned majority)
    {
        bool changed = false;
        if (!in_effect_ && count(watching_) >= majority)
            changed = in_effect_ = true;
        // Too few members for an acquire, unless others are free and cannot report it. So reports
        // of further members count.
        if (sign_ != reported_ && from_ != reported_from_) {
            reported_from_ = from_;
            changed = true;
        }
        return changed;
    }

private:
    mask watching_ = 0;
    bool in_effect_ = false;
    std::string sign_;       ///< Of the latest release.
    mask from_ = 0;          ///< The members that have reported it,
    mask reported_from_ = 0; ///< and those of them when it was last reported.
    std::string reported_;   ///< The release that enough members have reported.
};

} // namespace leasehold::quorum

#endif
