#ifndef LEASEHOLD_WITH_LOCK_HPP
#define LEASEHOLD_WITH_LOCK_HPP

#include <leasehold/detail/guarded_work.hpp>
#include <leasehold/mutex.hpp>

#include <concepts>
#include <utility>

namespace leasehold {

/// Takes the lock, runs `work`, releases the lock on every path. When the lease is lost meanwhile,
/// the work is cancelled and the loss is what is reported, not the abort that it caused.
///
/// `work` is called with no argument or with the `lease&`, and returns
///  - a coroutine, `asio::awaitable<T>`; it runs on a strand of the handler's associated executor,
///  or
///  - an asynchronous operation that is not started yet (`asio::deferred`) whose signature begins
///  with `error_code` or `std::exception_ptr`.
///
/// @par Signature
/// That of the work: `void(std::exception_ptr)` or `void(std::exception_ptr, T)` for a coroutine,
/// with `T` default-constructible.
/// @par Errors
/// In this order: what `mutex::async_lock` reports, then the work was not started; the reason of
/// the loss when the lease ended before the work did; what the work reports. For coroutines errors
/// arrive as `boost::system::system_error`. A release that cannot reach the store after the work
/// ended well is no error: the time to live frees the lock.
/// @par Cancellation
/// While waiting: all types. While working: terminal, passed to the work. While releasing: none.
/// Work that ignores cancellation is waited for; until it ends the lease stays lost and the fence
/// is the only protection.
/// @par Completion
/// Never inside this call, on the handler's associated executor (default: the client's strand).
/// `work` is destroyed before.
/// @par Source
/// `keep_alive() || work()` would not cancel the work when the first one fails; a parallel group
/// whose members complete with values does.
template <class Work, class Token = asio::deferred_t>
    requires(std::invocable<Work&> || std::invocable<Work&, lease&>)
auto with_lock(const mutex& lock, Work work, Token&& token = Token())
{
    using signature = detail::work_signature_t<Work>;
    return asio::async_initiate<Token, signature>(
        detail::guard_initiation<signature>(lock.get_executor()), token, lock, std::move(work));
}

} // namespace leasehold

#endif
