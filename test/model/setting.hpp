#ifndef LEASEHOLD_TEST_MODEL_SETTING_HPP
#define LEASEHOLD_TEST_MODEL_SETTING_HPP

#include "model/errors.hpp"

namespace leasehold::test::model {

/// The size of one search, and the features that it leaves out.
struct setting
{
    int clients = 2;
    int attempts = 1;  ///< Locks that each client wants, one after the other.
    int faults = 0;    ///< In all.
    int cancels = 0;   ///< Waits that end before the grant, in all.
    int foreign = 0;   ///< Locks that a client of another library takes.
    int elsewhere = 0; ///< Fences that are drawn for another name.

    bool short_way = true;   ///< Acquires may begin with SET NX and INCRBY.
    bool long_way = true;    ///< Acquires may begin in the queue.
    bool tries = false;      ///< Acquires may be tries, which do not wait.
    bool joins = false;      ///< Releases may let the next owner join.
    bool alone = false;      ///< They may have no next owner despite waiters.
    bool renewals = false;   ///< Holders renew.
    bool entries = false;    ///< Holders acquire again.
    bool block = false;      ///< Two fences each time, the second for a local handoff.
    bool kill = true;        ///< CLIENT KILL is permitted.
    bool loss = false;       ///< FLUSHALL, and restarts with an old snapshot, are among the faults.
    bool calm = false;       ///< No other faults than these and pauses.
    bool turns = false;      ///< Releases may leave the lock free for external clients.
    bool told = false;       ///< Waiters poll only when notified or when they listen again; the
                             ///< only fault is the loss of the notifications' connection.
    bool every_look = false; ///< Includes polls that are known to change nothing.

    // The documented exceptions. Without the excuse each is found, which shows that it is needed.
    bool excuse_barging = true; ///< SET NX takes an expired lock past the queue.
    bool excuse_flushed = true; ///< FLUSHALL between SET NX and INCRBY: the fence of an owner that
                                ///< lost its key there is useless.

    error wrong = error::none;

    [[nodiscard]] bool has(error e) const noexcept { return wrong == e; }
    /// The fences that are drawn at a time.
    [[nodiscard]] int fences() const noexcept { return block ? 2 : 1; }
};

} // namespace leasehold::test::model

#endif
