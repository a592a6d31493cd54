#ifndef LEASEHOLD_BENCHMARK_MEASUREMENTS_HPP
#define LEASEHOLD_BENCHMARK_MEASUREMENTS_HPP

#include "report.hpp"

#include <string>
#include <vector>

namespace leasehold::benchmark {

/// Servers that keep locks together, or one.
struct deployment
{
    std::string name;
    std::string url;
    std::vector<std::string> sockets; ///< Of its servers, to ask each what it has done.
};

struct setting
{
    std::string socket; ///< Of the redis-server.
    /// What `deployments` compares: one server first.
    std::vector<deployment> deployments;
    bool quick = false; ///< Tiny numbers: whether it runs, not how fast.

    [[nodiscard]] std::string redis_url() const { return "unix://" + socket; }
};

/// Uncontended locks, against a program that sends the same commands itself.
section distinct_keys(const setting&);

/// One lock that goes around in one process.
section handoff(const setting&);

/// Many leases that are held and renewed.
section held(const setting&);

/// Many who wait for one lock, and what the server sees of them.
section waiters(const setting&);

/// What a lock costs the server, and what it leaves there.
section server_cost(const setting&);

/// One lock among processes: how often, how fairly, at which cost.
section contention(const setting&);

/// Uncontended locks in deployments of more than one server, beside one.
section deployments(const setting&);

} // namespace leasehold::benchmark

#endif
