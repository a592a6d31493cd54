#ifndef LEASEHOLD_STORE_HPP
#define LEASEHOLD_STORE_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/error.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace leasehold {

namespace asio = boost::asio;

/// Asks for a lock. The views are valid during the call only.
struct acquire_request
{
    std::string_view name;
    std::string_view owner; ///< Made for this acquisition, never used before. Not empty.
    std::string_view
        entry; ///< Empty: take the lock. Otherwise: enter again, under an id made for this entry.
    std::chrono::milliseconds lease; ///< Time to live asked for; > 0.
    std::uint32_t fences = 1; ///< How many fences to reserve, >= 1; the store may reserve fewer.
    std::chrono::milliseconds
        budget; ///< The caller gives up this long after the call; the store must not grant later.
};

/// What the store said to an `acquire_request`.
struct acquire_reply
{
    enum class outcome : std::uint8_t
    {
        granted, ///< The owner is in. `first_fence` and `fences` are set when the lock was taken
                 ///< (not for entries).
        held, ///< Another owner has it, for `remaining` more unless renewed; negative when it never
              ///< expires.
        late, ///< The request reached the store after its budget; nothing was touched.
        gone, ///< Cannot enter again: the owner is not in.
    };
    outcome result = outcome::held;
    std::uint32_t fences = 0;
    std::uint64_t first_fence = 0;
    std::chrono::milliseconds remaining{};
};

/// One lock to be prolonged: its time to live becomes the larger of what is left and `lease`.
struct renewal
{
    std::string_view name;
    std::string_view owner;
    std::chrono::milliseconds lease;
    std::string_view entry = {}; ///< As in the acquire that is prolonged.
};

enum class renewal_result : std::uint8_t
{
    gone, ///< The owner, or this entry, is not in: there is no key, another has it, or the store
          ///< lost the entry. Nothing was created.
    renewed,
    failed, ///< Not executed; nothing is known.
};

/// Leaves a lock. The views are valid during the call only.
struct release_request
{
    std::string_view name;
    std::string_view owner;
    std::string_view entry; ///< As in the acquire that is undone.
};

struct release_reply
{
    enum class outcome : std::uint8_t
    {
        freed,     ///< Nobody is in any more; those who watch the name were told.
        left,      ///< Left, but other entries of the same owner are still in.
        not_owner, ///< The owner, or this entry, is not in. Nothing was touched.
    };
    outcome result = outcome::not_owner;
    std::uint64_t receivers =
        0; ///< When freed: how many watchers of all processes were told, this client included.
};

/// What a store tells its client. Called on the strand that was given to `store::open`, never
/// inside a call into the store.
class LEASEHOLD_EXPORT store_listener
{
public:
    /// The name may be free: a release was published, or the watch has just begun (again) and one
    /// may have been missed. A hint and no more; it may be lost, doubled, late or untrue.
    virtual void on_hint(std::string_view name) = 0;

    /// The store can be reached (again). Whatever it held may be gone.
    virtual void on_connected() = 0;

    /// The store cannot be reached; `why` says what is known. May be called again with a newer
    /// reason.
    virtual void on_disconnected(error_code why) = 0;

protected:
    ~store_listener() = default;
};

/// Where locks are kept. Speaks in locks, not in Redis: derive from it to keep them elsewhere.
///
/// @par Threads
/// Every function is called on one strand, and every handler and listener function must be invoked
/// on it.
/// @par Completion
/// Each handler is invoked exactly once, never inside the initiating call, and also after `close`.
/// There is no time limit to keep: the client stops waiting by itself; but a handler must not be
/// kept for ever.
/// @par Errors
///  - `errc::store_unavailable`: the request was not executed and will not be.
///  - `errc::store_refused`: the store answered that it did not execute it, and may do so later
///  (busy, loading, read-only, full).
///  - `errc::outcome_unknown`: the request was handed over and the answer never came. It may have
///  run, or still run.
///  - `errc::wrong_type`, `errc::permission_denied`: not executed, and trying again does not help.
/// @par What must be atomic
/// Each request is one atomic step. All are idempotent for the same owner and entry: an acquire
/// that runs twice counts once and takes no second fence that could be mistaken for another's; a
/// release that runs twice leaves once.
class LEASEHOLD_EXPORT store
{
public:
    using acquire_handler = asio::any_completion_handler<void(error_code, acquire_reply)>;
    using renew_handler =
        asio::any_completion_handler<void(error_code, std::vector<renewal_result>)>;
    using release_handler = asio::any_completion_handler<void(error_code, release_reply)>;

    store() = default;
    store(const store&) = delete;
    store& operator=(const store&) = delete;
    virtual ~store() = default;

    /// Starts to connect, and goes on for ever: a lost connection is made again. Called once.
    /// `listener` stays valid until `close` was called or the store was destroyed.
    virtual void open(const asio::any_io_executor& strand, store_listener& listener) = 0;

    /// Ends all that `open` started. What is outstanding completes soon. The listener is not called
    /// any more.
    virtual void close() = 0;

    virtual void async_acquire(const acquire_request& request, acquire_handler handler) = 0;

    /// One result per renewal, in their order. Never creates a lock and never shortens one.
    virtual void async_renew(std::span<const renewal> renewals, renew_handler handler) = 0;

    virtual void async_release(const release_request& request, release_handler handler) = 0;

    /// From now on `store_listener::on_hint` is called when the name is released by anyone, and
    /// once when the watch is in effect. Restored after a reconnect. Watching twice is the same as
    /// once.
    virtual void watch(std::string_view name) = 0;
    virtual void unwatch(std::string_view name) = 0;
};

} // namespace leasehold

#endif
