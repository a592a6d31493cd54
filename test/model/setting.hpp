#ifndef LEASEHOLD_TEST_MODEL_SETTING_HPP
#define LEASEHOLD_TEST_MODEL_SETTING_HPP

#include "model/errors.hpp"

namespace leasehold::test::model {

/// The size of one search, and the features in it.
struct setting
{
    int clients = 2;
    int attempts = 1;  ///< The number of locks that each client wants in turn.
    int faults = 0;    ///< The number of all faults.
    int cancels = 0;   ///< The number of all waits that end before the grant.
    int external = 0;  ///< The number of locks that a client of another library takes.
    int elsewhere = 0; ///< The number of fences that are drawn for another name.

    bool fast_path = true; ///< Acquires may begin with SET NX and INCRBY.
    bool slow_path = true; ///< Acquires may begin in the queue.
    bool tries = false;    ///< Acquires may be tries, which do not wait.
    bool joins = false;    ///< Releases may let the next owner join.
    bool alone = false;    ///< Releases may have no next owner despite waiters.
    bool renewals = false; ///< Holders renew.
    bool entries = false;  ///< Holders acquire again.
    bool block = false;    ///< Two fences each time, the second for a local handoff.
    bool kill = true;      ///< CLIENT KILL is permitted.
    bool loss = false;     ///< FLUSHALL, and restarts with an old snapshot, are among the faults.
    bool calm = false;     ///< There are no faults except these and pauses.
    bool turns = false;    ///< Releases may leave the lock free for external clients.
    /// Waiters poll only when they are notified or receive notifications again. The only fault is
    /// the loss of the connection of the notifications.
    bool told = false;
    bool every_poll = false; ///< Includes polls that are known to change nothing.

    // The documented exceptions. Each is found without its excuse, which shows that the excuse is
    // needed.
    bool excuse_barging = true; ///< SET NX takes an expired lock past the queue.
    /// FLUSHALL between SET NX and INCRBY: an owner that lost its key there has a useless fence.
    bool excuse_flushed = true;

    error wrong = error::none;

    [[nodiscard]] bool has(error e) const noexcept { return wrong == e; }
    /// The number of fences that are drawn at once.
    [[nodiscard]] int fences() const noexcept { return block ? 2 : 1; }
};

} // namespace leasehold::test::model

#endif
