#ifndef LEASEHOLD_LEASE_HPP
#define LEASEHOLD_LEASE_HPP

#include <leasehold/clock.hpp>
#include <leasehold/detail/fwd.hpp>
#include <leasehold/detail/initiation.hpp>
#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>
#include <leasehold/owner.hpp>
#include <leasehold/with_diagnostics.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace leasehold {

namespace detail {

using void_handler = bound_handler<void(error_code)>;

/// The executor of handlers that have none of their own, for an operation on this lease. Without a
/// lease: the system executor.
[[nodiscard]] LEASEHOLD_EXPORT const asio::any_io_executor& executor_of(
    const lease_state_ptr&) noexcept;

/// Wraps the state of an acquisition.
[[nodiscard]] lease make_lease(lease_state_ptr) noexcept;
LEASEHOLD_EXPORT void start_release(void_handler&&, lease);
LEASEHOLD_EXPORT void start_wait_lost(void_handler&&, lease_state_ptr);
LEASEHOLD_EXPORT void release_in_background(lease_state_ptr) noexcept;
LEASEHOLD_EXPORT void detach_in_background(lease_state_ptr) noexcept;

/// Distinguishes `async_lock(token)` from `async_lock(details)`.
template <class Token>
concept token_argument = !std::same_as<std::remove_cvref_t<Token>, diagnostics>;

} // namespace detail

/// One acquisition of a lock. While `valid()` is true, no other owner holds the lock.
///
/// Destroying a lease releases the lock in the background. It never blocks and never throws. The
/// release is retried until the store answers, until the TTL has passed, or until the client ends.
/// The TTL is no limit if another lease of the owner or a pending renewal may have extended it.
/// `async_release` does the same and reports the result.
///
/// Keep a lease in a variable: `co_await m.async_lock();` alone acquires the lock and releases it
/// at once. clang warns about it, g++ does not. The default observer of a client reports it: see
/// `observer::unused`.
/// @par Threads
/// `valid`, `deadline`, `fence` and `share_owner` may be called from any thread, also during
/// operations of the lease. Do not move or destroy the object concurrently with any other use of
/// it.
/// @par Operations on no lease
/// A default-constructed, moved-from, released or detached lease refers to no lock and no client.
/// Its operations complete with `errc::not_owner` on the handler's associated executor. A handler
/// without one runs on a thread of the system executor.
/// @par Limits of a lease
/// A paused process may resume after its lease has ended, and write before it checks the lease.
/// Send `fence()` with each write, and have the resource reject a token smaller than the largest it
/// has seen.
class [[nodiscard]] lease
{
public:
    /// No lease: not valid, fence 0.
    lease() noexcept = default;
    /// Takes over the lease. The other object then has no lease.
    lease(lease&&) noexcept = default;
    /// @cond
    // Gives `lease l = m.async_lock();` a clear message: that operation was not even started.
    template <class Operation>
        requires asio::is_deferred<std::remove_cvref_t<Operation>>::value
    lease(Operation&&)
    {
        static_assert(!std::same_as<Operation, Operation>,
                      "leasehold: co_await is missing: a lease is what the operation ends with, "
                      "not the operation itself");
    }
    /// @endcond

    /// Releases, in the background, the lock that this object held before.
    lease& operator=(lease&& other) noexcept
    {
        lease taken(std::move(other));
        state_.swap(taken.state_);
        return *this;
    }
    /// Releases the lock in the background, if it is held.
    ~lease()
    {
        if (state_)
            detail::release_in_background(std::move(state_));
    }

    /// Whether the lock is certainly still held. Reads atomics and the clock. Acquires no mutex and
    /// makes no system call that blocks.
    [[nodiscard]] LEASEHOLD_EXPORT bool valid() const noexcept;

    /// The time until which the lease is guaranteed. Each confirmed renewal extends it. The epoch
    /// if there is no lease.
    [[nodiscard]] LEASEHOLD_EXPORT clock::time_point deadline() const noexcept;

    /// The fencing token. Greater than the tokens of all leases granted before for this name. Equal
    /// for all leases of one owner. 0 if there is no lease.
    [[nodiscard]] LEASEHOLD_EXPORT std::uint64_t fence() const noexcept;

    /// Returns the owner token for reentrant acquisition by `mutex::with_owner`. From this call on,
    /// the lock passes to another waiter only through the store, because another process may hold
    /// it under this owner. Empty if there is no lease.
    [[nodiscard]] LEASEHOLD_EXPORT owner share_owner() const;

    /// The name of the lock. Empty if there is no lease.
    [[nodiscard]] LEASEHOLD_EXPORT std::string name() const;

    /// Whether this object has a lease, valid or lost. False if it is default-constructed, moved
    /// from, released, or detached.
    [[nodiscard]] explicit operator bool() const noexcept { return state_ != nullptr; }

    /// The executor of handlers that have none of their own: see `client::get_executor`. The system
    /// executor if there is no lease.
    [[nodiscard]] LEASEHOLD_EXPORT asio::any_io_executor get_executor() const noexcept;

    /// Waits until the lease ends without being released.
    ///
    /// @return What `token` determines. `co_await` with the default token throws the reason.
    /// @par Signature
    /// `void(error_code)`. Any number of waits may be outstanding.
    /// @par Errors
    ///  - `errc::lost`: in the store the lock is gone, or another owner holds it.
    ///  - `errc::expired`: no renewal was confirmed before the deadline, or the lease does not
    ///    renew.
    ///  - `errc::hold_limit`: the lock was held for `lock_options::longest_hold`. The client
    ///    releases it, even while this object exists.
    ///  - `errc::silent`: no heartbeat of the client was confirmed for
    ///    `lock_options::dead_holder_grace`.
    ///  - `errc::shut_down`: the client was shut down.
    ///  - `asio::error::operation_aborted`: cancelled, or the lease was released, detached or
    ///    destroyed.
    /// @par Cancellation
    /// All types, at any time. The lease is not affected.
    /// @par Completion
    /// Never inside this call, on the handler's associated executor (default:
    /// `client::get_executor()`). This object may be moved during the wait. Destroying it ends the
    /// wait.
    /// @par Together with work
    /// `with_lock` cancels the work at a loss. So does this expression:
    /// @code
    /// co_await (lease.async_wait_lost(as_tuple(use_awaitable)) || work());
    /// @endcode
    /// Without `as_tuple` the work is not cancelled: the operator `||` of `asio::awaitable` waits
    /// for a success, and a loss is an error.
    /// @par Details
    /// The renewals that failed before the end: the server, its reply, the time of the first
    /// failure.
    template <detail::token_argument Token = detail::default_token>
    auto async_wait_lost(Token&& token = Token())
    {
        return wait_lost(nullptr, std::forward<Token>(token));
    }

    /// Releases the lock: stops the renewal, then passes the lock to the next waiter or frees it.
    ///
    /// After this call the object has no lease, whatever the result.
    /// @return What `token` determines. `co_await` with the default token returns nothing.
    /// @par Signature
    /// `void(error_code)`
    /// @par Errors
    ///  - success: the lease was held until now. The store freed the lock, a waiter of this client
    ///    got it, or another lease of the same owner still holds it.
    ///  - `errc::lost`, `errc::expired`, `errc::hold_limit`, `errc::silent`, `errc::shut_down`: the
    ///    lease had ended before, for this reason. The client releases the rest in the background.
    ///    `errc::shut_down` also if the client stopped before the store answered.
    ///  - `errc::not_owner`: the store has another owner, or there was no lease. Nothing was
    ///    changed.
    ///  - `errc::store_unavailable`, `errc::outcome_unknown`: the store was unreachable, or did not
    ///    answer, before the TTL passed. The lock is free by now. If its TTL may have been
    ///    extended, as above, the release continues.
    ///  - `asio::error::operation_aborted`: cancelled.
    /// @par Cancellation
    /// All types. They end only the wait: the release continues in the background.
    /// @par Completion
    /// Never inside this call, on the handler's associated executor (default:
    /// `client::get_executor()`).
    template <detail::token_argument Token = detail::default_token>
    auto async_release(Token&& token = Token())
    {
        return release(nullptr, std::forward<Token>(token));
    }

    /// Stops the renewal, and leaves the lock in the store until its TTL ends. After this call the
    /// object has no lease.
    ///
    /// For short jobs that several machines start at the same time: a machine whose clock is behind
    /// finds the lock held, and does not run the job again.
    ///
    /// The lock stays in the store
    ///  - at least until `deadline()`. Right after the grant, that is `lock_options::lease_time`,
    ///    minus the margin for clock drift. After a handoff from another lease of this client, it
    ///    is at least half of that.
    ///  - at most for `lock_options::lease_time` after the last renewal reached the store.
    ///
    /// With `lock_options::dead_holder_grace`, another client may get the lock after this grace.
    ///
    /// The client does not release the lock, not even when it shuts down or is destroyed, because
    /// the lock is meant to outlive the program. Other waiters of this client wait for it as those
    /// of other clients do. If the lease was lost before, this call has no effect on the store.
    ///
    /// In a store with sessions (`store_traits::session`), the client releases the lock when the
    /// TTL ends. The lock does not outlive the session, so it is free when the client has shut
    /// down.
    ///
    /// Outstanding `async_wait_lost` complete with `operation_aborted`. `observer::released` is
    /// called. In the work of `with_lock`, a detached lease ends the work, as a released one does.
    /// @par Threads
    /// The client detaches the lease in the background, on its own strand. One renewal may still be
    /// sent before that. A later shutdown of the client never overtakes it.
    void detach() noexcept
    {
        if (state_)
            detail::detach_in_background(std::move(state_));
    }

    /// @name With details
    /// The same operations, which also report the details of an error. The `diagnostics` must live
    /// until the handler is called or destroyed.
    /// @{

    /// As the function without `details`, which are set right before the handler is called.
    template <class Token = detail::default_token>
    auto async_wait_lost(diagnostics& details, Token&& token = Token())
    {
        return wait_lost(&details, std::forward<Token>(token));
    }

    template <class Token = detail::default_token>
    auto async_release(diagnostics& details, Token&& token = Token())
    {
        return release(&details, std::forward<Token>(token));
    }
    /// @}

private:
    friend lease detail::make_lease(detail::lease_state_ptr) noexcept;
    friend void detail::start_release(detail::void_handler&&, lease);
    friend const asio::any_io_executor& executor_of(const lease& of) noexcept
    {
        return detail::executor_of(of.state_);
    }
    explicit lease(detail::lease_state_ptr state) noexcept : state_(std::move(state)) {}

    template <class Token>
    auto wait_lost(diagnostics* details, Token&& token)
    {
        return detail::initiate_explained<void(error_code), &detail::start_wait_lost>(
            state_, std::forward<Token>(token), details);
    }

    template <class Token>
    auto release(diagnostics* details, Token&& token)
    {
        // Moved before the call: a deferred operation that is never started also releases the lock.
        return detail::initiate_explained<void(error_code), &detail::start_release>(
            std::move(*this), std::forward<Token>(token), details);
    }

    detail::lease_state_ptr state_; ///< Null if there is no lease.
};

} // namespace leasehold

#endif
