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

/// Where handlers without an executor of their own run, of an operation on this lease; without a
/// lease the system's executor.
[[nodiscard]] LEASEHOLD_EXPORT const asio::any_io_executor& executor_of(
    const lease_state_ptr&) noexcept;

/// The lease of an acquisition.
[[nodiscard]] lease make_lease(lease_state_ptr) noexcept;
LEASEHOLD_EXPORT void start_release(void_handler&&, lease);
LEASEHOLD_EXPORT void start_wait_lost(void_handler&&, lease_state_ptr);
LEASEHOLD_EXPORT void release_in_background(lease_state_ptr) noexcept;

/// Tells `async_lock(token)` from `async_lock(owner)` and `async_lock(details)`.
template <class Token>
concept token_argument = !std::convertible_to<Token, owner> &&
                         !std::same_as<std::remove_cvref_t<Token>, diagnostics>;

} // namespace detail

/// One acquisition of a lock. While `valid()` is true, no other owner holds the lock.
///
/// Destroying a lease releases the lock in the background: it never blocks and never throws, and
/// gives up when the time to live has passed. Where something may have prolonged that, others under
/// the same owner or a renewal that is still on its way, it goes on until the store has answered or
/// the client ends.
/// `async_release` does the same and tells how it went. So `co_await m.async_lock();` without a
/// variable locks and unlocks at once: clang warns of it, g++ does not.
///
/// @par Threads
/// `valid`, `deadline`, `fence` and `owner` may be called from any thread, also while operations of
/// the lease are outstanding. Moving and destroying need the usual care: one thread at a time.
/// @par Operations on no lease
/// A lease that was default-constructed, moved from or released refers to no lock and no client.
/// Its operations complete with `errc::not_owner` on the handler's associated executor. A handler
/// without one runs on a thread of the system's executor.
/// @par What a lease can promise
/// A process that was paused may wake up after the lease ended and act before it looks. What must
/// not be written by such a process must be written with `fence()` to a place that refuses an older
/// fence than the newest it saw.
class [[nodiscard]] lease
{
public:
    /// No lease: not valid, fence 0.
    lease() noexcept = default;
    /// Takes the lease over; the other object holds none afterwards.
    lease(lease&&) noexcept = default;
    /// @cond
    // For `lease l = m.async_lock();` only, to say what is missing: the operation has not even been
    // started.
    template <class Operation>
        requires asio::is_deferred<std::remove_cvref_t<Operation>>::value
    lease(Operation&&)
    {
        static_assert(!std::same_as<Operation, Operation>,
                      "leasehold: co_await is missing: a lease is what the operation ends with, "
                      "not the operation itself");
    }
    /// @endcond

    /// Releases, in the background, what was held before.
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

    /// Whether the lock is certainly still held. Reads atomics and the clock; takes no lock, and
    /// makes no system call that blocks.
    [[nodiscard]] LEASEHOLD_EXPORT bool valid() const noexcept;

    /// The time until which the lease is guaranteed. Each confirmed renewal extends it. The epoch
    /// when there is no lease.
    [[nodiscard]] LEASEHOLD_EXPORT clock::time_point deadline() const noexcept;

    /// Greater than the fence of every lease that was granted before for this name. The same for
    /// all entries of one owner. 0 when there is no lease.
    [[nodiscard]] LEASEHOLD_EXPORT std::uint64_t fence() const noexcept;

    /// The owner token for reentrant acquisition. Calling this disables local handoff for this
    /// lease. Nobody when there is no lease.
    [[nodiscard]] LEASEHOLD_EXPORT class owner owner() const;

    /// The name of the lock. Empty when there is no lease.
    [[nodiscard]] LEASEHOLD_EXPORT std::string name() const;

    /// Whether this is a lease at all, valid or lost; false when default-constructed, moved from,
    /// or released.
    [[nodiscard]] explicit operator bool() const noexcept { return state_ != nullptr; }

    /// Where handlers run that have no executor of their own, as `client::get_executor` says. When
    /// there is no lease: the system's executor.
    [[nodiscard]] LEASEHOLD_EXPORT asio::any_io_executor get_executor() const noexcept;

    /// Waits until the lease ends otherwise than by being released.
    ///
    /// @par Signature
    /// `void(error_code)`. Any number of waits may be outstanding.
    /// @par Errors
    ///  - `errc::lost`: the store says that the key is gone or has another owner.
    ///  - `errc::expired`: no renewal was confirmed before the deadline, or renewal is off and the
    ///  time has passed.
    ///  - `errc::hold_limit`: it was held for the longest time that the options allow. The client
    ///  releases the lock then, also while this object stays.
    ///  - `errc::silent`: `lock_options::dead_holder_grace` is over, and no sign of life of the
    ///  client was confirmed in it.
    ///  - `errc::shut_down`: the client was shut down.
    ///  - `asio::error::operation_aborted`: cancelled, or the lease was released or destroyed.
    /// @par Cancellation
    /// All types, at any time; the lease is not affected.
    /// @par Completion
    /// Never inside this call, on the handler's associated executor (default:
    /// `client::get_executor()`). The wait does not need this object to stay: moving it is fine,
    /// destroying it ends the wait.
    /// @par Beside work
    /// `with_lock` cancels work at the loss. So does `async_wait_lost(as_tuple(use_awaitable)) ||
    /// work()`. Without `as_tuple` it does not: the operator `||` of `asio::awaitable` waits for a
    /// success, and a loss is an error.
    /// @par Details
    /// What the renewals heard that failed before the end: the server, its answer, since when.
    template <detail::token_argument Token = detail::default_token>
    auto async_wait_lost(Token&& token = Token())
    {
        return wait_lost(nullptr, std::forward<Token>(token));
    }

    /// As above; `details` has to stay until the handler is called or destroyed.
    template <class Token = detail::default_token>
    auto async_wait_lost(diagnostics& details, Token&& token = Token())
    {
        return wait_lost(&details, std::forward<Token>(token));
    }

    /// Releases the lock: stops the renewal, then leaves the lock to the next waiter.
    ///
    /// After this call the object holds no lease any more, whatever the outcome.
    /// @par Signature
    /// `void(error_code)`
    /// @par Errors
    ///  - success: this lease was held until now. The store freed the lock, or another entry of the
    ///  same owner is still in, or it went to a waiter of this client.
    ///  - `errc::lost`, `errc::expired`, `errc::hold_limit`, `errc::silent`, `errc::shut_down`: the
    ///  lease had ended before, for this reason; what may be left of it in the store is released
    ///  without being waited for. `errc::shut_down` also when the client stopped before the store
    ///  had answered.
    ///  - `errc::not_owner`: the store has another owner, or there was no lease; nothing was
    ///  touched.
    ///  - `errc::store_unavailable`, `errc::outcome_unknown`: the store could not be reached, or
    ///  did not answer, before the time to live passed; by now it is free, unless something
    ///  prolonged that, as above: then the release goes on.
    ///  - `asio::error::operation_aborted`: cancelled.
    /// @par Cancellation
    /// All types end the wait only: the release goes on in the background.
    /// @par Completion
    /// Never inside this call, on the handler's associated executor (default:
    /// `client::get_executor()`).
    template <detail::token_argument Token = detail::default_token>
    auto async_release(Token&& token = Token())
    {
        return release(nullptr, std::forward<Token>(token));
    }

    /// As above; `details` has to stay until the handler is called or destroyed.
    template <class Token = detail::default_token>
    auto async_release(diagnostics& details, Token&& token = Token())
    {
        return release(&details, std::forward<Token>(token));
    }

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
        // Given up before the call: a deferred operation that is never started releases as well.
        return detail::initiate_explained<void(error_code), &detail::start_release>(
            std::move(*this), std::forward<Token>(token), details);
    }

    detail::lease_state_ptr state_; ///< Null when there is no lease.
};

} // namespace leasehold

#endif
