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
    std::string whom{};   ///< `server`, or the name of a client.
    stamp begin{};        ///< The fault took effect no earlier than this …
    stamp end{};          ///< … and ended no later than this.
    bool loses = false;   ///< Data that the server had confirmed before may be lost.
    std::string name{};   ///< The name whose data is lost; empty: all data.
    bool forgets = false; ///< A lease may be lost before its deadline, but no other owner gets the
                          ///< lock.
};

/// A write that the register accepted. The register keeps the order of the writes.
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
    stamp healed{};                                     ///< There are no faults from this time on.
    std::map<std::string, std::vector<write>> writes{}; ///< For each name.
    std::vector<std::string> left_over{}; ///< Keys that the servers still have and should not have.
};

} // namespace leasehold::test::chaos

#endif
