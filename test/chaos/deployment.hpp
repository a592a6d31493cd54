#ifndef LEASEHOLD_TEST_CHAOS_DEPLOYMENT_HPP
#define LEASEHOLD_TEST_CHAOS_DEPLOYMENT_HPP

#include "chaos/client_way.hpp"
#include "chaos/plan.hpp"
#include "chaos/record.hpp"
#include "support/resp_client.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::test::chaos {

/// The servers that have the locks, and what can be broken at them. One thing at a time is broken
/// there; when it has been mended all serve and follow again, so that nothing is lost that was
/// confirmed by as many replicas as the deployment is used with.
class deployment
{
public:
    deployment() = default;
    virtual ~deployment() = default;
    deployment(const deployment&) = delete;
    deployment& operator=(const deployment&) = delete;

    /// For one client more, as long as this object lives.
    [[nodiscard]] virtual client_way way() = 0;

    /// The faults that can be had at the servers.
    [[nodiscard]] virtual std::vector<fault_kind> faults() = 0;

    /// What was confirmed before this one may be gone afterwards.
    [[nodiscard]] virtual bool loses(fault_kind kind) const = 0;

    /// A lease may be lost by this one before its deadline, though nobody else gets in before that.
    [[nodiscard]] virtual bool forgets(fault_kind) const { return false; }

    /// @param what One of `faults()`.
    /// @param noted What is written down of it: `whom` and `name`, and a later beginning.
    virtual void begin(const planned_fault& what, fault& noted) = 0;
    virtual void end(const planned_fault& what, fault& noted) = 0;

    /// What clients have left in the servers and should not have.
    [[nodiscard]] virtual std::vector<std::string> left_over() = 0;
};

/// Of one server: fence counters stay, and for a day who waited when it was killed; nothing else.
void add_left_over(resp_client& server, std::vector<std::string>& to);

/// A deployment that can be started, and how it is used.
struct deployment_kind
{
    std::string_view topology; ///< As it is chosen by `--topology`.
    std::string_view option;   ///< As it is chosen among these by `--deployment`.
    std::string_view title;
    std::chrono::milliseconds lease{};
    /// So long that everything comes, so short that a record stays small; the end of a round is a
    /// test of its own.
    std::chrono::milliseconds longest_round{};
    std::uint32_t replica_acks = 0; ///< Of every lock.
    std::unique_ptr<deployment> (*start)(const std::vector<std::string>& names) = nullptr;
};

/// All there are.
[[nodiscard]] const std::vector<deployment_kind>& deployment_kinds();

/// Those of a topology.
[[nodiscard]] std::vector<deployment_kind> deployments_of(std::string_view topology);

} // namespace leasehold::test::chaos

#endif
