#ifndef LEASEHOLD_OPTIONS_HPP
#define LEASEHOLD_OPTIONS_HPP

#include <leasehold/detail/export.hpp>

#include <chrono>
#include <cstdint>
#include <type_traits>

namespace leasehold {

/// A duration option that never ends anything.
inline constexpr std::chrono::milliseconds no_limit = std::chrono::milliseconds::max();

/// How a `mutex` acquires and holds its lock. All durations are milliseconds. Each member says what
/// is allowed; the constructor of the mutex throws `errc::invalid_option` for anything else.
struct lock_options
{
    /// The unit of every duration here.
    using milliseconds = std::chrono::milliseconds;

    /// The time to live in the store, restored by each renewal. After a crash of the holder others
    /// get the lock at most this much later. 10 ms … 30 days.
    milliseconds lease_time{30'000};

    /// Whether the lease renews itself until it is released. Otherwise it ends when the lease time
    /// has passed.
    bool renew = true;

    /// The time from one confirmation to the next renewal. 0: a third of the lease time. At most
    /// half the lease time.
    milliseconds renew_interval{0};

    /// How long `async_lock` waits, connecting included. 0: one try, which waits for the store up
    /// to five seconds. `no_limit`: for ever.
    milliseconds wait_limit = no_limit;

    /// The pause between two looks at a lock that another process holds, and after a request that
    /// the store did not serve: random, below a bound that doubles from the floor to the ceiling.
    /// A notification of a release cuts it short. A new connection does, too, unless the store has
    /// failed twice in a row. 1 ms <= floor <= ceiling <= 60 s.
    milliseconds backoff_floor{20};
    /// The bound that `backoff_floor` doubles up to.
    milliseconds backoff_ceiling{1'000};

    /// A lease is lost (`errc::hold_limit`) when it was held for this long, and the client releases
    /// the lock, whatever its holder does. `no_limit`, or at least 10 ms.
    milliseconds longest_hold = no_limit;

    /// A lock goes from one waiter of this client to the next without the store for this long, and
    /// this often, before it is released for other processes. 0: never. At most 60 s and 1,000,000
    /// times. Both count from the acquire in the store. A lease is handed over when that is within
    /// the limits of its own mutex, and of the one that the acquire in the store was made for. The
    /// store may have fewer fences for it, which ends it earlier: 10,000 at most are asked for, and
    /// there are less the first time and when grants follow each other within microseconds.
    milliseconds handoff_time{20};
    /// How often at most: see `handoff_time`. 0: strict order between the processes that wait.
    std::uint32_t handoff_count = 1'000;

    /// How long the store keeps the lock for this client once its turn in the line has come. The
    /// client is told of it and asks for the lock; when that comes too late, it has lost its place
    /// and begins at the end of the line. Those behind it wait that long for a client that stands
    /// still. So longer than a round trip and than the client may be held up. A claim never
    /// outlives the lease time. Only where the store keeps a line (`store_traits::queues`).
    /// 10 ms … 60 s.
    milliseconds claim_time{1'000};

    /// How much time is left to those who do not know the line, in percent of the time that the
    /// lock is held. Programs that take the same name by `SET name value NX PX` (redis-py, redsync,
    /// node-redlock) try again now and then; while clients of this library wait in line, which is
    /// handed the lock, they never find it free. With this option a release leaves it free for
    /// 5 to 300 ms, now and then or, after long holds, each time; whoever asks first may take it
    /// then, and after that the line goes on in its order. 0: never. At most 100. Only with
    /// `layout=native`; where there is no line, or nobody who does not know it, it does nothing.
    std::uint32_t foreign_turns = 0;

    /// How many replicas of the server must have an acquire, and each renewal, before it counts;
    /// the master that fails next leaves them a replica that knows of the lock. An acquire that
    /// fewer have confirmed in `replica_timeout` is given back and fails with
    /// `errc::not_replicated`; so does one that waits. A renewal that fewer have confirmed has
    /// failed, and is tried again until the lease ends. Each costs a round trip more. At most
    /// 1,000; needs a store with `store_traits::replica_acks`, else the mutex throws
    /// `errc::not_supported`.
    std::uint32_t replica_acks = 0;

    /// How long the replicas have for it. 0: an eighth of the lease time, at most a second. At most
    /// a quarter of the lease time, and 4 s.
    milliseconds replica_timeout{0};

    /// A holder that died is superseded by whoever waits when its client has given no sign of life
    /// for this long, though its lease would go on. In return the lease ends earlier where it
    /// lives: it is lost (`errc::silent`) when no sign of life was confirmed for this long, minus
    /// a margin. A client that holds such leases gives one each quarter of it, whatever their
    /// number. Waiters need no option. A re-entry ends the promise, so such an owner is not
    /// superseded. 0: off. Otherwise 100 ms to a minute, less than the lease time, and without
    /// `replica_acks`; needs a store with `store_traits::dead_holder_grace`, else the mutex throws
    /// `errc::not_supported`. A server that does not tell this user which run of it this is (INFO)
    /// takes no promise; the lease is one without.
    milliseconds dead_holder_grace{0};

    /// Checks every member.
    /// @throws boost::system::system_error `errc::invalid_option`; `what()` names the member, its
    ///         value, and what is allowed.
    LEASEHOLD_EXPORT void validate() const;

    /// Compares all members.
    friend bool operator==(const lock_options&, const lock_options&) = default;
};

// g++ 12 destroys temporary aggregates twice inside a co_await expression unless destroying them is
// nothing.
static_assert(std::is_trivially_destructible_v<lock_options>);

} // namespace leasehold

#endif
