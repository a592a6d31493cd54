#ifndef LEASEHOLD_TEST_CHAOS_CHECKER_HPP
#define LEASEHOLD_TEST_CHAOS_CHECKER_HPP

#include "chaos/record.hpp"
#include "chaos/report.hpp"

namespace leasehold::test::chaos {

/// How long things may take that cannot happen at once.
struct limits
{
    /// From the deadline until the loss is told, while the process runs. The timer of the deadline
    /// and the one that looks for stalls are served by the same loop; this is what lies between the
    /// two.
    stamp loss = std::chrono::milliseconds(50);
    /// From the end of the last fault, or the call, until an acquire is served; a lease time comes
    /// on top, because somebody may have died while he held the lock.
    stamp acquire = std::chrono::seconds(5);
};

/// Reads everything that was written down and says whether the promises were kept. Looks at nothing
/// else.
///
/// A lease is *believed in* from the moment its holder was told of it until the first of: it asked
/// for the release, it was told of the loss, the deadline (`valid()` is false from then on, also
/// when the process stands still and nobody can be told). Two beliefs in one name may overlap only
/// when a fault that loses data lies between the two times at which the store gave the lock: such a
/// pair is counted, with the fault, and is no violation. The register must be in order all the
/// same.
///
/// The loss itself is told by a handler, which runs when the process does. It is checked that the
/// lease is not valid any more when it runs, and that no more than `limits::loss` has passed since
/// the deadline of time in which the process could run.
[[nodiscard]] report check(const record& all, const limits& within = {});

} // namespace leasehold::test::chaos

#endif
