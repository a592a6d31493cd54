#ifndef LEASEHOLD_OBSERVER_HPP
#define LEASEHOLD_OBSERVER_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>

#include <chrono>
#include <cstdint>
#include <string_view>

namespace leasehold {

/// What a client asks of its store.
enum class store_request : std::uint8_t
{
    acquire, ///< Also the look of one who waits, and reentry.
    renew,   ///< A batch of renewals.
    release, ///< Of one lock, or of a place in its line.
};

/// Receives the events of a client: enough for logs, metrics and traces. Override what you need.
///
/// @par Threads
/// Every function is called on the strand that renews the leases, one at a time. It must not block,
/// or renewals are late, and must not throw. It may use handles of the client: what it starts
/// begins after it has returned.
/// @par Lifetime
/// The client shares ownership of its observer for as long as anything of it is outstanding. Names
/// are valid during the call only.
/// A client whose context ended, or that an exception ended, tells nothing more: what it held and
/// who waited are not accounted for.
/// @par Units
/// Durations are measured by the clock of the leases; they are nanoseconds unless the type says
/// milliseconds.
class LEASEHOLD_EXPORT observer
{
public:
    /// How long something took.
    using duration = std::chrono::nanoseconds;

    virtual ~observer() = default;

    /// An operation that acquires has come to the queue of the name. `acquired` or `not_acquired`
    /// follows, once, with the same name. One that a client refuses because it does not run, or
    /// does no longer, is not told of.
    virtual void began(std::string_view /*name*/) noexcept {}

    /// A lease was granted.
    /// @param waited      Since the call of the operation.
    /// @param handed_over It came from a lease of this client, without a request to the store.
    virtual void acquired(std::string_view /*name*/, std::uint64_t /*fence*/, duration /*waited*/,
                          bool /*handed_over*/) noexcept
    {}

    /// An operation that acquires ended without a lease.
    /// @param why     The error that it completes with.
    /// @param waited  Since the call of the operation.
    /// @param details What is known of it: the server and its answer, who holds the lock. Valid
    ///                during the call.
    virtual void not_acquired(std::string_view /*name*/, error_code /*why*/, duration /*waited*/,
                              const diagnostics& /*details*/) noexcept
    {}

    /// The store granted a lock that another owner had held when it was asked before. Told before
    /// `acquired`. Of waits that end without a lease, `not_acquired` has the holder.
    /// @param holder The `client::id` of whoever held it then; empty when that is not known.
    /// @param waited Of the first in line, since the call of the operation.
    virtual void contended(std::string_view /*name*/, std::string_view /*holder*/,
                           duration /*waited*/) noexcept
    {}

    /// The store answered that another owner holds the lock.
    /// @param remaining Its time to live; negative when it never expires.
    virtual void waiting(std::string_view /*name*/,
                         std::chrono::milliseconds /*remaining*/) noexcept
    {}

    /// The time to live of a lock that this client waits for does not fall, or is longer than any
    /// lease should be: the server's clock may have stepped back. The client does not sleep on it;
    /// it looks again after its backoff.
    virtual void suspect_expiry(std::string_view /*name*/,
                                std::chrono::milliseconds /*remaining*/) noexcept
    {}

    /// A renewal was confirmed.
    /// @param took From its sending to its answer.
    /// @param left The lease would have stayed valid for so long without it: when this comes close
    ///             to zero, leases are about to be lost.
    virtual void renewed(std::string_view /*name*/, std::uint64_t /*fence*/, duration /*took*/,
                         duration /*left*/) noexcept
    {}

    /// A renewal was not confirmed; it is tried again until the deadline.
    /// @param why  What came of it.
    /// @param left The lease stays valid for so long without a renewal.
    virtual void renewal_late(std::string_view /*name*/, std::uint64_t /*fence*/,
                              error_code /*why*/, duration /*left*/) noexcept
    {}

    /// A lease ended without being released by its holder. Called once for each; `valid()` is false
    /// already.
    /// @param held    Since it was granted.
    /// @param reason  As `lease::async_wait_lost` reports it: `lost`, `expired`, `hold_limit`,
    ///                `silent`, or `shut_down` when the client stopped and gives the lock back
    ///                itself.
    /// @param details What the renewals, and signs of life, heard that failed before. Valid during
    ///                the call.
    virtual void lost(std::string_view /*name*/, std::uint64_t /*fence*/, duration /*held*/,
                      error_code /*reason*/, const diagnostics& /*details*/) noexcept
    {}

    /// A lease was released by its holder; called when the release begins.
    /// @param held Since it was granted.
    virtual void released(std::string_view /*name*/, std::uint64_t /*fence*/,
                          duration /*held*/) noexcept
    {}

    /// The store gave a lock that this client released to the next in its line, who waits in
    /// another client. From stores that queue.
    virtual void passed_on(std::string_view /*name*/) noexcept {}

    /// A request has its answer from the store. Called once for each, also when the client no
    /// longer waits for it.
    /// @param took From its sending to its answer.
    /// @param why  No error, or why nothing is known to have been done; each renewal of a batch
    ///             that fails alone is told as `renewal_late`.
    virtual void answered(store_request /*request*/, duration /*took*/, error_code /*why*/) noexcept
    {}

    /// The store, or a partition of it, can be reached, for the first time or again.
    virtual void connected() noexcept {}

    /// What is known of an error of the store: of each request that a server refused, whatever it
    /// was for, and before `disconnected`, where the reason is known in words.
    /// @param details Which server, which key, and the server's own words, or why there is no
    ///                connection to it. Valid during the call.
    virtual void store_error(error_code /*code*/, const diagnostics& /*details*/) noexcept {}

    /// The store, or a partition of it, cannot be reached; called again when a newer reason is
    /// known.
    virtual void disconnected(error_code /*why*/) noexcept {}
};

} // namespace leasehold

#endif
