#ifndef LEASEHOLD_OPTIONS_HPP
#define LEASEHOLD_OPTIONS_HPP

#include <leasehold/detail/export.hpp>

#include <chrono>
#include <cstdint>
#include <type_traits>

namespace leasehold {

/// The value of a duration option without a limit.
inline constexpr std::chrono::milliseconds no_limit = std::chrono::milliseconds::max();

/// The options of a `mutex` for its waits and leases. All durations are milliseconds. The
/// constructor of the mutex throws `errc::invalid_option` for a value outside the range of its
/// member.
struct lock_options
{
    /// The unit of every duration here.
    using milliseconds = std::chrono::milliseconds;

    /// TTL of the lock in the store, restored by each renewal. A crashed holder blocks other
    /// clients for at most this time. Range: 10 ms to 30 days.
    milliseconds lease_time{30'000};

    /// Whether the lease is renewed until it is released. Otherwise it ends after the lease time.
    bool renew = true;

    /// Time from a confirmation to the next renewal. 0: a third of the lease time. Maximum: half
    /// the lease time.
    milliseconds renew_interval{0};

    /// Maximum wait of `async_lock`, connecting included. 0: one try, which waits for the store for
    /// up to five seconds. `no_limit`: no timeout.
    milliseconds wait_limit = no_limit;

    /// Pause between two attempts for a lock that another process holds, and after a request that
    /// the store did not serve. The pause is random, below a bound that doubles from the floor to
    /// the ceiling. A wake-up ends it, and so does a new connection, unless the store has failed
    /// twice in a row. Range: 1 ms <= floor <= ceiling <= 60 s.
    milliseconds backoff_floor{20};
    /// The upper limit of the bound: see `backoff_floor`.
    milliseconds backoff_ceiling{1'000};

    /// Maximum time for which the lock is held. The lease is then lost (`errc::hold_limit`), and
    /// the client releases the lock. `no_limit`, or at least 10 ms.
    milliseconds longest_hold = no_limit;

    /// Maximum time, and number of handoffs, for which a lock may pass between waiters of this
    /// client before it is released in the store. 0: no handoff. Range: up to 60 s and 1,000,000
    /// handoffs. Both count from the acquire in the store. If the lease and that acquire are of two
    /// mutexes with different options, the smaller limit applies. The client reserves at most
    /// 10,000 fences, and fewer at first or if grants follow within microseconds. When they are
    /// used up, the lock is released in the store.
    milliseconds handoff_time{20};
    /// Maximum number of handoffs: see `handoff_time`. 0: strict order between waiting processes.
    std::uint32_t handoff_count = 1'000;

    /// Time for which the store reserves a granted lock for this client, at most the lease time. If
    /// the client does not confirm the grant in time, it loses the lock, and joins the end of the
    /// queue again. An unresponsive client delays the others for this time, so it should exceed a
    /// round trip and the normal pauses of the client. Only with a store that has a queue
    /// (`store_traits::queues`). Range: 10 ms to 60 s.
    milliseconds claim_time{1'000};

    /// Time that is reserved for external clients, in percent of the time for which the lock is
    /// held. Programs that lock the same name by `SET name value NX PX` (redis-py, redsync,
    /// node-redlock) poll. While clients of this library are queued, a release hands the lock to
    /// them, and a poll never finds it free. With this option, some releases leave the lock free
    /// for 5 to 300 ms; after long holds, each release does. The first request acquires it, and the
    /// queue then continues in order. 0: off. Maximum: 100. Only with `layout=native`. No effect
    /// without a queue or without external clients.
    std::uint32_t external_share = 0;

    /// Replicas that must confirm an acquire, and each renewal, before it counts. Each of
    /// these replicas has the lock if it takes over. If fewer confirm an acquire within
    /// `replica_timeout`, the lock is released and the operation fails with `errc::not_replicated`,
    /// also if it waits. If fewer confirm a renewal, it is retried until the lease ends. Each
    /// confirmation costs one more round trip. Maximum: 1,000. Needs a store with
    /// `store_traits::replica_acks`; otherwise the mutex throws `errc::not_supported`.
    std::uint32_t replica_acks = 0;

    /// Maximum wait for the replicas. 0: an eighth of the lease time, at most a second. Maximum: a
    /// quarter of the lease time, and 4 s.
    milliseconds replica_timeout{0};

    /// Time without a heartbeat of the holder's client after which a waiter may acquire the lock,
    /// before the TTL has passed. The client ends the lease earlier in return: it is lost
    /// (`errc::silent`) if no heartbeat was confirmed for this time, minus a margin. The client
    /// sends four heartbeats in this time, whatever the number of its leases. Waiters need no
    /// option. After a reentrant acquisition the lock is kept for the lease time. 0: off. Otherwise
    /// 100 ms to a minute, less than the lease time, without `replica_acks`. Needs a store with
    /// `store_traits::dead_holder_grace`; otherwise the mutex throws `errc::not_supported`. If the
    /// user may not call INFO, the option has no effect.
    milliseconds dead_holder_grace{0};

    /// Checks every member.
    /// @throws boost::system::system_error `errc::invalid_option`; `what()` names the member, its
    ///     value, and the allowed values.
    LEASEHOLD_EXPORT void validate() const;

    /// Compares all members.
    friend bool operator==(const lock_options&, const lock_options&) = default;
};

// g++ 12 destroys temporary aggregates twice in a co_await expression, unless the destructor is
// trivial.
static_assert(std::is_trivially_destructible_v<lock_options>);

} // namespace leasehold

#endif
