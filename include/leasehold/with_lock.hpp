#ifndef LEASEHOLD_WITH_LOCK_HPP
#define LEASEHOLD_WITH_LOCK_HPP

#include <leasehold/detail/guarded_work.hpp>
#include <leasehold/mutex.hpp>

#include <concepts>
#include <memory>
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
template <class Work, class Token = asio::deferred_t>
auto with_lock(const mutex& lock, Work work, Token&& token = Token())
{
    if constexpr (detail::check_work<Work>()) {
        using signature = detail::work_signature_t<Work>;
        if constexpr (asio::completion_token_for<Token, signature>) {
            using carried = detail::carried_work<signature, std::copy_constructible<Work>>;
            return asio::async_initiate<Token, signature>(
                detail::guard_initiation<signature>(lock), token,
                carried(std::make_unique<detail::work_of<Work>>(std::move(work))));
        }
        else {
            static_assert(!std::same_as<Token, Token>,
                          "with_lock: the handler must take what the work ends with: "
                          "(std::exception_ptr), or (std::exception_ptr, T), "
                          "when it is a coroutine, else the same as the operation's own handler");
        }
    }
}

} // namespace leasehold

#endif
