#ifndef LEASEHOLD_TEST_CHAOS_RECORD_HPP
#define LEASEHOLD_TEST_CHAOS_RECORD_HPP

#include "chaos/history.hpp"

#include <map>
#include <string>
#include <vector>

namespace leasehold::test::chaos {

/// One thing that the nemesis did.
struct fault
{
    std::string what;     ///< Its kind, as it is counted.
    std::string whom{};   ///< `server`, or a client.
    stamp begin{};        ///< It took effect no earlier …
    stamp end{};          ///< … and was over no later.
    bool loses = false;   ///< What the server had confirmed before may be gone afterwards.
    std::string name{};   ///< What it loses; empty: everything.
    bool forgets = false; ///< A lease may be lost before its deadline, but nobody else gets in.
};

/// A write that the register took; the register keeps them in order.
struct write
{
    std::uint64_t fence = 0;
    std::int64_t value = 0;
    std::string client{};
    std::uint32_t op = 0;
};

/// All that is known of one run on one deployment when it is over.
struct record
{
    stamp lease{}; ///< The lease time of every lock; of those with a promise, how long its holder
                   ///< may be silent.
    std::vector<std::string> names{};
    std::vector<history> clients{};
    std::vector<fault> faults{};
    stamp healed{}; ///< From here on nothing is broken any more.
    std::map<std::string, std::vector<write>> writes{}; ///< By name.
    std::vector<std::string> left_over{}; ///< Keys that are still in the server and should not be.
};

} // namespace leasehold::test::chaos

#endif
