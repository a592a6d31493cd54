#ifndef LEASEHOLD_SRC_STORE_REDIS_LAYOUT_REDISSON_LAYOUT_HPP
#define LEASEHOLD_SRC_STORE_REDIS_LAYOUT_REDISSON_LAYOUT_HPP

#include "store/redis/layout/layout.hpp"
#include "store/redis/protocol/command_words.hpp"

#include <chrono>
#include <string>

namespace leasehold::redis_store {

/// Byte for byte the locks of Redisson, `RLock` and `RFencedLock`: a hash of owners, a counter of
/// fences for each name, and a channel on which releases are published.
class redisson_layout final : public layout
{
public:
    /// @param fence_retention How long a fence outlives its grant; 0: for ever.
    /// @param in_cluster Releases are told in the slot of the name alone.
    explicit redisson_layout(std::chrono::milliseconds fence_retention,
                             bool in_cluster = false) noexcept
        : fence_retention_(fence_retention), in_cluster_(in_cluster)
    {}

    [[nodiscard]] store_traits traits() const noexcept override { return {}; }
    [[nodiscard]] const script_set& scripts() const noexcept override
    {
        return redisson_script_set();
    }

    call acquire(const acquire_request& asked, std::int64_t latest,
                 boost::redis::request& to) override;
    call renew(std::span<const renewal> asked, boost::redis::request& to) override;
    call release(const release_request& asked, std::int64_t latest,
                 boost::redis::request& to) override;

    [[nodiscard]] said<acquire_reply> acquired(const call& made, answers told) override;
    [[nodiscard]] error_code renewed(answers told,
                                     std::span<renewal_result> results) const override;
    [[nodiscard]] said<release_reply> released(const call& made, answers told) override;

private:
    const std::chrono::milliseconds fence_retention_;
    const bool in_cluster_;
    std::string key_;
    command_words words_;
};

} // namespace leasehold::redis_store

#endif
