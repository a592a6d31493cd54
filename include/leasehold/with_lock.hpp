#ifndef LEASEHOLD_WITH_LOCK_HPP
#define LEASEHOLD_WITH_LOCK_HPP

#include <leasehold/detail/guarded_work.hpp>
#include <leasehold/diagnostics.hpp>
#include <leasehold/mutex.hpp>
#include <leasehold/with_diagnostics.hpp>

#include <utility>

namespace leasehold {

/// Acquires the lock, runs `work`, releases the lock on every path. When the lease is lost
/// meanwhile, the work is cancelled, and the loss is what is reported, not the abort that it
/// caused.
///
/// `work` is called with no argument or with the `lease&`, and returns
///  - a coroutine, `asio::awaitable<T>`, or
///  - an asynchronous operation that has not started (`asio::deferred`) whose signature begins with
///  `error_code` or `std::exception_ptr`.
///
/// It runs on a strand of its own, over the handler's associated executor; where the handler has
/// none (`asio::detached`, a plain lambda), over the executor that the client was given. Work that
/// blocks holds up neither the client nor work under another lock, as long as that executor has a
/// thread left; see `client` on how to be sure of it.
///
/// @par Signature
/// That of the work: `void(std::exception_ptr)` or `void(std::exception_ptr, T)` for a coroutine,
/// with `T` default-constructible.
/// @par Details
/// Of an error of the lock or of a loss: in the exception, where the signature has one or the token
/// makes one, and in `details`, which has to stay until the handler is called or destroyed.
/// @par Errors
/// In this order: what `mutex::async_lock` reports, then the work was not started; the reason of
/// the loss when the lease ended before the work did; what the work reports. For coroutines errors
/// arrive as `boost::system::system_error`. A release that cannot reach the store after the work
/// ended well is no error: the time to live frees the lock. When an operation whose signature
/// begins with `error_code` cannot be started because `work` throws, the exception leaves the `run`
/// of the context and the handler is destroyed.
/// @par Cancellation
/// While waiting: all types; the work is not started then. While working: terminal, passed to the
/// work, once. While releasing: none. Work that ignores cancellation is waited for; until it ends
/// the lease stays lost and the fence is the only protection.
/// @par Completion
/// Never inside this call, on the handler's associated executor (default:
/// `client::get_executor()`). `work` is destroyed before.
/// @par Source
/// `keep_alive() || work()` would not cancel the work when the first one fails.
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
