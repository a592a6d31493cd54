#ifndef LEASEHOLD_TEST_CHAOS_NEMESIS_HPP
#define LEASEHOLD_TEST_CHAOS_NEMESIS_HPP

#include "chaos/client_fleet.hpp"
#include "chaos/deployment.hpp"
#include "chaos/plan.hpp"
#include "chaos/record.hpp"

#include <cstddef>
#include <vector>

namespace leasehold::test::chaos {

/// The possible faults of clients and of their paths to the servers.
[[nodiscard]] std::vector<fault_kind> faults_of_clients();

/// Breaks and repairs servers, clients and the paths between them in the order of the plan, and a
/// little later if a step took longer.
class nemesis
{
public:
    nemesis(std::vector<planned_fault> plan, std::chrono::milliseconds lease, deployment& servers,
            client_fleet& clients);

    /// Takes the steps that are due now.
    void step(stamp now);

    /// Repairs everything.
    void heal();

    /// The faults so far. Faults that have not ended yet have no end.
    [[nodiscard]] const std::vector<fault>& log() const noexcept { return log_; }

private:
    struct active
    {
        planned_fault what;
        stamp until;
        std::size_t logged; ///< The index in the log.
    };

    bool busy(std::size_t place) const;
    void begin(const planned_fault& planned, stamp now);
    void begin_at_client(const planned_fault& planned);
    void begin_on_the_way(const planned_fault& planned, fault_proxy& proxy) const;
    void end(const active& fault);
    void end_at_client(const planned_fault& planned);
    static void end_on_the_way(const planned_fault& planned, fault_proxy& proxy);

    const std::vector<planned_fault> plan_;
    const std::chrono::milliseconds lease_;
    deployment& servers_;
    client_fleet& crew_;
    const stamp started_;
    std::size_t next_ = 0; ///< The next step of the plan.
    std::vector<fault> log_;
    std::vector<active> active_;
};

} // namespace leasehold::test::chaos

#endif
