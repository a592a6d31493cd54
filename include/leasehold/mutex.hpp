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

#include <string>
#include <string_view>
#include <utility>

namespace leasehold {

namespace detail {

using lock_handler = bound_handler<void(error_code, lease)>;
LEASEHOLD_EXPORT void start_lock(lock_handler&&, spec_ptr, owner, clock::duration limit);
LEASEHOLD_EXPORT clock::duration wait_limit(const lock_spec&) noexcept;
LEASEHOLD_EXPORT clock::duration until(const lock_spec&, clock::time_point) noexcept;

} // namespace detail

/// A named lock, exclusive among all processes that use the same store. A cheap handle: copy it, or
/// make one where it is needed. Two handles of one name exclude each other, also within one client.
///
/// All operations have the signature `void(error_code, lease)` and complete with a lease exactly
/// when there is no error.
/// @par Errors
///  - `errc::held`: another owner holds the lock (one try, and any limit of 0).
///  - `errc::timed_out`: the limit passed while another owner held the lock, as the store last
///  said.
///  - `errc::store_unavailable`, `errc::store_refused`, `errc::outcome_unknown`: the limit passed
///  while the store could not serve.
///  - `errc::wrong_type`: the key holds something that is not a lock. `errc::permission_denied`:
///  the server forbids what is needed.
///  - `errc::lost`: a reentrant acquisition, and the owner does not hold the lock (any more).
///  - `errc::not_running`: `client::async_run` was not called. `errc::shut_down`: the client stops.
///  - `asio::error::operation_aborted`: cancelled.
///
/// A coroutine that waits with the default token gets them as `error_with_diagnostics`: which
/// server and key, what the server answered or why it is not connected, who holds the lock, how
/// long it waited. Where no exception is wanted, an overload takes a `diagnostics&`.
/// @par Cancellation
/// All types, in every state. Whatever a request already under way gains goes to the next waiter or
/// is given back.
/// @par Completion
/// Never inside the initiating call, on the handler's associated executor (default:
/// `client::get_executor()`). Waiters of one client are served in order. When the handler cannot be
/// called any more because its context is gone, the lock is given back.
/// @par Threads
/// A handle may be used from any number of threads at once; it need not outlive its operations, nor
/// need the client.
class mutex
{
public:
    /// @param locks   The client. It need not run yet, but before the first operation.
    /// @param name    1 … 4096 bytes, any bytes, but not beginning with `leasehold:` or
    ///                `redisson_lock_token:`, where what belongs to locks is kept. The key in the
    ///                store.
    /// @param options How to acquire and hold.
    /// @throws boost::system::system_error `errc::invalid_name` or `errc::invalid_option`; `what()`
    /// names what is wrong.
    LEASEHOLD_EXPORT mutex(const client& locks, std::string_view name,
                           const lock_options& options = {});

    /// Copies the handle. There is no separate move: a handle that was moved from stays valid, so
    /// an operation may pass itself on while it uses a mutex that is a member of it.
    mutex(const mutex&) = default;
    /// Copies the handle.
    mutex& operator=(const mutex&) = default;

    /// The name of the lock.
    [[nodiscard]] LEASEHOLD_EXPORT const std::string& name() const noexcept;
    /// The options, with the lease time rounded up to what the store can keep.
    [[nodiscard]] LEASEHOLD_EXPORT const lock_options& options() const noexcept;
    /// Where handlers run that have no executor of their own, as `client::get_executor` says.
    [[nodiscard]] LEASEHOLD_EXPORT asio::any_io_executor get_executor() const noexcept;

    /// Acquires the lock, waiting no longer than `lock_options::wait_limit`.
    template <detail::token_argument Token = detail::default_token>
    auto async_lock(Token&& token = Token()) const
    {
        return start(detail::wait_limit(*spec_), owner(), nullptr, std::forward<Token>(token));
    }

    /// Acquires the lock reentrantly under an owner that holds it, here or in another process. The
    /// lease has the fence of that owner. Release it separately; the lock is freed when every
    /// holder of the owner has released. Does not wait for other owners; waits for the store no
    /// longer than `lock_options::wait_limit`.
    /// @throws boost::system::system_error `errc::invalid_option` when `under` is no owner; so do
    /// all overloads that take one.
    template <detail::token_argument Token = detail::default_token>
    auto async_lock(owner under, Token&& token = Token()) const
    {
        return start(detail::wait_limit(*spec_), entering(std::move(under)), nullptr,
                     std::forward<Token>(token));
    }

    /// Tries once: completes with `errc::held` when another owner holds the lock, or somebody waits
    /// for it in this client. Waits for the store, when it cannot be reached yet or does not
    /// answer, up to five seconds.
    template <detail::token_argument Token = detail::default_token>
    auto async_try_lock(Token&& token = Token()) const
    {
        return start(clock::duration::zero(), owner(), nullptr, std::forward<Token>(token));
    }

    /// Tries once to acquire the lock reentrantly under an owner that holds it.
    template <detail::token_argument Token = detail::default_token>
    auto async_try_lock(owner under, Token&& token = Token()) const
    {
        return start(clock::duration::zero(), entering(std::move(under)), nullptr,
                     std::forward<Token>(token));
    }

    /// Acquires the lock, waiting no longer than `limit`, connecting included. Zero or less: one
    /// try.
    template <detail::token_argument Token = detail::default_token>
    auto async_try_lock_for(std::chrono::milliseconds limit, Token&& token = Token()) const
    {
        return start(clipped(limit), owner(), nullptr, std::forward<Token>(token));
    }

    /// Acquires the lock reentrantly, waiting for the store no longer than `limit`.
    template <detail::token_argument Token = detail::default_token>
    auto async_try_lock_for(std::chrono::milliseconds limit, owner under,
                            Token&& token = Token()) const
    {
        return start(clipped(limit), entering(std::move(under)), nullptr,
                     std::forward<Token>(token));
    }

    /// Acquires the lock, waiting no longer than until `when` by `leasehold::clock`. In the past:
    /// one try.
    template <detail::token_argument Token = detail::default_token>
    auto async_try_lock_until(clock::time_point when, Token&& token = Token()) const
    {
        return start(detail::until(*spec_, when), owner(), nullptr, std::forward<Token>(token));
    }

    /// Acquires the lock reentrantly, waiting for the store no longer than until `when`.
    template <detail::token_argument Token = detail::default_token>
    auto async_try_lock_until(clock::time_point when, owner under, Token&& token = Token()) const
    {
        return start(detail::until(*spec_, when), entering(std::move(under)), nullptr,
                     std::forward<Token>(token));
    }

    /// @name With details
    /// The same operations, each of which also tells what is known of its error: see `diagnostics`,
    /// which has to stay until the handler is called or destroyed.
    /// @{

    /// As the function without `details`, which are set right before the handler is called.
    template <class Token = detail::default_token>
    auto async_lock(diagnostics& details, Token&& token = Token()) const
    {
        return start(detail::wait_limit(*spec_), owner(), &details, std::forward<Token>(token));
    }

    template <class Token = detail::default_token>
    auto async_lock(owner under, diagnostics& details, Token&& token = Token()) const
    {
        return start(detail::wait_limit(*spec_), entering(std::move(under)), &details,
                     std::forward<Token>(token));
    }

    template <class Token = detail::default_token>
    auto async_try_lock(diagnostics& details, Token&& token = Token()) const
    {
        return start(clock::duration::zero(), owner(), &details, std::forward<Token>(token));
    }

    template <class Token = detail::default_token>
    auto async_try_lock(owner under, diagnostics& details, Token&& token = Token()) const
    {
        return start(clock::duration::zero(), entering(std::move(under)), &details,
                     std::forward<Token>(token));
    }

    template <class Token = detail::default_token>
    auto async_try_lock_for(std::chrono::milliseconds limit, diagnostics& details,
                            Token&& token = Token()) const
    {
        return start(clipped(limit), owner(), &details, std::forward<Token>(token));
    }

    template <class Token = detail::default_token>
    auto async_try_lock_for(std::chrono::milliseconds limit, owner under, diagnostics& details,
                            Token&& token = Token()) const
    {
        return start(clipped(limit), entering(std::move(under)), &details,
                     std::forward<Token>(token));
    }

    template <class Token = detail::default_token>
    auto async_try_lock_until(clock::time_point when, diagnostics& details,
                              Token&& token = Token()) const
    {
        return start(detail::until(*spec_, when), owner(), &details, std::forward<Token>(token));
    }

    template <class Token = detail::default_token>
    auto async_try_lock_until(clock::time_point when, owner under, diagnostics& details,
                              Token&& token = Token()) const
    {
        return start(detail::until(*spec_, when), entering(std::move(under)), &details,
                     std::forward<Token>(token));
    }
    /// @}

private:
    friend const asio::any_io_executor& inner_executor_of(const mutex& of) noexcept
    {
        return detail::inner_executor_of(of.spec_);
    }

    static clock::duration clipped(std::chrono::milliseconds limit) noexcept
    {
        constexpr auto longest = std::chrono::duration_cast<std::chrono::milliseconds>(
            clock::duration::max());
        if (limit <= limit.zero())
            return clock::duration::zero();
        return limit >= longest ? clock::duration::max() : clock::duration(limit);
    }

    /// Throws `errc::invalid_option` for nobody.
    LEASEHOLD_EXPORT static owner entering(owner under);

    template <class Token>
    auto start(clock::duration limit, owner under, diagnostics* details, Token&& token) const
    {
        return detail::initiate_explained<void(error_code, lease), &detail::start_lock>(
            spec_, std::forward<Token>(token), details, std::move(under), limit);
    }

    detail::spec_ptr spec_;
};

} // namespace leasehold

#endif
