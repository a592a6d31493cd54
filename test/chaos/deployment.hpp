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

/// The servers of the locks, and their faults. There is one fault at a time. After its repair all
/// serve and follow again, so that no lock is lost that was confirmed by as many replicas as the
/// deployment requires.
class deployment
{
public:
    deployment() = default;
    virtual ~deployment() = default;
    deployment(const deployment&) = delete;
    deployment& operator=(const deployment&) = delete;

    /// Adds a path for one client, as long as this object lives.
    [[nodiscard]] virtual client_way way() = 0;

    /// The possible faults of the servers.
    [[nodiscard]] virtual std::vector<fault_kind> faults() = 0;

    /// A part of every request that acquires, renews or releases a lock. Empty: there is none.
    [[nodiscard]] virtual std::string request_text() const { return "EVALSHA"; }

    /// Whether locks that were confirmed before the fault may be lost by it.
    [[nodiscard]] virtual bool loses(fault_kind kind) const = 0;

    /// Whether a lease may be lost by it before its deadline, although no other owner gets the lock
    /// before that.
    [[nodiscard]] virtual bool forgets(fault_kind) const { return false; }

    /// @param what One of `faults()`.
    /// @param noted Its record: sets `whom` and `name`, and a later beginning.
    virtual void begin(const planned_fault& what, fault& noted) = 0;
    virtual void end(const planned_fault& what, fault& noted) = 0;

    /// Keys in the servers that clients should have removed.
    [[nodiscard]] virtual std::vector<std::string> left_over() = 0;
};

/// Adds the keys of one server. Only fence counters may remain, and for a day the waiters from the
/// time when it was killed.
void add_left_over(resp_client& server, std::vector<std::string>& to);

/// A deployment that can be started, and its settings.
struct deployment_kind
{
    std::string_view topology; ///< The value of `--topology`.
    std::string_view option;   ///< The value of `--deployment` among these.
    std::string_view title;
    std::chrono::milliseconds lease{};
    /// Long enough for every kind of event, and short enough for a small record. The end of a round
    /// is a test of its own.
    std::chrono::milliseconds longest_round{};
    std::uint32_t replica_acks = 0; ///< For every lock.
    std::unique_ptr<deployment> (*start)(const std::vector<std::string>& names) = nullptr;
};

/// All deployments.
[[nodiscard]] const std::vector<deployment_kind>& deployment_kinds();

/// The deployments of a topology.
[[nodiscard]] std::vector<deployment_kind> deployments_of(std::string_view topology);

} // namespace leasehold::test::chaos

#endif
