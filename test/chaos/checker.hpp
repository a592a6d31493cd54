#ifndef LEASEHOLD_TEST_CHAOS_CHECKER_HPP
#define LEASEHOLD_TEST_CHAOS_CHECKER_HPP

#include "chaos/record.hpp"
#include "chaos/report.hpp"

namespace leasehold::test::chaos {

/// Limits for events that need time.
struct limits
{
    /// From the deadline until the loss is reported, while the process runs. The same loop serves
    /// the timer of the deadline and the one that detects stalls. This is the time between the two.
    stamp loss = std::chrono::milliseconds(50);
    /// From the end of the last fault, or the call, until an acquire is served. A lease time is
    /// added, because a holder may have died with the lock.
    stamp acquire = std::chrono::seconds(5);
};

/// Reads all histories and reports whether the promises were kept. Uses no other data.
///
/// A lease is *believed in* from its report to the holder until the first of: the release request,
/// the report of the loss, the deadline (`valid()` is false from then on, even if the process is
/// stopped and gets no report). Two beliefs in one name may overlap only if a fault that loses data
/// lies between the two times at which the store granted the lock: such a pair is counted, with the
/// fault, and is no violation. The register must still be in order.
///
/// A handler reports the loss, so it runs only while the process does. The check is that the lease
/// is not valid when it runs, and that at most `limits::loss` has passed since the deadline,
/// counting only time in which the process could run.
[[nodiscard]] report check(const record& all, const limits& within = {});

} // namespace leasehold::test::chaos

#endif
