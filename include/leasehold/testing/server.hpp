#ifndef LEASEHOLD_TESTING_SERVER_HPP
#define LEASEHOLD_TESTING_SERVER_HPP

#include <leasehold/clock.hpp>
#include <leasehold/detail/export.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace leasehold::testing {

class world;

namespace impl {

class scheduler;
class server_state;

} // namespace impl

/// A simulated Redis. It behaves as the scripts of the real one, with its own clock and faults.
/// Made by `world::make_server`.
class LEASEHOLD_TESTING_EXPORT server
{
public:
    /// The type of durations.
    using duration = clock::duration;
    /// The unit of TTLs.
    using milliseconds = std::chrono::milliseconds;

    /// The data that remains after a restart.
    enum class data : std::uint8_t
    {
        kept,             ///< All data.
        lost,             ///< None: no persistence.
        last_second_lost, ///< All but the last second: a write to disk each second, and a power
                          ///< failure.
    };

    /// The reasons why a server does not serve requests.
    enum class trouble : std::uint8_t
    {
        busy,         ///< A long script: `BUSY` to everything.
        loading,      ///< After a start: `LOADING` to requests for data.
        master_down,  ///< A replica without a master: `MASTERDOWN`.
        cluster_down, ///< `CLUSTERDOWN` to requests for data.
        read_only, ///< It is a replica now: `READONLY` to writes over old connections, which also
                   ///< get no wake-ups. New connections reach its master.
        out_of_memory, ///< `OOM` to commands that need memory.
        cannot_save,   ///< Its disk is full: `MISCONF` to writes.
        no_permission, ///< `NOPERM` to everything.
    };

    /// The server product and version that is simulated.
    enum class product : std::uint8_t
    {
        redis_6,   ///< No `SET NX GET`; errors within scripts have other texts.
        redis_7,   ///< The default.
        redis_8_4, ///< Has `DELEX key IFEQ value`.
        valkey_8,  ///< An UNSUBSCRIBE without a subscription is an error.
        valkey_9,  ///< Has `DELIFEQ key value`.
    };

    /// A grant of the server. The order of the calls is the order of possession. For a member of a
    /// quorum it is a vote: without fences if it did not accept the offered ones.
    struct grant
    {
        std::string_view name;     ///< The name of the lock.
        std::string_view owner;    ///< The new holder.
        std::uint64_t first_fence; ///< The smallest fence of this grant.
        std::uint32_t fences;      ///< The number of fences.
        clock::time_point taken;   ///< True time; its fences may be newer.
        bool repeated;             ///< The owner held the lock before.
        bool plain; ///< By plain commands without conditions: the client checks whether the fences
                    ///< are enough.
        bool left_behind; ///< Its client has already sent a request over a newer connection.
        duration age;     ///< The true time that a request with a limit took to arrive.
    };

    /// @cond
    // For the library itself.
    explicit server(std::unique_ptr<impl::server_state> state) noexcept;
    /// @endcond
    ~server();
    server(const server&) = delete;
    server& operator=(const server&) = delete;

    // Faults. Each takes effect at once. A function that destroys data returns the number of
    // destroyed items, 0 if there were none.

    /// Resets all connections and rejects new ones for `down`. Then it returns with the remaining
    /// data.
    std::size_t restart(data what, duration down);

    /// A replica takes over without the writes of the last `lag`. No requests are served for
    /// `down`.
    std::size_t fail_over(duration lag, duration down);

    /// Sets the number of replicas; 0 at first. Writes that they have confirmed (`replica_acks`)
    /// survive `fail_over` with any lag.
    void replicas(std::uint32_t count) noexcept;

    /// `FLUSHALL`: deletes all locks and fences, without a notification.
    std::size_t flush_all();

    /// `SCRIPT FLUSH`: the next use of each script needs a second request. For `how_long`, each
    /// script is deleted again after it has run.
    void flush_scripts(duration how_long = {});

    /// `DEL`: deletes a lock without a notification. False if there was none.
    bool erase(std::string_view name);

    /// Overwrites the key with a value that is not a lock; `erase` removes it. False if there was
    /// no lock.
    bool overwrite(std::string_view name);

    /// An external client takes over a held lock for `how_long`. False if it was not held.
    bool seize(std::string_view name, milliseconds how_long);

    /// An external client tries once to acquire the lock: `SET name value NX PX`. Returns the
    /// value. Empty if the lock is held, or if the server does not serve.
    std::string acquire_externally(std::string_view name, milliseconds lease);

    /// The external client releases the lock. False if the lock has another value.
    bool release_externally(std::string_view name, std::string_view value);

    /// Stops the server. Requests wait, and are executed later even if their sender is gone.
    void stall(duration how_long);

    /// Sets the time that each command takes; zero removes it.
    void slow(duration each);

    /// Rejects requests as in this state: they were not executed.
    void refuse(duration how_long, trouble why = trouble::busy);

    /// Rejects every command with a missing right (`NOPERM`).
    void deny(duration how_long);

    /// Removes the right to a command: `NOPERM` to it, also within scripts. `permit` restores it.
    void forbid(std::string_view command);
    /// Restores the right to a command.
    void permit(std::string_view command);

    /// Sets the simulated product.
    void imitate(product what) noexcept;

    /// Sets whether it reports to be part of a cluster.
    void cluster_mode(bool on) noexcept;

    /// Renewals of this name fail; others in their batch do not.
    void fail_renewals(std::string_view name, duration how_long);

    /// Steps the server's clock, forward or (negative) back.
    void step_clock(duration by);

    /// Changes the rate of the server's clock by this number of millionths; negative: slower.
    void drift(std::int64_t parts_per_million);

    // The state of the server.

    /// Whether it is a member of a quorum and grants locks: it was not restarted or emptied since
    /// it became one, and its waiting time has passed.
    [[nodiscard]] bool is_member() const;

    /// The id of the holder (`owner::id`); empty if the lock is free.
    [[nodiscard]] std::string holder(std::string_view name) const;
    /// Whether this member of a quorum has the entry that acquired the lock.
    [[nodiscard]] bool first_is_in(std::string_view name) const;
    /// The number of held locks.
    [[nodiscard]] std::size_t locks() const;
    /// The number of owners in the queue of the name.
    [[nodiscard]] std::size_t queue_length(std::string_view name) const;
    /// The time of its clock.
    [[nodiscard]] std::chrono::microseconds time() const noexcept;
    /// The number of connections that watch a name.
    [[nodiscard]] std::size_t watches() const noexcept;
    /// The number of executed commands.
    [[nodiscard]] std::uint64_t commands() const noexcept;

    /// Sets the function that is called at each grant, in order. An empty function removes it.
    void on_grant(std::function<void(const grant&)> handler);

    /// Called when an owner frees a lock, but not when it expires or is deleted.
    void on_free(std::function<void(std::string_view name)> handler);

    /// Called when an owner holds a lock that no client will release, so that only the TTL ends it.
    /// Either a repeated request (`conditions::duplication`) has acquired a lock that its first run
    /// did not acquire, or that was released since. Or a release was denied.
    void on_orphaned(std::function<void(std::string_view name, std::string_view owner)> handler);

    /// Called at the first rejected write over a connection from before the server became a replica
    /// (`trouble::read_only`). Before that the client cannot know of the change.
    void on_read_only(std::function<void(std::string_view name)> handler);

    /// Called when a lock is granted to a queued owner whose client has no subscription, now or
    /// when it joined. If the client has gone, the owner holds the lock for its claim time.
    void on_unnotified_grant(
        std::function<void(std::string_view name, std::string_view owner)> handler);

    /// Called when an owner gets a lock before owners that came first. `unfair`: the queue was
    /// checked, and one of them was present. Otherwise they were absent, or the lock had expired.
    void on_overtaken(
        std::function<void(std::string_view name, std::string_view owner, bool unfair)> handler);

    /// @cond
    // For the library itself.
    [[nodiscard]] impl::server_state& state() const noexcept { return *state_; }
    /// @endcond

private:
    std::unique_ptr<impl::server_state> state_;
};

} // namespace leasehold::testing

#endif
