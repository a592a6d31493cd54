#ifndef LEASEHOLD_TEST_SIM_FAULTS_HPP
#define LEASEHOLD_TEST_SIM_FAULTS_HPP

#include "sim/checks.hpp"
#include "sim/effects.hpp"
#include "sim/processes.hpp"
#include "sim/trial.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace leasehold::test::sim {

/// Applies the faults of the plan: at their times, at steps of a client, or at a shutdown.
class faults
{
public:
    faults(trial& of, processes& clients, checks& judge);

    /// Schedules the faults that have a time, and the end of all faults.
    void schedule();

    /// The run has ended.
    void end() { effects_.end(); }

private:
    void arm(process& p);
    void trigger(process& p, testing::step done);
    void trigger_at_close(process& p);
    void apply_when_due(const fault& f);
    void apply(const fault& f, process& p);
    [[nodiscard]] bool is_too_much(const fault& f) const;
    void break_exclusion(const fault& f, name_state& n);
    void befall_network(const fault& f, process& p, milliseconds how_long);
    bool befall_way(const fault& f, testing::host& h, milliseconds how_long);
    [[nodiscard]] clock::time_point hears_others(const fault& f, milliseconds how_long);
    [[nodiscard]] std::optional<std::size_t> shard_of(const fault& f) const;
    [[nodiscard]] std::vector<name_state*> concerned(const fault& f);
    bool befall_cluster(const fault& f, name_state& n, milliseconds how_long);
    bool befall_server(const fault& f, name_state& n, milliseconds how_long);
    bool befall_member(const fault& f, name_state& n, milliseconds how_long);
    void befall_process(const fault& f, process& p, milliseconds how_long, bool& effect);
    void worsen(const fault& f, process& p);
    void crash(process& p, milliseconds how_long);
    void cancel(const fault& f, const process& p, bool& effect);
    void heal();

    trial& trial_;
    processes& processes_;
    checks& checks_;
    effects effects_;
    std::vector<const fault*> fired_;

    struct node_state
    {
        clock::time_point stopped_until = clock::time_point::min();
        clock::time_point silent_until = clock::time_point::min();
    };
    std::map<const testing::server*, node_state> nodes_; ///< Of a cluster.
};

} // namespace leasehold::test::sim

#endif
