#ifndef LEASEHOLD_TEST_CHAOS_SENTINEL_HPP
#define LEASEHOLD_TEST_CHAOS_SENTINEL_HPP

#include "chaos/deployment.hpp"
#include "support/sentinel_deployment.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace leasehold::test::chaos {

/// A master, two replicas and three Sentinels. Both replicas confirm, and no lock may be lost. One
/// confirmation is not enough: Sentinel may promote a server that has confirmed nothing, if a
/// master is replaced on purpose, or is slow shortly after the return of the previous one.
class sentinel final : public deployment
{
public:
    client_way way() override;
    std::vector<fault_kind> faults() override;
    bool loses(fault_kind) const override { return false; }
    void begin(const planned_fault& what, fault& noted) override;
    void end(const planned_fault& what, fault& noted) override;
    std::vector<std::string> left_over() override;

private:
    std::size_t replica(std::uint64_t detail) const;

    sentinel_deployment servers_;
    std::size_t struck_ = 0; ///< The server or Sentinel that fails.
};

} // namespace leasehold::test::chaos

#endif
