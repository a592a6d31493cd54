#ifndef LEASEHOLD_CLIENT_HPP
#define LEASEHOLD_CLIENT_HPP

#include <leasehold/config.hpp>
#include <leasehold/detail/fwd.hpp>
#include <leasehold/detail/initiation.hpp>
#include <leasehold/error.hpp>
#include <leasehold/observer.hpp>
#include <leasehold/store.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace leasehold {

namespace detail {

LEASEHOLD_EXPORT void start_run(bound_handler<void(error_code)>&&, client_state_ptr);
LEASEHOLD_EXPORT void start_shutdown(bound_handler<void(error_code)>&&, client_state_ptr);

} // namespace detail

/// What a client did since it was made, and what it has now. All are counts.
struct client_stats
{
    std::uint64_t held = 0;     ///< Leases held now.
    std::uint64_t waiting = 0;  ///< Operations that wait for a lock now.
    std::uint64_t acquired = 0; ///< Leases granted, handed off ones included.
    std::uint64_t handed_over =
        0; ///< Of `acquired`: handed off locally, without a request to the store.
    std::uint64_t released = 0;        ///< Leases released.
    std::uint64_t lost = 0;            ///< Leases lost.
    std::uint64_t renewed = 0;         ///< Renewals confirmed.
    std::uint64_t renewals_failed = 0; ///< Renewals not confirmed and tried again.
    std::uint64_t acquires_sent = 0;   ///< Acquire requests to the store.
    std::uint64_t releases_sent = 0;   ///< Release requests to the store, repetitions included.
    std::uint64_t orphans = 0;         ///< Locks possibly held for nobody, being given back now.
    std::uint64_t watched = 0;         ///< Names subscribed to now.
    std::uint64_t connects = 0;        ///< Connections made.
    std::uint64_t disconnects = 0;     ///< Connections lost.
};

/// The locks of one deployment, for one process: the connection, the watchdog, the local queues. It
/// owns no thread.
///
/// @par Lifetime
/// Operations share what they need with the client: it may be destroyed while they are outstanding.
/// Its destructor does what `cancel` does. The context of its executor may be destroyed first.
/// After a `fork` the child's copy is dead: no lease of it is valid and it sends nothing. What is
/// started after either never completes: its handler is destroyed.
/// @par Threads
/// All functions may be called from any thread.
/// @par The watchdog's thread
/// Leases are renewed on a strand over the client's executor that runs no code of the program but
/// the `observer` and the `store`. It needs a thread of that executor all the same: where the
/// program's own handlers and coroutines may block every one of them for a third of the shortest
/// lease time, give the client a context of its own,
/// @code
/// asio::io_context renewals;
/// leasehold::client locks(renewals, "redis://127.0.0.1");
/// locks.async_run(asio::detached);
/// std::jthread watchdog([&] { renewals.run(); });
/// @endcode
/// and keep the program on its own: coroutines run where they were spawned, and other handlers
/// where `asio::bind_executor` puts them. What has no executor of its own runs on the client's.
/// @par Memory
/// An operation whose call throws `std::bad_alloc` has not begun; of a release only the handler is
/// lost. When memory fails on the strand, the exception leaves the context's `run` and ends the
/// client: its leases, and all who wait, are told `errc::shut_down` (or their handlers destroyed,
/// when there is no memory for that either), and what the store holds is gone when its time to live
/// has passed. Where Asio's own strand gets no memory it ends the process, or never runs again:
/// then leases end at their deadlines without a word.
class client
{
public:
    /// @param executor Where the client does its work, on a strand of its own.
    /// @param settings The store: a URL, or a `config`.
    /// @param observer Told what happens; may be null.
    /// @throws boost::system::system_error for a URL or a field that is not valid.
    LEASEHOLD_REDIS_EXPORT client(asio::any_io_executor executor, const config& settings,
                                  std::shared_ptr<observer> observer = {});

    /// A client of a store of one's own. A store serves one client.
    /// @throws boost::system::system_error `errc::invalid_option` when `store` is null.
    LEASEHOLD_EXPORT client(asio::any_io_executor executor, std::shared_ptr<store> store,
                            std::shared_ptr<observer> observer = {});

    /// For the executors of contexts: `client(io_context, …)`.
    template <class Context, class Where>
        requires std::convertible_to<Context&, asio::execution_context&>
    client(Context& context, Where&& settings, std::shared_ptr<observer> watching = {})
        : client(asio::any_io_executor(context.get_executor()), std::forward<Where>(settings),
                 std::move(watching))
    {}

    client(const client&) = delete;
    client& operator=(const client&) = delete;
    LEASEHOLD_EXPORT ~client();

    /// Connects, and keeps connected, until the client is shut down or cancelled. Must be
    /// outstanding while locks are used.
    ///
    /// @par Signature
    /// `void(error_code)`
    /// @par Errors
    ///  - success: `async_shutdown` has completed its work.
    ///  - `asio::error::operation_aborted`: cancelled, by `cancel`, the slot, or the destructor.
    ///  - `errc::already_running`: it was called before; a client runs once.
    ///  - `errc::shut_down`: the client was shut down or cancelled before; or an exception on the
    ///    strand ended it.
    /// @par Cancellation
    /// All types, at any time: what `cancel` does.
    /// @par Completion
    /// Never inside this call, on the handler's associated executor (default: `get_executor()`).
    /// After it no request is under way.
    template <class Token = asio::deferred_t>
    auto async_run(Token&& token = Token())
    {
        return detail::initiate<void(error_code), &detail::start_run>(state_,
                                                                      std::forward<Token>(token));
    }

    /// Stops in order: waiters complete with `errc::shut_down`, holders are told `errc::shut_down`,
    /// every lease is released in the store, then `async_run` completes. Gives up when the store
    /// has answered nothing for about 5 s; then the time to live does the rest. A grant that is on
    /// its way to its handler is released too: the lease arrives, and is not valid.
    ///
    /// @par Signature
    /// `void(error_code)`
    /// @par Errors
    ///  - success: everything was released; at a quorum, at `quorum` of its members. The shutdown
    ///    waits for the other members that can be reached, for an eighth of the lease time and at
    ///    most a second. If a member does not answer, its lock expires.
    ///  - `errc::store_unavailable`: not everything could be released.
    ///  - `errc::outcome_unknown`: everything was released, but an acquire that got no answer may
    ///    still run late. Its lock is then free after its lease time.
    ///  - `asio::error::operation_aborted`: cancelled.
    /// @par Cancellation
    /// All types end the wait only: the shutdown goes on.
    /// @par Completion
    /// Never inside this call, on the handler's associated executor (default: `get_executor()`).
    /// Any number of shutdowns may be outstanding; each is told the outcome. On a client that never
    /// ran it completes at once.
    template <class Token = asio::deferred_t>
    auto async_shutdown(Token&& token = Token())
    {
        return detail::initiate<void(error_code), &detail::start_shutdown>(
            state_, std::forward<Token>(token));
    }

    /// Stops at once: as `async_shutdown`, but waits no longer than a second for the store, and
    /// `async_run` completes with `operation_aborted`.
    LEASEHOLD_EXPORT void cancel() noexcept;

    /// What diagnostics, here and in other processes, call the holder when it is this client: eight
    /// hexadecimal digits, with which nobody can enter. For the log that a process begins with.
    [[nodiscard]] LEASEHOLD_EXPORT std::string id() const;

    /// A snapshot; each member is exact, together they need not be.
    [[nodiscard]] LEASEHOLD_EXPORT client_stats stats() const noexcept;

    /// Where handlers run that have no executor of their own: a strand over the client's executor,
    /// one handler at a time. What blocks there holds up other such handlers, and no renewal.
    [[nodiscard]] LEASEHOLD_EXPORT asio::any_io_executor get_executor() const noexcept;

private:
    friend struct detail::access;
    explicit client(detail::client_state_ptr state) noexcept : state_(std::move(state)) {}

    detail::client_state_ptr state_;
};

} // namespace leasehold

#endif
