#ifndef LEASEHOLD_STORE_HPP
#define LEASEHOLD_STORE_HPP

#include <leasehold/client_info.hpp>
#include <leasehold/detail/export.hpp>
#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold {

namespace asio = boost::asio;

/// The number of owners that may hold one name at a time.
enum class lock_mode : std::uint8_t
{
    exclusive, ///< One owner.
    shared,    ///< Any number of owners of this mode, or one exclusive owner.
    permits,   ///< Owners that together have at most `capacity` permits.
};

/// Requests a lock. The views are valid during the call only.
struct acquire_request
{
    std::string_view name;  ///< The name of the lock.
    std::string_view owner; ///< A new id for each acquisition. Not empty.
    std::string_view entry; ///< Empty: acquire the lock. Else the id of this reentrant acquisition.
    std::chrono::milliseconds lease;  ///< The requested TTL; > 0.
    std::uint32_t fences = 1;         ///< Fences to reserve, >= 1; the store may reserve fewer.
    std::chrono::milliseconds budget; ///< Time from the call after which the caller gives up; the
                                      ///< store must not grant later.

    lock_mode mode = lock_mode::exclusive; ///< A mode that `store_traits` names.
    std::uint32_t permits = 1;             ///< Requested permits; mode `permits` only.
    std::uint32_t capacity = 1; ///< Permits of the name; the same in all requests; mode `permits`.
    std::uint64_t fence_floor = 0; ///< Lower bound: granted fences are larger than this.
    /// Replicas that must confirm the grant; needs `store_traits::replica_acks`.
    std::uint32_t replica_acks = 0;
    std::chrono::milliseconds replica_timeout{}; ///< Maximum wait for the replicas; > 0.
    bool needs_holder = false;                   ///< `held` needs details that name the holder.

    /// The rest needs `store_traits::queues`. A request of this owner may have been executed: find
    /// its effect and extend it.
    bool again = false;
    /// If another owner holds the lock or has the grant, the owner joins the queue of the name, or
    /// refreshes its presence. The same request, sent again, is also the poll of a waiter, and the
    /// confirmation of a grant.
    bool waits = false;
    std::chrono::milliseconds presence{}; ///< With `waits`: time of presence in the queue.
    std::chrono::milliseconds claim{};    ///< With `waits`: time for which the lock is reserved for
                                          ///< the owner after a grant, until it confirms.

    /// If not zero: the owner gives up the lock when no heartbeat of its client was confirmed for
    /// this time. A waiter may then supersede it. The request itself is a heartbeat. Not for
    /// reentrant acquisitions; needs `store_traits::dead_holder_grace`.
    std::chrono::milliseconds dead_holder_grace{};
};

/// The reply to an `acquire_request`.
struct acquire_reply
{
    /// The result.
    enum class outcome : std::uint8_t
    {
        granted, ///< The owner holds the lock. `first_fence` and `fences` are set, except for a
                 ///< reentrant acquisition.
        held,    ///< Another owner holds it, for `remaining` unless renewed; negative if it never
                 ///< expires or this is unknown.
        late,    ///< The request arrived after its budget; nothing was changed.
        gone,    ///< No reentrant acquisition: the owner does not hold the lock.
    };
    outcome result = outcome::held; ///< The result.
    std::uint32_t fences = 0;       ///< Granted: the number of reserved fences.
    std::uint64_t first_fence = 0;  ///< Granted: the smallest of them.
    /// Granted: the TTL from the sending of the request, if it is shorter than requested. Not
    /// positive: it has ended already.
    std::optional<std::chrono::milliseconds> lease{};
    std::chrono::milliseconds remaining{}; ///< Held: the remaining TTL of the holder.
    bool queued = false;                   ///< With `held`: the owner is in the queue.
    std::uint32_t position = 0;            ///< In the queue: the number of owners before it.
    /// In the queue: this client may miss the wake-up of its grant, because the holder does not
    /// know the queue or the client has no subscription.
    bool may_miss_grant = false;
    /// In the queue, and `may_miss_grant`: the holder's release is published to clients that watch
    /// the name. Needs `store_traits::publishes`.
    bool published = false;
    /// With `granted`: the store has registered `dead_holder_grace`, and the client must keep it.
    /// With `held`: the holder has it, and `remaining` is the rest of its grace.
    bool grace_registered = false;
    bool may_hold = false; ///< With any error: the owner may hold the lock and releases it.
    /// With an error: its details. With `held`: the holder as `holder_name` writes it, if
    /// requested. May be null; never set with a grant, so that a grant costs nothing.
    std::shared_ptr<const diagnostics> details{};
};

/// A lock to renew: its TTL becomes the larger of the rest and `lease`.
struct renewal
{
    std::string_view name;                       ///< The name of the lock.
    std::string_view owner;                      ///< The holder.
    std::chrono::milliseconds lease;             ///< The minimum TTL from now on; > 0.
    std::string_view entry = {};                 ///< As in the acquire.
    std::uint32_t replica_acks = 0;              ///< As in the acquire; applies to this renewal.
    std::chrono::milliseconds replica_timeout{}; ///< Maximum wait for the replicas; > 0.
};

/// The result of one renewal.
enum class renewal_result : std::uint8_t
{
    gone, ///< The owner, or this entry, does not hold the lock: no key, another owner, or the store
          ///< lost the entry. Nothing was created.
    renewed,     ///< The TTL is at least the lease time, counted from the sending of the request.
    failed,      ///< Not executed; nothing is known.
    unconfirmed, ///< Executed, but fewer replicas than requested have confirmed it.
};

/// The reply to a batch of renewals.
struct renew_reply
{
    /// No results: for an error.
    renew_reply() = default;
    /// One result for each renewal, in their order.
    renew_reply(std::vector<renewal_result> each, std::shared_ptr<const diagnostics> known = {})
        : results(std::move(each)), details(std::move(known))
    {}

    std::vector<renewal_result> results; ///< In the order of the renewals.
    /// As in `acquire_reply`, from the sending of the batch, for each lock that was renewed.
    std::optional<std::chrono::milliseconds> lease;
    /// As in `acquire_reply`; also for renewals that failed while others were executed.
    std::shared_ptr<const diagnostics> details;
};

/// Releases a lock. The views are valid during the call only.
struct release_request
{
    std::string_view name;  ///< The name of the lock.
    std::string_view owner; ///< The owner that releases.
    std::string_view entry; ///< As in the acquire.
    /// The registered grace, if any. Optional: it may only make the release cheaper.
    std::chrono::milliseconds dead_holder_grace{};

    /// An acquire that waits, under another owner. It takes effect in the same step if the lock was
    /// released. Null: none. Needs `store_traits::queues`. Not reentrant, without `replica_acks`
    /// and `dead_holder_grace`.
    const acquire_request* next = nullptr;

    /// Time for which the lock is left free for external clients before the grant to the first
    /// owner in the queue; at most a second. Queued owners then see it as held for this time. Needs
    /// `store_traits::queues`. A store without external clients ignores it.
    std::chrono::milliseconds external_time{};
};

/// The reply to a `release_request`.
struct release_reply
{
    /// The result.
    enum class outcome : std::uint8_t
    {
        freed,        ///< No other owner has the grant; clients that watch the name were notified.
        granted_next, ///< The first owner in the queue has the grant, or gets it after
                      ///< `external_time`, and was notified.
        still_held,   ///< Released, but other entries of the same owner still hold the lock.
        left_queue,   ///< The owner did not hold the lock, and was removed from the queue.
        not_owner,    ///< The owner, or this entry, does not hold the lock. Nothing was changed.
    };
    outcome result = outcome::not_owner; ///< The result.
    /// The result of `release_request::next`: `granted`, or `held` and in the queue. Empty if it
    /// was late or the lock was not released: the store then does not know that owner.
    std::optional<acquire_reply> next{};
    std::uint64_t receivers = 0; ///< When freed: the notified watchers, in all processes.
    /// False if there may be waiters that cannot be notified or counted: the user may not publish
    /// or subscribe, or the store was made without wake-ups.
    bool receivers_known = true;
    std::shared_ptr<const diagnostics> details{}; ///< As in `acquire_reply`.
};

/// A unit of reachability: a server, a shard. A store with one server has one, 0.
using store_partition = std::uint32_t;

/// The features of a store. Constant during its life; the client adapts to them.
struct store_traits
{
    /// The source of fences, and the failure that breaks their order.
    enum class fence_source : std::uint8_t
    {
        counter_over_clock, ///< A counter with the store's clock as its floor: a loss of data
                            ///< together with a clock that stepped back.
        counter,            ///< A counter: a loss of data.
        quorum,             ///< A vote of members: a loss of data at too many of them.
        revision, ///< The store's own number of each change: a loss of data. Fences cannot be
                  ///< raised, so an acquire with a larger `fence_floor` fails: `store_refused`.
    };

    bool publishes = true; ///< A release notifies the clients that watch the name. Otherwise the
                           ///< client polls with the backoff of the options.
    bool queues = false;   ///< Has a queue for each name, for `acquire_request::waits`. A release
                           ///< grants the lock to the first owner, and notifies only that one.
    bool rejects_late = true; ///< Rejects an acquire that arrives after its budget. Otherwise it
                              ///< may be executed until the end of its connection is confirmed, and
                              ///< the client releases it again a lease time later.
    bool shared = false;      ///< Supports the mode `shared`.
    bool permits = false;     ///< Supports the mode `permits`.
    bool describes_holders = false; ///< Has `async_describe`.
    bool replica_acks = false;      ///< Supports `acquire_request::replica_acks`.
    /// Supports `acquire_request::dead_holder_grace`, and has `async_heartbeat`.
    bool dead_holder_grace = false;
    /// The locks of a client, and its positions in queues, end with one session, whatever their
    /// TTLs. A renewal renews the session. `presence` and `claim` are ignored. The client releases
    /// a lock whose lease has ended, because the store does not.
    bool session = false;
    std::size_t longest_name = 4096; ///< In bytes. Longer ones are rejected: `invalid_name`.
    std::chrono::milliseconds smallest_lease{1}; ///< Shorter ones are rejected: `not_supported`.
    std::chrono::milliseconds grain{1};          ///< TTLs are rounded up to this.
    fence_source fences = fence_source::counter_over_clock; ///< The source of fences.
};

/// Receives the notifications of a store. Called on the strand that was given to `store::open`,
/// never inside a call into the store.
class LEASEHOLD_EXPORT store_listener
{
public:
    /// The name may be free: a release was published, or the watch has begun (again) and may have
    /// missed one. It is only a reason to poll: it may be lost, duplicated, late or wrong.
    virtual void on_wakeup(std::string_view name) = 0;

    /// A queued owner of this client may have the grant. It is only a reason to send its acquire
    /// again: it may be lost, duplicated, late or wrong. From stores that queue.
    virtual void on_grant(std::string_view name, std::string_view owner)
    {
        static_cast<void>(name);
        static_cast<void>(owner);
    }

    /// The owner does not hold the name, nor is it in its queue, any more: another program has
    /// removed it, or its session ended. A fact, unlike a wake-up: its lease is lost.
    virtual void on_gone(std::string_view name, std::string_view owner)
    {
        static_cast<void>(name);
        static_cast<void>(owner);
    }

    /// The subscription to grants in this partition has begun or was interrupted. This client may
    /// have missed a grant, and have been absent from a queue; its queued owners poll. Called by
    /// stores that queue: at the latest some time after the first owner has joined a queue, and
    /// after each interruption.
    virtual void on_listening(store_partition partition) { static_cast<void>(partition); }

    /// Called before `on_connected` if known: each earlier request to the partition without a reply
    /// has been executed or never will be. Used if `store_traits::rejects_late` is false.
    virtual void on_settled(store_partition partition) { static_cast<void>(partition); }

    /// The partition can be reached (again). It may have lost its data.
    virtual void on_connected(store_partition partition) = 0;

    /// The partition cannot be reached; `why` is the reason, if known. May be called again with a
    /// newer reason. Names of other partitions are not affected.
    virtual void on_disconnected(store_partition partition, error_code why) = 0;

    /// Details of an error, for logs only. For a request that a server rejected, it is called
    /// before the handler. For a connection error, it is called before `on_disconnected`.
    virtual void on_error(store_partition partition, error_code code, const diagnostics& details)
    {
        static_cast<void>(partition);
        static_cast<void>(code);
        static_cast<void>(details);
    }

protected:
    ~store_listener() = default;
};

/// The place that keeps the locks. The interface has lock operations, not Redis commands: derive
/// from it to keep locks elsewhere. `testing/store_contract.hpp` tests this contract on any store.
///
/// @par Threads
/// Every function but `traits` is called on one strand. Every handler and listener function must be
/// invoked on it.
/// @par Completion
/// Each handler is invoked exactly once, never inside the initiating call, and also after `close`.
/// There is no time limit, because the client has its own, but a handler must not be kept forever.
/// When the context of the strand ends, handlers are destroyed instead.
/// @par Order
/// Requests for one name over one connection take effect in the order of the calls. A client that
/// releases an abandoned acquire relies on this. Requests for different names have no order.
/// Handlers of one name are invoked in the order of the calls, unless one of them failed.
/// @par Lifetime of arguments
/// Views in requests, and the span of a batch, are valid during the call only. A store that sends
/// later must copy them.
/// @par Exceptions
/// If an initiating function throws `std::bad_alloc`, nothing was sent and the handler is
/// destroyed. No other exception is allowed. A listener function may throw exceptions of user code;
/// the store lets them pass to the strand.
/// @par Errors
/// A handler gets one of these and no other:
///  - `errc::store_unavailable`: the request was not executed and will not be.
///  - `errc::store_refused`: the store did not execute it, and may do so later (busy, loading,
///    read-only, full).
///  - `errc::outcome_unknown`: the request was sent and got no reply. It may have been executed, or
///    may still be.
///  - `errc::not_replicated`, of an acquire: it was granted, and fewer replicas than requested have
///    confirmed that. The caller releases it.
///  - `errc::no_quorum`: too few members of the store executed it. The store itself undoes an
///    acquire at those that did.
///  - `errc::wrong_type`, `errc::permission_denied`, `errc::not_supported`, `errc::invalid_name`,
///    `errc::invalid_option`: not executed, and a retry does not help.
/// @par Atomicity
/// Each request is one atomic step, and idempotent for the same owner and entry. A repeated acquire
/// counts once and never takes another owner's fence. A repeated release counts once, and its
/// `next` joins once.
/// @par The queue
/// A store that queues grants a free lock only to the first present owner in the queue; this also
/// applies to a single try. An owner is present until its presence expires or its client has gone.
/// A granted owner holds the lock for the shorter of its claim and its lease. Its next acquire
/// confirms the grant and starts the whole lease; a renewal does not. A waiter whose presence has
/// expired is skipped and removed from the queue.
class LEASEHOLD_EXPORT store
{
public:
    /// The handler of an acquire.
    using acquire_handler = asio::any_completion_handler<void(error_code, acquire_reply)>;
    /// The handler of a batch of renewals.
    using renew_handler = asio::any_completion_handler<void(error_code, renew_reply)>;
    /// The handler of a release.
    using release_handler = asio::any_completion_handler<void(error_code, release_reply)>;
    /// The handler of the description of a holder.
    using describe_handler = asio::any_completion_handler<void(client_info)>;
    /// The handler of a heartbeat: the error, and whether the store still had an earlier heartbeat
    /// of the client.
    using heartbeat_handler = asio::any_completion_handler<void(error_code, bool)>;
    /// The completion handler of `async_drain`.
    using drain_handler = asio::any_completion_handler<void()>;

    store() = default;
    store(const store&) = delete;
    store& operator=(const store&) = delete;
    virtual ~store() = default;

    /// The features of this store. Callable from any thread, also before `open`.
    [[nodiscard]] virtual store_traits traits() const noexcept { return {}; }

    /// The current partition of the name. It may change while the store is open, when the name
    /// moves to another shard.
    [[nodiscard]] virtual store_partition partition_of(std::string_view name) const noexcept
    {
        static_cast<void>(name);
        return 0;
    }

    /// The address of the partition for logs, without secrets. Empty if there is none. Called on
    /// the strand after an error.
    [[nodiscard]] virtual std::string server_of(store_partition partition) const
    {
        static_cast<void>(partition);
        return {};
    }

    /// Connects, and reconnects after each loss. Called once. `listener` is valid until `close` is
    /// called or the store is destroyed.
    virtual void open(const asio::any_io_executor& strand, store_listener& listener) = 0;

    /// Waits for releases that are not complete at every server. Called before `close`, when each
    /// release has completed. Completes when all reachable servers have released, or after a
    /// second. Returns false, without a call of `handler`, if there are none.
    virtual bool async_drain(drain_handler handler)
    {
        static_cast<void>(handler);
        return false;
    }

    /// Ends everything that `open` started. Outstanding operations complete soon. The listener is
    /// not called any more.
    virtual void close() = 0;

    /// Acquires a lock, once or reentrantly, or joins its queue, depending on the request.
    virtual void async_acquire(const acquire_request& request, acquire_handler handler) = 0;

    /// Renews locks. Returns one result per renewal, in their order. Never creates a lock and never
    /// shortens a TTL. Renewals in an unreachable partition are `failed` and do not delay the
    /// others. The error code is set if none was executed.
    virtual void async_renew(std::span<const renewal> renewals, renew_handler handler) = 0;

    /// Releases a lock or a reentrant acquisition, or leaves the queue.
    virtual void async_release(const release_request& request, release_handler handler) = 0;

    /// Looks up the description of a holder's client. Empty if it was not found. Called only with
    /// `store_traits::describes_holders`.
    /// @param holder As in `acquire_reply::details`.
    virtual void async_describe(std::string_view holder, describe_handler handler)
    {
        static_cast<void>(holder);
        static_cast<void>(handler);
    }

    /// The description of this client. Called on the strand.
    [[nodiscard]] virtual client_info own_info() const { return {}; }

    /// Sends a heartbeat for all leases of a client. Their owners begin with `client` and a colon.
    /// With an error it may have been recorded. The view is valid during the call only. Called only
    /// with `store_traits::dead_holder_grace`.
    virtual void async_heartbeat(std::string_view client, heartbeat_handler handler)
    {
        static_cast<void>(client);
        static_cast<void>(handler);
    }

    /// Calls `store_listener::on_wakeup` for each release of the name by any client, and once when
    /// the watch is in effect. Restored after a reconnect. Idempotent. Without
    /// `store_traits::publishes`, `watch` and `unwatch` do nothing.
    virtual void watch(std::string_view name) = 0;
    /// Ends the watch.
    virtual void unwatch(std::string_view name) = 0;
};

} // namespace leasehold

#endif
