#ifndef LEASEHOLD_STORE_HPP
#define LEASEHOLD_STORE_HPP

#include <leasehold/client_info.hpp>
#include <leasehold/detail/export.hpp>
#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>

#include <chrono>
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

/// How many may hold one name at a time.
enum class lock_mode : std::uint8_t
{
    exclusive, ///< One owner.
    shared,    ///< Any number of owners of this mode, or one exclusive owner.
    permits,   ///< Owners that together have no more permits than the capacity.
};

/// Asks for a lock. The views are valid during the call only.
struct acquire_request
{
    std::string_view name;  ///< The name of the lock.
    std::string_view owner; ///< Made for this acquisition, never used before. Not empty.
    std::string_view entry; ///< Empty: take the lock. Otherwise a re-entry: the id made for it.
    std::chrono::milliseconds lease;  ///< Time to live asked for; > 0.
    std::uint32_t fences = 1;         ///< Fences to reserve, >= 1; the store may reserve fewer.
    std::chrono::milliseconds budget; ///< The caller gives up this long after the call; the store
                                      ///< must not grant later.

    lock_mode mode = lock_mode::exclusive; ///< One that `store_traits` names.
    std::uint32_t permits = 1;             ///< Asked for; mode `permits` only.
    std::uint32_t capacity = 1; ///< Permits of the name; the same in all requests; mode `permits`.
    std::uint64_t fence_floor = 0; ///< The fences granted are larger than this.
    /// Replicas that have to confirm the grant; needs `store_traits::replica_acks`.
    std::uint32_t replica_acks = 0;
    std::chrono::milliseconds replica_timeout{}; ///< How long they have for it; > 0.
    bool asks_holder = false; ///< `held` is to come with details that name the holder, if it can be
                              ///< had.

    /// The rest needs `store_traits::queues`.
    /// A request of this owner may have run before: what it did is to be found and prolonged.
    bool again = false;
    /// When another holds the lock, or has its turn, the owner joins the line of the name, or says
    /// that it is still there. So the same request, sent again, is also the look of one who waits,
    /// and how one that was told of its turn takes the lock.
    bool waits = false;
    std::chrono::milliseconds presence{}; ///< With `waits`: counts as there for so long.
    std::chrono::milliseconds claim{};    ///< With `waits`: how long the lock is kept for it, once
                                          ///< it has its turn, until it has taken it.

    /// Not zero: the owner promises that it does not count on the lock any more when no sign of
    /// life of its client was confirmed for so long; whoever waits may then supersede it. The
    /// request is a sign of life itself. Not of re-entries; needs
    /// `store_traits::dead_holder_grace`.
    std::chrono::milliseconds dead_holder_grace{};
};

/// What the store said to an `acquire_request`.
struct acquire_reply
{
    /// What came of it.
    enum class outcome : std::uint8_t
    {
        granted, ///< The owner holds the lock. `first_fence` and `fences` are set when the lock was
                 ///< taken (not for re-entries).
        held,    ///< Another owner holds it, for `remaining` more unless renewed; negative when it
                 ///< never expires, or that is not known.
        late,    ///< The request reached the store after its budget; nothing was touched.
        gone,    ///< No re-entry: the owner does not hold the lock.
    };
    outcome result = outcome::held;        ///< What came of it.
    std::uint32_t fences = 0;              ///< Granted: how many fences were reserved.
    std::uint64_t first_fence = 0;         ///< Granted: the smallest of them.
    std::chrono::milliseconds remaining{}; ///< Held: the time to live that is left to its holder.
    bool in_line = false;                  ///< With `held`: the owner is in line.
    std::uint32_t place = 0;               ///< In line: how many are before it.
    bool untold = false; ///< In line: this client may not be told of its turn, because the holder
                         ///< does not know the line, or the client does not listen.
    bool announced = false; ///< In line, and `untold`: the holder's release is told to those who
                            ///< watch the name. Needs `store_traits::announces`.
    /// With `granted`: the store knows of the promise of `dead_holder_grace`, which is to be kept.
    /// With `held`: the holder has made it, and `remaining` says how long it may be silent yet.
    bool promised = false;
    bool may_hold = false; ///< With an error, whichever: the owner may have the lock all the same,
                           ///< and gives it back.
    /// With an error: what is known of it. With `held`: the holder, as `holder_name` writes it,
    /// when that was asked for. May be null; never set with a grant, which costs nothing.
    std::shared_ptr<const diagnostics> details{};
};

/// One lock to be prolonged: its time to live becomes the larger of what is left and `lease`.
struct renewal
{
    std::string_view name;                       ///< The name of the lock.
    std::string_view owner;                      ///< Who holds it.
    std::chrono::milliseconds lease;             ///< Time to live from now on, at least; > 0.
    std::string_view entry = {};                 ///< As in the acquire that is prolonged.
    std::uint32_t replica_acks = 0;              ///< As in the acquire, and so is this.
    std::chrono::milliseconds replica_timeout{}; ///< How long they have for it; > 0.
};

/// What the store said to one renewal.
enum class renewal_result : std::uint8_t
{
    gone,    ///< The owner, or this entry, does not hold the lock: there is no key, another owner
             ///< has it, or the store lost the entry. Nothing was created.
    renewed, ///< It lives for the lease time from the sending of the request, or longer.
    failed,  ///< Not executed; nothing is known.
    unconfirmed, ///< It lives, but fewer replicas have confirmed that than were asked for.
};

/// What the store said to renewals.
struct renew_reply
{
    /// No results: for an error.
    renew_reply() = default;
    /// One result for each renewal, in their order.
    renew_reply(std::vector<renewal_result> each, std::shared_ptr<const diagnostics> known = {})
        : results(std::move(each)), details(std::move(known))
    {}

    std::vector<renewal_result> results; ///< In the order of the renewals.
    /// As in `acquire_reply`; also of those that failed while others were executed.
    std::shared_ptr<const diagnostics> details;
};

/// Leaves a lock. The views are valid during the call only.
struct release_request
{
    std::string_view name;                         ///< The name of the lock.
    std::string_view owner;                        ///< Who leaves it.
    std::string_view entry;                        ///< As in the acquire that is undone.
    std::chrono::milliseconds dead_holder_grace{}; ///< Where it was promised. It is a hint.

    /// An acquire that waits, under another owner, and takes effect in the same step when the lock
    /// was left. Null: none. Needs `store_traits::queues`; no re-entry, no `replica_acks`
    /// and no `dead_holder_grace`.
    const acquire_request* next = nullptr;

    /// How long the lock is left free for those who do not know the line, before the first in line
    /// has its turn; at most a second. Those in line are told meanwhile that it is held for so
    /// long. Needs `store_traits::queues`; a store that nobody else can reach does without.
    std::chrono::milliseconds foreign_turn{};
};

/// What the store said to a `release_request`.
struct release_reply
{
    /// What came of it.
    enum class outcome : std::uint8_t
    {
        freed,     ///< Nobody else has its turn; those who watch the name were told.
        passed_on, ///< The first in line has its turn, or has it after the foreign turn, and was
                   ///< told.
        left,      ///< Left, but other entries of the same owner still hold it.
        left_line, ///< The owner did not hold it but was in line, and is not any more.
        not_owner, ///< The owner, or this entry, does not hold it. Nothing was touched.
    };
    outcome result = outcome::not_owner; ///< What came of it.
    /// What became of `release_request::next`: `granted`, or `held` and in line. Nothing, when it
    /// came too late or the lock was not left: that owner is unknown to the store.
    std::optional<acquire_reply> next{};
    std::uint64_t receivers = 0; ///< When freed: how many watchers of all processes were told, this
                                 ///< client included.
    /// False when others may wait that cannot be told or counted: this user may not publish, or may
    /// not subscribe and so others of it neither, or the store was made without wake-ups.
    bool receivers_known = true;
    std::shared_ptr<const diagnostics> details{}; ///< As in `acquire_reply`.
};

/// What can be reached or not as a whole: a server, a shard. A store with one server has one, 0.
using store_partition = std::uint32_t;

/// What a store can do. The same for as long as it lives; the client adapts to it.
struct store_traits
{
    /// Where fences come from, and so what takes them back.
    enum class fence_source : std::uint8_t
    {
        counter_over_clock, ///< A counter with the store's clock as its floor: only a loss of data
                            ///< together with a clock that stepped back.
        counter,            ///< A counter: a loss of data.
        quorum,             ///< A vote of members: the loss of data of too many of them.
    };

    bool announces = true; ///< Tells those who watch a name of its releases. Otherwise the client
                           ///< looks by itself, with the backoff of the options.
    bool queues = false;   ///< Keeps a line for each name: honours `acquire_request::waits`, gives
                           ///< a lock that is left to the first in line, and tells that one alone.
    bool refuses_late = true; ///< Refuses an acquire that reaches it after its budget. Otherwise
                              ///< such an acquire may still run until its connection's end was
                              ///< confirmed, and the client releases it again a lease time later.
    bool shared = false;      ///< Mode `shared`.
    bool permits = false;     ///< Mode `permits`.
    bool describes_holders = false; ///< Has `async_describe`.
    bool replica_acks = false;      ///< Honours `acquire_request::replica_acks`.
    /// Honours `acquire_request::dead_holder_grace`, and has `async_alive`.
    bool dead_holder_grace = false;
    std::chrono::milliseconds smallest_lease{1}; ///< Shorter ones are refused, `not_supported`.
    std::chrono::milliseconds grain{1};          ///< Times to live are rounded up to this.
    fence_source fences = fence_source::counter_over_clock; ///< Where fences come from.
};

/// What a store tells its client. Called on the strand that was given to `store::open`, never
/// inside a call into the store.
class LEASEHOLD_EXPORT store_listener
{
public:
    /// The name may be free: a release was published, or the watch has just begun (again) and one
    /// may have been missed. No more than a reason to look: it may be lost, doubled, late or
    /// untrue.
    virtual void on_hint(std::string_view name) = 0;

    /// An owner of this client that is in line may have its turn. No more than a reason to send its
    /// acquire again: it may be lost, doubled, late or untrue. From stores that queue.
    virtual void on_turn(std::string_view name, std::string_view owner)
    {
        static_cast<void>(name);
        static_cast<void>(owner);
    }

    /// This client is told of turns from now on, of the names there that it waits for, or is found
    /// not to be any more; it may have missed one before, and counted as absent. Those in line
    /// look. From stores that queue: at the latest some time after the first owner has joined a
    /// line, and after each interruption.
    virtual void on_listening(store_partition partition) { static_cast<void>(partition); }

    /// Called before `on_connected` where it is known: what was asked of the partition before, and
    /// was not answered, has run or never will. Of interest where `store_traits::refuses_late` is
    /// false.
    virtual void on_settled(store_partition partition) { static_cast<void>(partition); }

    /// The partition can be reached (again). Whatever it held may be gone.
    virtual void on_connected(store_partition partition) = 0;

    /// The partition cannot be reached; `why` says what is known. May be called again with a newer
    /// reason. Names of other partitions are not affected.
    virtual void on_disconnected(store_partition partition, error_code why) = 0;

    /// What is known of an error: of a request that a server refused, before its handler is called,
    /// and of a reason, before `on_disconnected` is called with it. For logs; nothing depends on
    /// it.
    virtual void on_error(store_partition partition, error_code code, const diagnostics& details)
    {
        static_cast<void>(partition);
        static_cast<void>(code);
        static_cast<void>(details);
    }

protected:
    ~store_listener() = default;
};

/// Where locks are kept. Speaks in locks, not in Redis: derive from it to keep them elsewhere.
/// `testing/store_contract.hpp` holds what is said here as tests that run on any store.
///
/// @par Threads
/// Every function but `traits` is called on one strand, and every handler and listener function
/// must be invoked on it.
/// @par Completion
/// Each handler is invoked exactly once, never inside the initiating call, and also after `close`.
/// There is no time limit to keep: the client stops waiting by itself; but a handler must not be
/// kept for ever. When the context of the strand ends, handlers are destroyed instead.
/// @par Order
/// Requests for one name over one connection take effect in the order of the calls; a client that
/// releases what it gave up on relies on it. Requests for different names have no order. Handlers
/// of one name are invoked in the order of the calls, unless one of them failed.
/// @par Lifetime of arguments
/// Views in requests, and the span of a batch, are valid during the call only: a store that sends
/// later copies what it needs.
/// @par Exceptions
/// The initiating functions may throw `std::bad_alloc` and then have not begun: nothing was sent
/// and the handler is destroyed. They throw nothing else. A listener function may throw what user
/// code throws; the store lets it pass to the strand.
/// @par Errors
/// A handler is called with one of these and no other:
///  - `errc::store_unavailable`: the request was not executed and will not be.
///  - `errc::store_refused`: the store answered that it did not execute it, and may do so later
///    (busy, loading, read-only, full).
///  - `errc::outcome_unknown`: the request was handed over and the answer never came. It may have
///    run, or still run.
///  - `errc::not_replicated`, of an acquire: it was granted, and fewer replicas have confirmed that
///    than were asked for, or none could be asked. The caller gives it back.
///  - `errc::no_quorum`: too few of the members that the store is made of executed it. What some
///    did of an acquire, the store takes back itself.
///  - `errc::wrong_type`, `errc::permission_denied`, `errc::not_supported`, `errc::invalid_name`,
///    `errc::invalid_option`: not executed, and trying again does not help.
/// @par What must be atomic
/// Each request is one atomic step. All are idempotent for the same owner and entry: an acquire
/// that runs twice counts once and takes no second fence that could be mistaken for another's; a
/// release that runs twice leaves once, and what it carries joins once.
/// @par The line
/// A store that queues gives a lock that is free to the first in line that is there, and to nobody
/// else, whoever asks, a try included; an owner is there until its presence is over or its client
/// has gone. Who has its turn holds the lock from then on, for the shorter of its claim and its
/// lease; its next acquire confirms that and makes it a whole lease. Only an acquire does, never a
/// renewal. Who is not there when its turn comes has lost its place.
class LEASEHOLD_EXPORT store
{
public:
    /// What is called with the answer to an acquire.
    using acquire_handler = asio::any_completion_handler<void(error_code, acquire_reply)>;
    /// What is called with the answer to renewals.
    using renew_handler = asio::any_completion_handler<void(error_code, renew_reply)>;
    /// What is called with the answer to a release.
    using release_handler = asio::any_completion_handler<void(error_code, release_reply)>;
    /// What is called with what a holder says of itself.
    using describe_handler = asio::any_completion_handler<void(client_info)>;
    /// What is called when a sign of life was recorded, or was not: with the error, and true when
    /// the store still knew of an earlier one.
    using alive_handler = asio::any_completion_handler<void(error_code, bool)>;
    /// The completion handler of `async_drain`.
    using drain_handler = asio::any_completion_handler<void()>;

    store() = default;
    store(const store&) = delete;
    store& operator=(const store&) = delete;
    virtual ~store() = default;

    /// What this store can do. From any thread, also before `open`.
    [[nodiscard]] virtual store_traits traits() const noexcept { return {}; }

    /// The partition that the name is in now. It may change while the store is open, when a name
    /// moves from one shard to another.
    [[nodiscard]] virtual store_partition partition_of(std::string_view name) const noexcept
    {
        static_cast<void>(name);
        return 0;
    }

    /// Where the partition is, as a log should name it: an address, a socket. Without secrets;
    /// empty where there is nothing to say. Called on the strand, when something has gone wrong.
    [[nodiscard]] virtual std::string server_of(store_partition partition) const
    {
        static_cast<void>(partition);
        return {};
    }

    /// Starts to connect, and goes on for ever: a lost connection is made again. Called once.
    /// `listener` stays valid until `close` was called or the store was destroyed.
    virtual void open(const asio::any_io_executor& strand, store_listener& listener) = 0;

    /// Waits for releases that are not complete at every server. The client calls it before
    /// `close`, when each release has completed. It completes when all servers that can be reached
    /// have released, or after a second. Returns false, without a call of `handler`, if there are
    /// none.
    virtual bool async_drain(drain_handler handler)
    {
        static_cast<void>(handler);
        return false;
    }

    /// Ends all that `open` started. What is outstanding completes soon. The listener is not called
    /// any more.
    virtual void close() = 0;

    /// Takes a lock, re-enters it, or joins its line, as the request says.
    virtual void async_acquire(const acquire_request& request, acquire_handler handler) = 0;

    /// One result per renewal, in their order. Never creates a lock and never shortens one. Those
    /// of a partition that cannot be reached are `failed` and do not delay the others; the error
    /// code is set when none was executed.
    virtual void async_renew(std::span<const renewal> renewals, renew_handler handler) = 0;

    /// Leaves a lock, a re-entry, or the line.
    virtual void async_release(const release_request& request, release_handler handler) = 0;

    /// What the client says of itself that holds a lock, for people. Empty: nothing, or it could
    /// not be found out. Called only with `store_traits::describes_holders`.
    /// @param holder As `acquire_reply::details` has named it.
    virtual void async_describe(std::string_view holder, describe_handler handler)
    {
        static_cast<void>(holder);
        static_cast<void>(handler);
    }

    /// What this client says of itself. Called on the strand.
    [[nodiscard]] virtual client_info own_info() const { return {}; }

    /// A sign of life of the client whose owners begin with `client` and a colon, for all that it
    /// has promised. With an error it may have been recorded or not. The view is valid during the
    /// call only. Not called without `store_traits::dead_holder_grace`.
    virtual void async_alive(std::string_view client, alive_handler handler)
    {
        static_cast<void>(client);
        static_cast<void>(handler);
    }

    /// From now on `store_listener::on_hint` is called when the name is released by anyone, and
    /// once when the watch is in effect. Restored after a reconnect. Watching twice is the same as
    /// once. Without `store_traits::announces` these do nothing.
    virtual void watch(std::string_view name) = 0;
    /// Ends that.
    virtual void unwatch(std::string_view name) = 0;
};

} // namespace leasehold

#endif
