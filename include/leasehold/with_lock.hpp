#ifndef LEASEHOLD_WITH_LOCK_HPP
#define LEASEHOLD_WITH_LOCK_HPP

#include <leasehold/detail/guarded_work.hpp>
#include <leasehold/diagnostics.hpp>
#include <leasehold/mutex.hpp>
#include <leasehold/with_diagnostics.hpp>

#include <utility>

namespace leasehold {

/// Acquires the lock, runs `work`, and releases the lock on every path. If the lease is lost, the
/// work is cancelled, and the operation completes with the reason of the loss. With a handle made
/// by `mutex::with_owner`, it acquires the lock reentrantly.
///
/// `work` is called with the `lease&` or without an argument, and returns
///  - a coroutine, `asio::awaitable<T>`, or
///  - an asynchronous operation that has not started (`asio::deferred`) whose signature begins with
///    `error_code` or `std::exception_ptr`.
///
/// It runs on a strand of its own over the handler's associated executor. For a handler without one
/// (`asio::detached`, a plain lambda) that is the client's executor. Work that blocks delays
/// neither the client nor other work while that executor has a free thread: see `client`.
///
/// @return What `token` determines. `co_await` with the default token returns the `T` of the work.
/// @par Signature
/// The signature of the work: `void(std::exception_ptr)` or `void(std::exception_ptr, T)` for a
/// coroutine. `T` must be default-constructible.
/// @par Details
/// An error of the lock, or a loss, has details. They are in `details`, and in the exception if the
/// signature has one or the token makes one. `details` must live until the handler is called or
/// destroyed.
/// @par Errors
/// The first of these that applies:
///  - an error of `mutex::async_lock`; the work was not started
///  - the reason of the loss, if the lease ended before the work
///  - the error of the work
///
/// For coroutines errors are `boost::system::system_error`. A release that fails after successful
/// work is no error: the TTL frees the lock. If `work` throws and the signature begins with
/// `error_code`, the exception leaves the context's `run` and the handler is destroyed.
/// @par Cancellation
///  - During the wait: all types. The work is not started.
///  - During the work: terminal, forwarded to the work once. The operation waits for work that
///    ignores cancellation. Until that ends, only the fence protects the resource.
///  - During the release: none.
/// @par Completion
/// Never inside this call, on the handler's associated executor (default:
/// `client::get_executor()`). `work` is destroyed before.
template <class Work, detail::token_argument Token = detail::default_token>
auto with_lock(const mutex& lock, Work work, Token&& token = Token())
{
    return detail::guard(lock, std::move(work), nullptr, std::forward<Token>(token));
}

/// As above, with details.
template <class Work, class Token = detail::default_token>
auto with_lock(const mutex& lock, Work work, diagnostics& details, Token&& token = Token())
{
    return detail::guard(lock, std::move(work), &details, std::forward<Token>(token));
}

} // namespace leasehold

#endif
