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
LEASEHOLD_EXPORT void release_in_background(lease_state_ptr) noexcept;
LEASEHOLD_EXPORT void start_release(void_handler&&, lease_state_ptr);
LEASEHOLD_EXPORT void start_wait_lost(void_handler&&, lease_state_ptr);

/// Tells `async_lock(token)` from `async_lock(owner)` and `async_lock(details)`.
template <class Token>
concept token_argument = !std::convertible_to<Token, owner> &&
                         !std::same_as<std::remove_cvref_t<Token>, diagnostics>;

/// Completes an operation on no lease.
/// @param before The lease that was released; null: there was none.
LEASEHOLD_EXPORT void start_nothing(void_handler&&, lease_state_ptr before);

/// What an operation of a lease works on: the lease, or one that was released before and still
/// tells its client.
struct lease_target
{
    lease_state_ptr state;
    bool held;

    friend const asio::any_io_executor& executor_of(const lease_target& of) noexcept
    {
        return detail::executor_of(of.state);
    }
};

/// A lease on its way from its object to the start of its release: released also when that never
/// comes.
class parting_lease
{
public:
    explicit parting_lease(lease_target of) noexcept : target_(std::move(of)) {}
    parting_lease(parting_lease&&) noexcept = default;
    parting_lease& operator=(parting_lease&&) = delete;
    ~parting_lease()
    {
        if (target_.state && target_.held)
            release_in_background(std::move(target_.state));
    }

    [[nodiscard]] lease_target take() noexcept { return std::move(target_); }

    friend const asio::any_io_executor& executor_of(const parting_lease& of) noexcept
    {
        return detail::executor_of(of.target_.state);
    }

private:
    lease_target target_;
};

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
/// They complete with `errc::not_owner`. After `async_release` they complete as those of the lease
/// did: on the handler's associated executor, or `client::get_executor()`. A lease that was
/// default-constructed, moved from, or made of such a one has no client: they complete on the
/// handler's associated executor, and a handler that has none is called before the function
/// returns, so that no other thread is involved.
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
    LEASEHOLD_EXPORT lease& operator=(lease&&) noexcept;
    /// Releases the lock in the background, if it is held.
    ~lease()
    {
        if (state_)
            leave();
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
    [[nodiscard]] explicit operator bool() const noexcept { return held() != nullptr; }

    /// Where handlers run that have no executor of their own, as `client::get_executor` says.
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
    /// `client::get_executor()`); with the one exception of operations on no lease, above. The wait
    /// does not need this object to stay: moving it is fine, destroying it ends the wait.
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
    ///  - `errc::store_unavailable`, `errc::outcome_unknown`: the store could not be reached before
    ///  the time to live passed; by now it is free, unless
    ///    something prolonged that, as above: then the release goes on.
    ///  - `asio::error::operation_aborted`: cancelled.
    /// @par Cancellation
    /// All types end the wait only: the release goes on in the background.
    /// @par Completion
    /// Never inside this call, on the handler's associated executor (default:
    /// `client::get_executor()`); with the one exception of operations on no lease, above.
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
    friend struct detail::access;
    explicit lease(detail::lease_state_ptr state) noexcept : state_(std::move(state)) {}

    friend const asio::any_io_executor& executor_of(const lease& of) noexcept
    {
        return detail::executor_of(of.state_);
    }

    template <class Token>
    auto wait_lost(diagnostics* details, Token&& token)
    {
        return detail::initiate_explained<void(error_code), &lease::start_wait_lost>(
            detail::lease_target{state_, held() != nullptr}, std::forward<Token>(token), details);
    }

    template <class Token>
    auto release(diagnostics* details, Token&& token)
    {
        // Given up before the call: a deferred operation that is never started releases as well.
        return detail::initiate_explained<void(error_code), &lease::start_release>(
            detail::parting_lease(give_up()), std::forward<Token>(token), details);
    }

    static void start_release(detail::void_handler&& handler, detail::parting_lease leaving)
    {
        detail::lease_target of = leaving.take();
        if (of.held)
            detail::start_release(std::move(handler), std::move(of.state));
        else
            detail::start_nothing(std::move(handler), std::move(of.state));
    }

    static void start_wait_lost(detail::void_handler&& handler, detail::lease_target of)
    {
        if (of.held)
            detail::start_wait_lost(std::move(handler), std::move(of.state));
        else
            detail::start_nothing(std::move(handler), std::move(of.state));
    }

    /// Null when there is no lease, or it was released.
    [[nodiscard]] LEASEHOLD_EXPORT const detail::lease_state* held() const noexcept;

    /// From now on this object holds nothing, and what is returned does.
    [[nodiscard]] LEASEHOLD_EXPORT detail::lease_target give_up() noexcept;

    LEASEHOLD_EXPORT void leave() noexcept;

    /// Stays after a release: its client completes what comes after it.
    detail::lease_state_ptr state_;
};

} // namespace leasehold

#endif
