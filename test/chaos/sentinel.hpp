#ifndef LEASEHOLD_TEST_CHAOS_SENTINEL_HPP
#define LEASEHOLD_TEST_CHAOS_SENTINEL_HPP

#include "chaos/deployment.hpp"
#include "support/sentinel_deployment.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace leasehold::test::chaos {

/// A master, two replicas, three Sentinels. With `acks` 2 nothing may be lost. With 1 a master that
/// is killed, stopped or cut off loses nothing either, because both replicas followed it; one that
/// is replaced on purpose goes on for a while, and the replica that still follows it confirms what
/// the new master does not know.
class sentinel final : public deployment
{
public:
    explicit sentinel(std::uint32_t acks) : acks_(acks) {}

    std::string url() const override { return servers_.url(); }
    std::vector<fault_kind> faults() override;
    bool loses(fault_kind kind) const override
    {
        return kind == fault_kind::switch_master && acks_ < sentinel_deployment::server_count - 1;
    }
    void begin(const planned_fault& what, fault& noted) override;
    void end(const planned_fault& what, fault& noted) override;
    std::vector<std::string> left_over() override;

private:
    std::size_t replica(std::uint64_t detail) const;

    const std::uint32_t acks_;
    sentinel_deployment servers_;
    std::size_t struck_ = 0; ///< The server, or the Sentinel, that is broken.
};

} // namespace leasehold::test::chaos

#endif
