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

/// What members tell of one name, made into what one store would tell: that the watch is in effect,
/// and each release once, when so many members are free that the lock can be had.
class release_merge
{
public:
    enum class news : std::uint8_t
    {
        none,
        soon, ///< To be told in a moment, unless it is told before.
        now,
    };

    /// The member tells releases from here on. `needed`: those that have to, before there is a
    /// watch.
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

    /// The moment is over. True when there is something to be told.
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
    std::string sign_; ///< Of the release that is told.
    std::string told_;
    mask from_ = 0;
};

} // namespace leasehold::quorum

#endif
