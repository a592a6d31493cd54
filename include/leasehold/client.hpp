#ifndef LEASEHOLD_CLIENT_HPP
#define LEASEHOLD_CLIENT_HPP

#include <leasehold/detail/fwd.hpp>
#include <leasehold/detail/initiation.hpp>
#include <leasehold/error.hpp>
#include <leasehold/log_observer.hpp>
#include <leasehold/make_store.hpp>
#include <leasehold/observer.hpp>
#include <leasehold/store.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace leasehold {

namespace detail {

LEASEHOLD_EXPORT void start_run(bound_handler<void(error_code)>&&, client_state_ptr);
LEASEHOLD_EXPORT void start_shutdown(bound_handler<void(error_code)>&&, client_state_ptr);

} // namespace detail

/// Counts of the client's events since its construction, and of its current state.
struct client_stats
{
    std::uint64_t held = 0;     ///< Leases held now.
    std::uint64_t waiting = 0;  ///< Operations that wait for a lock now.
    std::uint64_t acquired = 0; ///< Leases granted, including handoffs.
    std::uint64_t handed_off =
        0;                      ///< Of `acquired`: local handoffs, without a request to the store.
    std::uint64_t released = 0; ///< Leases released or detached.
    std::uint64_t lost = 0;     ///< Leases lost.
    std::uint64_t renewed = 0;  ///< Renewals confirmed.
    std::uint64_t renewals_failed = 0; ///< Renewals that were not confirmed and are retried.
    std::uint64_t acquires_sent = 0;   ///< Acquire requests to the store.
    std::uint64_t releases_sent = 0;   ///< Release requests to the store, repetitions included.
    std::uint64_t orphans = 0;         ///< Orphaned locks that the client releases now.
    std::uint64_t watched = 0;         ///< Names subscribed to now.
    std::uint64_t connects = 0;        ///< Connections made.
    std::uint64_t disconnects = 0;     ///< Connections lost.
};

/// The locks of one deployment, for one process: the connection, the watchdog, the local queues. It
/// owns no thread.
///
/// @par Lifetime
/// Operations share ownership of the state that they need: the client may be destroyed first, and
/// so may the context of its executor. The destructor does what `cancel` does. After a `fork`, the
/// child's copy has no valid lease and sends nothing. An operation that is started after the
/// `fork`, or after the end of the context, never completes: its handler is destroyed.
/// @par Threads
/// All functions may be called from any thread.
/// @par The watchdog's thread
/// The leases are renewed on a strand over the client's executor. The strand runs no code of the
/// program except the `observer` and the `store`, but it needs a thread of that executor. If the
/// program may block all of them for a third of the shortest lease time, use a separate context:
/// @code
/// asio::io_context renewals;
/// leasehold::client locks(renewals, "redis://127.0.0.1");
/// locks.async_run(asio::detached);
/// std::jthread watchdog([&] { renewals.run(); });
/// @endcode
/// Coroutines run where they were spawned. `asio::bind_executor` sets the executor of a handler.
/// Other handlers run on the client's executor.
/// @par Memory
/// If an initiating call throws `std::bad_alloc`, the operation has not begun. A release still
/// takes place, without its handler. If an allocation fails on the strand, the exception leaves the
/// context's `run` and ends the client. Its leases and waiters then complete with
/// `errc::shut_down`, or their handlers are destroyed if memory is still short. Locks in the store
/// expire. If Asio's own strand fails to allocate, the process terminates or the strand stops.
/// Leases then expire silently.
class client
{
public:
    /// Constructs a client of the store that the URL names.
    /// @param executor The client runs its own strand on this executor.
    /// @param url      The URL of the store: see `make_store`.
    /// @param observer Receives the events of the client. The default writes problems to standard
    ///     error. Null: nothing is written. To add an observer and keep these messages, use
    ///     `observer_group`.
    /// @throws boost::system::system_error As `make_store`.
    LEASEHOLD_EXPORT client(asio::any_io_executor executor, std::string_view url,
                            std::shared_ptr<observer> observer = log_to_stderr());

    /// Constructs a client of a store, for example the result of `make_redis_store`. A store serves
    /// one client.
    /// @throws boost::system::system_error `errc::invalid_option` if `store` is null.
    LEASEHOLD_EXPORT client(asio::any_io_executor executor, std::shared_ptr<store> store,
                            std::shared_ptr<observer> observer = log_to_stderr());

    /// Constructs a client on the executor of a context: `client(io_context, …)`.
    template <class Context, class Where>
        requires std::convertible_to<Context&, asio::execution_context&>
    client(Context& context, Where&& where, std::shared_ptr<observer> watching = log_to_stderr())
        : client(asio::any_io_executor(context.get_executor()), std::forward<Where>(where),
                 std::move(watching))
    {}

    client(const client&) = delete;
    client& operator=(const client&) = delete;
    LEASEHOLD_EXPORT ~client();

    /// Connects, and reconnects until the client is shut down or cancelled. Must be outstanding
    /// while locks are used.
    ///
    /// @return What `token` determines. `co_await` with the default token returns nothing.
    /// @par Signature
    /// `void(error_code)`
    /// @par Errors
    ///  - success: `async_shutdown` has completed its work.
    ///  - `asio::error::operation_aborted`: cancelled by `cancel`, the slot, or the destructor.
    ///  - `errc::already_running`: it was called before. A client runs once.
    ///  - `errc::shut_down`: the client was shut down or cancelled before, or an exception on the
    ///    strand ended it.
    /// @par Cancellation
    /// All types, at any time: as `cancel`.
    /// @par Completion
    /// Never inside this call, on the handler's associated executor (default: `get_executor()`). No
    /// request is outstanding after it.
    template <class Token = asio::deferred_t>
    auto async_run(Token&& token = Token())
    {
        return detail::initiate<void(error_code), &detail::start_run>(state_,
                                                                      std::forward<Token>(token));
    }

    /// Shuts down in order: waiters and holders are notified with `errc::shut_down`, every lease is
    /// released in the store, then `async_run` completes. If the store does not answer for about
    /// five seconds, the remaining locks expire. A lease that is granted but not yet delivered is
    /// also released: it arrives, and is not valid.
    ///
    /// @return What `token` determines. `co_await` with the default token returns nothing.
    /// @par Signature
    /// `void(error_code)`
    /// @par Errors
    ///  - success: everything was released; at a quorum, at `quorum` of its members. The shutdown
    ///    waits for the other members that can be reached, for an eighth of the lease time and at
    ///    most a second. If a member does not answer, its lock expires.
    ///  - `errc::store_unavailable`: not everything could be released.
    ///  - `errc::outcome_unknown`: everything was released, but an acquire without a reply may
    ///    still be executed. Its lock is then free after its lease time.
    ///  - `asio::error::operation_aborted`: cancelled.
    /// @par Cancellation
    /// All types. They end only the wait: the shutdown continues.
    /// @par Completion
    /// Never inside this call, on the handler's associated executor (default: `get_executor()`).
    /// Any number of shutdowns may be outstanding, and each gets the result. On a client that never
    /// ran it completes at once.
    template <class Token = asio::deferred_t>
    auto async_shutdown(Token&& token = Token())
    {
        return detail::initiate<void(error_code), &detail::start_shutdown>(
            state_, std::forward<Token>(token));
    }

    /// Shuts down as `async_shutdown` does, but waits for the store at most one second. `async_run`
    /// completes with `operation_aborted`.
    LEASEHOLD_EXPORT void cancel() noexcept;

    /// The id that identifies this client as a holder, in diagnostics of all processes: eight
    /// hexadecimal digits. It does not permit reentrant acquisition. Write it to the log when a
    /// process starts.
    [[nodiscard]] LEASEHOLD_EXPORT std::string id() const;

    /// Returns the counts. Each member is exact; members may be from different moments.
    [[nodiscard]] LEASEHOLD_EXPORT client_stats stats() const noexcept;

    /// The executor of handlers that have none of their own: a strand over the client's executor. A
    /// handler that blocks there delays other such handlers, but no renewal.
    [[nodiscard]] LEASEHOLD_EXPORT asio::any_io_executor get_executor() const noexcept;

private:
    friend struct detail::access;
    explicit client(detail::client_state_ptr state) noexcept : state_(std::move(state)) {}

    detail::client_state_ptr state_;
};

} // namespace leasehold

#endif
