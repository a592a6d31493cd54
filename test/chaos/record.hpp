#ifndef LEASEHOLD_TEST_CHAOS_RECORD_HPP
#define LEASEHOLD_TEST_CHAOS_RECORD_HPP

#include "chaos/history.hpp"

#include <map>
#include <string>
#include <vector>

namespace leasehold::test::chaos {

/// One fault of the nemesis.
struct fault
{
    std::string what;     ///< Its kind, for the counts.
    std::string whom{};   ///< `server`, or a client.
    stamp begin{};        ///< It took effect no earlier …
    stamp end{};          ///< … and ended no later.
    bool loses = false;   ///< Data that the server had confirmed before may be gone afterwards.
    std::string name{};   ///< The lost name; empty: everything.
    bool forgets = false; ///< A lease may be lost before its deadline, but no other owner gets the
                          ///< lock.
};

/// A write that the register accepted; the register keeps them in order.
struct write
{
    std::uint64_t fence = 0;
    std::int64_t value = 0;
    std::string client{};
    std::uint32_t op = 0;
};

/// All data of one run on one deployment, after its end.
struct record
{
    stamp lease{}; ///< The lease time of every lock; with heartbeats, the grace.
    std::vector<std::string> names{};
    std::vector<history> clients{};
    std::vector<fault> faults{};
    stamp healed{};                                     ///< From this time on there are no faults.
    std::map<std::string, std::vector<write>> writes{}; ///< By name.
    std::vector<std::string> left_over{}; ///< Keys that are still in the server and should not be.
};

} // namespace leasehold::test::chaos

#endif
