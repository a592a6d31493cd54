#ifndef LEASEHOLD_OBSERVER_HPP
#define LEASEHOLD_OBSERVER_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>

#include <chrono>
#include <cstdint>
#include <string_view>

namespace leasehold {

/// The kinds of requests of a client to its store.
enum class store_request : std::uint8_t
{
    acquire, ///< Also the poll of a waiter, and a reentrant acquisition.
    renew,   ///< A batch of renewals.
    release, ///< Of one lock, or of a position in its queue.
};

/// Receives the events of a client, for logs, metrics and traces. Override the functions you need.
///
/// @par Threads
/// Every function is called on the strand that renews the leases, one at a time. It must not block,
/// because it would delay renewals, and it must not throw. It may use handles of the client. An
/// operation that it initiates begins after the function has returned.
/// @par Lifetime
/// The client shares ownership of its observer until all its operations are complete. Names are
/// valid during the call only. After the context or an exception has ended the client, there are no
/// more events, not even for its leases and waiters.
/// @par Units
/// Durations are measured by `leasehold::clock`, in nanoseconds unless the type is milliseconds.
class LEASEHOLD_EXPORT observer
{
public:
    /// The type of durations.
    using duration = std::chrono::nanoseconds;

    virtual ~observer() = default;

    /// Whether it needs the problems only: `suspect_expiry`, `renewal_late`, `lost`, `long_wait`,
    /// `long_wait_ended`, `unused`, `connected`, `store_error` and `disconnected`. The client then
    /// calls no other function, so that operations without a problem do no work for the observer.
    /// Read once, by the constructor of the client.
    [[nodiscard]] virtual bool only_problems() const noexcept { return false; }

    /// An acquiring operation has reached the queue of the name. One `acquired` or `not_acquired`
    /// with the same name follows. Not called for an operation that is rejected because the client
    /// does not run.
    virtual void began(std::string_view /*name*/) noexcept {}

    /// A lease was granted.
    /// @param waited     Time since the call of the operation.
    /// @param handed_off Handed off by a lease of this client, without a request to the store.
    virtual void acquired(std::string_view /*name*/, std::uint64_t /*fence*/, duration /*waited*/,
                          bool /*handed_off*/) noexcept
    {}

    /// An acquiring operation ended without a lease.
    /// @param why     The error that it completes with.
    /// @param waited  Time since the call of the operation.
    /// @param details The server and its reply, the holder. Valid during the call.
    virtual void not_acquired(std::string_view /*name*/, error_code /*why*/, duration /*waited*/,
                              const diagnostics& /*details*/) noexcept
    {}

    /// The store granted a lock that another owner held at an earlier request. Called before
    /// `acquired`. If a wait ends without a lease, `not_acquired` has the holder.
    /// @param holder The `client::id` of the holder at that request; empty if unknown.
    /// @param waited Time of the first waiter since the call of the operation.
    virtual void contended(std::string_view /*name*/, std::string_view /*holder*/,
                           duration /*waited*/) noexcept
    {}

    /// The store reported that another owner holds the lock.
    /// @param remaining Its TTL; negative if it never expires, zero if this is unknown.
    virtual void waiting(std::string_view /*name*/,
                         std::chrono::milliseconds /*remaining*/) noexcept
    {}

    /// An acquiring operation has waited for 0.9 seconds. Called for the first waiter of the name
    /// in this client, at most about once a second for each name: for a new wait, and again if
    /// `why` or the holder has changed. Not called for reentrant acquisitions.
    /// @param why       `errc::held`, or the error of the store: see `mutex`. Without a reply to
    ///     the first request: `errc::outcome_unknown`.
    /// @param waited    Time since the call of the operation.
    /// @param remaining If the lock is held: the TTL that is left if the holder does not renew.
    ///     Zero if unknown. Negative if the lock never expires.
    /// @param details   The server and its reply, the holder. Valid during the call.
    virtual void long_wait(std::string_view /*name*/, error_code /*why*/, duration /*waited*/,
                           std::chrono::milliseconds /*remaining*/,
                           const diagnostics& /*details*/) noexcept
    {}

    /// The wait that `long_wait` reported has ended.
    /// @param why    No error if the lock was acquired.
    /// @param waited Time since the call of the operation.
    virtual void long_wait_ended(std::string_view /*name*/, error_code /*why*/,
                                 duration /*waited*/) noexcept
    {}

    /// The TTL of a lock that this client waits for does not decrease, or is longer than a lease
    /// can be. The server's clock may have stepped back. The client does not rely on this TTL: it
    /// polls after its backoff.
    virtual void suspect_expiry(std::string_view /*name*/,
                                std::chrono::milliseconds /*remaining*/) noexcept
    {}

    /// A renewal was confirmed.
    /// @param took From the request to the reply.
    /// @param left Remaining validity of the lease without this renewal. A value close to zero
    ///     means that leases are about to be lost.
    virtual void renewed(std::string_view /*name*/, std::uint64_t /*fence*/, duration /*took*/,
                         duration /*left*/) noexcept
    {}

    /// A renewal was not confirmed. It is retried until the deadline.
    /// @param why  The error.
    /// @param left Remaining validity of the lease without a renewal.
    virtual void renewal_late(std::string_view /*name*/, std::uint64_t /*fence*/,
                              error_code /*why*/, duration /*left*/) noexcept
    {}

    /// A lease ended without being released by its holder. Called once for each lease; `valid()` is
    /// already false.
    /// @param held    Time since the grant.
    /// @param reason  As in `lease::async_wait_lost`: `lost`, `expired`, `hold_limit`, `silent`, or
    ///     `shut_down` if the client stopped and releases the lock itself.
    /// @param details The failed renewals and heartbeats. Valid during the call.
    virtual void lost(std::string_view /*name*/, std::uint64_t /*fence*/, duration /*held*/,
                      error_code /*reason*/, const diagnostics& /*details*/) noexcept
    {}

    /// A holder released its lease, or detached it (`lease::detach`). Called when the release
    /// begins.
    /// @param held Time since the grant.
    virtual void released(std::string_view /*name*/, std::uint64_t /*fence*/,
                          duration /*held*/) noexcept
    {}

    /// A lease was destroyed within 200 microseconds after the grant, without a call of any of its
    /// functions. Probably it was never kept in a variable, as in `co_await m.async_lock();`. A
    /// correct program with such short work causes it, too. Called before `released`. Not called
    /// for `lease::async_release`, for `lease::detach`, or for `with_lock`.
    /// @param held Time since the grant.
    virtual void unused(std::string_view /*name*/, std::uint64_t /*fence*/,
                        duration /*held*/) noexcept
    {}

    /// The store granted a lock that this client released to the first waiter in the queue, in
    /// another client. Only with a store that has a queue.
    virtual void granted_next(std::string_view /*name*/) noexcept {}

    /// The store has answered a request. Called once for each request, also if the client no longer
    /// waits for it.
    /// @param took From the request to the reply.
    /// @param why  No error, or the reason why no effect is known. A renewal that fails alone in a
    ///     batch is reported by `renewal_late`.
    virtual void answered(store_request /*request*/, duration /*took*/, error_code /*why*/) noexcept
    {}

    /// The store, or a partition of it, can be reached, for the first time or again.
    virtual void connected() noexcept {}

    /// Details of an error of the store: for each request that a server rejected, of any kind, and
    /// before `disconnected` if the reason is known as text.
    /// @param details The server, the key, and the server's reply or the connection error. Valid
    ///     during the call.
    virtual void store_error(error_code /*code*/, const diagnostics& /*details*/) noexcept {}

    /// The store, or a partition of it, cannot be reached. Called again if there is a newer reason.
    virtual void disconnected(error_code /*why*/) noexcept {}
};

} // namespace leasehold

#endif
