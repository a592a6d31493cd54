#ifndef LEASEHOLD_BENCHMARK_MEASUREMENTS_HPP
#define LEASEHOLD_BENCHMARK_MEASUREMENTS_HPP

#include "report.hpp"

#include <string>
#include <vector>

namespace leasehold::benchmark {

/// One server, or several servers that keep locks together.
struct deployment
{
    std::string name;
    std::string url;
    std::vector<std::string> sockets; ///< Of its servers, for their statistics.
};

/// A server that keeps locks.
struct lock_server
{
    std::string name;
    std::string url;
    std::string peer;         ///< The program that is compared: "pgbench", "Curator". Empty: none.
    std::string peer_command; ///< Without its duration in seconds.
};

struct setting
{
    std::string socket; ///< Of the redis-server.
    /// The cases of `deployments`, one server first.
    std::vector<deployment> deployments;
    std::vector<lock_server> stores; ///< The cases of `stores`, besides Redis.
    bool quick = false; ///< Tiny numbers: checks that it works, does not measure speed.

    [[nodiscard]] std::string redis_url() const { return "unix://" + socket; }
};

/// Uncontended locks, compared with a program that sends the same commands itself.
section distinct_keys(const setting&);

/// Handoffs of one lock within one process.
section handoff(const setting&);

/// Many held leases with renewals.
section held(const setting&);

/// Many waiters for one lock, and their load on the server.
section waiters(const setting&);

/// The cost of a lock at the server, and the memory that it leaves there.
section server_cost(const setting&);

/// One lock with contending processes: throughput, fairness, and cost.
section contention(const setting&);

/// Locks in other servers than Redis.
section stores(const setting&);

/// Uncontended locks in deployments of several servers, compared with one server.
section deployments(const setting&);

} // namespace leasehold::benchmark

#endif
