#ifndef LEASEHOLD_SRC_REDIS_CONNECTION_SENTINEL_PATIENCE_HPP
#define LEASEHOLD_SRC_REDIS_CONNECTION_SENTINEL_PATIENCE_HPP

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace leasehold::redis_store {

/// The time for which a Sentinel may take over each step of its answer, before the next one is
/// queried. All but one of the Sentinels may hang and cost a connection less than a second. After
/// an attempt in which none of them named the master, the time doubles, because they may be slow.
class sentinel_patience
{
public:
    using milliseconds = std::chrono::milliseconds;

    /// @param longest The configured timeout, which applies to the only Sentinel.
    sentinel_patience(milliseconds longest, std::size_t sentinels) noexcept
        : longest_(longest),
          usual_(sentinels < 2 ? longest
                               : std::min(longest, milliseconds(all_but_one) /
                                                       static_cast<int>(sentinels - 1))),
          current_(usual_)
    {}

    [[nodiscard]] milliseconds current() const noexcept { return current_; }

    void none_answered() noexcept { current_ = std::min(longest_, 2 * current_); }
    void one_answered() noexcept { current_ = usual_; }

private:
    static constexpr milliseconds all_but_one{900};

    milliseconds longest_;
    milliseconds usual_;
    milliseconds current_;
};

} // namespace leasehold::redis_store

#endif
