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
/// effect, and each release once, when enough members are free for an acquire.
class release_merge
{
public:
    enum class news : std::uint8_t
    {
        none,
        soon, ///< Report after a short delay, unless reported before.
        now,
    };

    /// The member reports releases from now on. `needed`: the members that must do so before the
    /// watch is in effect.
    news watching(unsigned member, mask needed) noexcept
    {
        watching_ |= bit(member);
        if (in_effect_)
            return news::none;
        if ((watching_ & needed) != needed)
            return news::soon;
        in_effect_ = true;
        return news::now;
    }

    void deaf(unsigned member, unsigned majority) noexcept
    {
        watching_ &= ~bit(member);
        if (count(watching_) < majority)
            in_effect_ = false;
    }

    news released(unsigned member, std::string_view sign, unsigned enough)
    {
        if (sign == told_)
            return news::none;
        if (sign != sign_) {
            sign_ = sign;
            from_ = 0;
        }
        from_ |= bit(member);
        if (count(from_) < enough)
            return news::soon;
        told_ = sign_;
        return news::now;
    }

    /// The moment has passed. Whether there is something to report.
    bool due(unsigned majority)
    {
        bool told = false;
        if (!in_effect_ && count(watching_) >= majority)
            told = in_effect_ = true;
        if (sign_ != told_) {
            told_ = sign_;
            told = true;
        }
        return told;
    }

private:
    mask watching_ = 0;
    bool in_effect_ = false;
    std::string sign_; ///< Of the release that is reported.
    std::string told_;
    mask from_ = 0;
};

} // namespace leasehold::quorum

#endif
