#ifndef LEASEHOLD_MUTEX_HPP
#define LEASEHOLD_MUTEX_HPP

#include <leasehold/clock.hpp>
#include <leasehold/detail/fwd.hpp>
#include <leasehold/detail/initiation.hpp>
#include <leasehold/diagnostics.hpp>
#include <leasehold/lease.hpp>
#include <leasehold/options.hpp>
#include <leasehold/owner.hpp>
#include <leasehold/with_diagnostics.hpp>

#include <chrono>
#include <concepts>
#include <string>
#include <string_view>
#include <utility>

namespace leasehold {

namespace detail {

using lock_handler = bound_handler<void(error_code, lease)>;
LEASEHOLD_EXPORT void start_lock(lock_handler&&, spec_ptr, clock::duration limit);
LEASEHOLD_EXPORT clock::duration wait_limit(const lock_spec&) noexcept;
LEASEHOLD_EXPORT clock::duration until(const lock_spec&, clock::time_point) noexcept;

/// The limit in the clock's unit, rounded up. Zero if it is negative or not a number; the largest
/// duration if it does not fit.
template <class Rep, class Period>
clock::duration saturated(const std::chrono::duration<Rep, Period>& limit)
{
    using approximate = std::chrono::duration<double, clock::period>;
    if (!(limit > limit.zero()))
        return clock::duration::zero();
    // Compared in floating point: a conversion between integer units may overflow.
    if (approximate(limit) >= approximate(clock::duration::max()))
        return clock::duration::max();
    if constexpr (std::convertible_to<std::chrono::duration<Rep, Period>, clock::duration>)
        return limit;
    else
        return std::chrono::ceil<clock::duration>(approximate(limit));
}

template <class Duration>
clock::time_point saturated(const std::chrono::time_point<clock, Duration>& when)
{
    return clock::time_point(saturated(when.time_since_epoch()));
}

} // namespace detail

/// A named lock, exclusive among all processes that use the same store. It is a cheap handle: copy
/// it, or create one where it is needed. Two handles of one name exclude each other, also within
/// one client. A handle made by `with_owner` acquires the lock reentrantly.
///
/// All operations have the signature `void(error_code, lease)`. The lease is set if and only if
/// there is no error.
/// @par Errors
///  - `errc::held`: another owner holds the lock (one try, and any limit of 0).
///  - `errc::timed_out`: the limit passed, and the store last reported another owner.
///  - `errc::store_unavailable`, `errc::store_refused`, `errc::no_quorum`, `errc::outcome_unknown`:
///    the limit passed while the store could not serve the request.
///  - `errc::wrong_type`, `errc::permission_denied`, `errc::not_supported`, `errc::invalid_option`:
///    the key is not a lock, or the server denies a right or lacks a command or the database.
///  - `errc::not_replicated`: fewer replicas than requested confirmed the lock, which was released.
///  - `errc::lost`: a reentrant acquisition whose owner does not hold the lock.
///  - `errc::not_running`: `client::async_run` was not called. `errc::shut_down`: the client stops.
///  - `asio::error::operation_aborted`: cancelled.
///
/// With the default token, `co_await` throws errors as `error_with_diagnostics`. It has the server,
/// the key, the server's reply or the connection error, the holder, and the length of the wait. To
/// avoid exceptions, use the overloads with a `diagnostics&`.
/// @par Cancellation
/// All types, in every state. A lock that a pending request acquires goes to the next waiter, or is
/// released.
/// @par Completion
/// Never inside the initiating call, on the handler's associated executor (default:
/// `client::get_executor()`). Waiters of one client are served in order. If the context of the
/// handler is destroyed before the handler is called, the lock is released.
/// @par Threads
/// A handle may be used from any number of threads at once. The operations may outlive the handle
/// and the client.
class mutex
{
public:
    /// @param locks   The client. It must run before the first operation.
    /// @param name    The key in the store: 1 to 4096 bytes of any value. A store may allow fewer
    ///     (`store_traits::longest_name`). The prefixes `leasehold:` and `redisson_lock_token:` are
    ///     reserved.
    /// @param options How to acquire and hold.
    /// @throws boost::system::system_error `errc::invalid_name` or `errc::invalid_option`.
    ///     `errc::not_supported` if the store cannot serve an option. `what()` names the fault.
    LEASEHOLD_EXPORT mutex(const client& locks, std::string_view name,
                           const lock_options& options = {});

    /// Copies the handle. There is no separate move: a moved-from handle stays valid, so an
    /// operation may move itself while it uses a mutex that is one of its members.
    mutex(const mutex&) = default;
    /// Copies the handle.
    mutex& operator=(const mutex&) = default;

    /// The name of the lock.
    [[nodiscard]] LEASEHOLD_EXPORT const std::string& name() const noexcept;
    /// The options. The lease time is rounded up to the precision of the store.
    [[nodiscard]] LEASEHOLD_EXPORT const lock_options& options() const noexcept;
    /// The executor of handlers that have none of their own: see `client::get_executor`.
    [[nodiscard]] LEASEHOLD_EXPORT asio::any_io_executor get_executor() const noexcept;

    /// Returns a handle of the same name and options that acquires the lock reentrantly under an
    /// owner that holds it, here or in another process: see `lease::share_owner`.
    ///
    /// Each lease has the fence of that owner and is released separately. The lock is freed when
    /// every lease of the owner has been released. The operations do not wait for other owners: if
    /// `under` does not hold the lock, they complete with `errc::lost`. They wait for the store, at
    /// most for their limit. All operations that take a mutex accept the handle, for example
    /// `with_lock`.
    ///
    /// Copies of the returned handle keep the owner. This handle is not changed. If it has an
    /// owner, `under` replaces it in the returned handle.
    /// @throws boost::system::system_error `errc::invalid_option` if `under` is empty or its
    ///     identity is longer than 57 bytes.
    /// @throws std::bad_alloc There is not enough memory.
    [[nodiscard]] LEASEHOLD_EXPORT mutex with_owner(owner under) const;

    /// Acquires the lock, waiting at most `lock_options::wait_limit`.
    /// @return What `token` determines. `co_await` with the default token returns the `lease`.
    template <detail::token_argument Token = detail::default_token>
    auto async_lock(Token&& token = Token()) const
    {
        return start(detail::wait_limit(*spec_), nullptr, std::forward<Token>(token));
    }

    /// Tries once: completes with `errc::held` if another owner holds the lock, or if it has a
    /// waiter in this client. If the store is unreachable or does not answer, waits for it for up
    /// to five seconds.
    /// @return As `async_lock`.
    template <detail::token_argument Token = detail::default_token>
    auto async_try_lock(Token&& token = Token()) const
    {
        return start(clock::duration::zero(), nullptr, std::forward<Token>(token));
    }

    /// Acquires the lock, waiting at most `limit`, connecting included.
    /// @param limit Rounded up to nanoseconds. Zero, negative or not a number: one try, as
    ///     `async_try_lock`. `clock::duration::max()` (292 years) or more: no limit.
    /// @return As `async_lock`.
    template <class Rep, class Period, detail::token_argument Token = detail::default_token>
    auto async_try_lock_for(const std::chrono::duration<Rep, Period>& limit,
                            Token&& token = Token()) const
    {
        return start(detail::saturated(limit), nullptr, std::forward<Token>(token));
    }

    /// Acquires the lock, waiting until `when` by `leasehold::clock` at the latest, connecting
    /// included.
    /// @param when Rounded up to nanoseconds. In the past: one try, as `async_try_lock`.
    ///     `clock::time_point::max()` or later: no limit.
    /// @return As `async_lock`.
    template <class Duration, detail::token_argument Token = detail::default_token>
    auto async_try_lock_until(const std::chrono::time_point<clock, Duration>& when,
                              Token&& token = Token()) const
    {
        return start(detail::until(*spec_, detail::saturated(when)), nullptr,
                     std::forward<Token>(token));
    }

    /// @name With details
    /// The same operations, which also report the details of an error. The `diagnostics` must live
    /// until the handler is called or destroyed.
    /// @{

    /// As the function without `details`, which are set right before the handler is called.
    template <class Token = detail::default_token>
    auto async_lock(diagnostics& details, Token&& token = Token()) const
    {
        return start(detail::wait_limit(*spec_), &details, std::forward<Token>(token));
    }

    template <class Token = detail::default_token>
    auto async_try_lock(diagnostics& details, Token&& token = Token()) const
    {
        return start(clock::duration::zero(), &details, std::forward<Token>(token));
    }

    template <class Rep, class Period, class Token = detail::default_token>
    auto async_try_lock_for(const std::chrono::duration<Rep, Period>& limit, diagnostics& details,
                            Token&& token = Token()) const
    {
        return start(detail::saturated(limit), &details, std::forward<Token>(token));
    }

    template <class Duration, class Token = detail::default_token>
    auto async_try_lock_until(const std::chrono::time_point<clock, Duration>& when,
                              diagnostics& details, Token&& token = Token()) const
    {
        return start(detail::until(*spec_, detail::saturated(when)), &details,
                     std::forward<Token>(token));
    }
    /// @}

private:
    friend const asio::any_io_executor& inner_executor_of(const mutex& of) noexcept
    {
        return detail::inner_executor_of(of.spec_);
    }

    template <class Token>
    auto start(clock::duration limit, diagnostics* details, Token&& token) const
    {
        return detail::initiate_explained<void(error_code, lease), &detail::start_lock>(
            spec_, std::forward<Token>(token), details, limit);
    }

    detail::spec_ptr spec_;
};

} // namespace leasehold

#endif
